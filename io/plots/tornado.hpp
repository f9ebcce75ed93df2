#pragma once

/// Tornado charts: effects on a figure as bars to both sides of a line, the longest first, in one SVG.

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
    std::vector<TornadoBar> bars;  // from top to bottom; values that are not finite are omitted
};

/// Charts stacked vertically on a common scale; `axis` is its name with the unit, shown below.
std::string tornado_svg(const std::vector<Tornado>& panels, const std::string& axis);

}  // namespace prismopt
