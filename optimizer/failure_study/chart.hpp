#pragma once

/// Line charts side by side in one SVG.

#include <string>
#include <vector>

namespace prismopt {

struct ChartLine {
    std::string label;
    std::vector<double> values;  // one a tick; not finite: left out
};

struct Chart {
    std::string title;
    std::vector<std::string> ticks;
    std::vector<ChartLine> lines;
    bool logarithmic = false;
};

std::string charts_svg(const std::vector<Chart>& charts);

}  // namespace prismopt
