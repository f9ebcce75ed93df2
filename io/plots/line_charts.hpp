#pragma once

/// Line charts side by side in one SVG, for the studies in results/.

#include <string>
#include <vector>

namespace prismopt {

struct ChartLine {
    std::string label;
    std::vector<double> values;  // one per tick; values that are not finite are omitted
    bool dashed = false;
};

struct Chart {
    std::string title;
    std::vector<std::string> ticks;
    std::vector<ChartLine> lines;
    bool logarithmic = false;
};

/// Charts share one legend if their lines have the same names in the same order; otherwise each has its own legend below it.
std::string charts_svg(const std::vector<Chart>& charts);

}  // namespace prismopt
