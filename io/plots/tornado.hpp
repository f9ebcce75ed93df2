#pragma once

/// Bars to both sides of a line, the longest first, in one SVG: what changes a figure, and by how much.

#include <string>
#include <vector>

namespace prismopt {

struct TornadoBar {
    std::string label;
    double value = 0.0;
    double low = 0.0;  // whiskers; not finite: none
    double high = 0.0;
};

struct Tornado {
    std::string title;
    std::vector<TornadoBar> bars;  // in this order from the top; values that are not finite are left out
};

/// One above the other, all on the scale of `axis`, whose name and unit stand below.
std::string tornado_svg(const std::vector<Tornado>& panels, const std::string& axis);

}  // namespace prismopt
