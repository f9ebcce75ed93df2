#pragma once

/// Line charts side by side in one SVG, for the studies in results/.

#include <string>
#include <vector>

namespace prismopt {

struct ChartLine {
    std::string label;
    std::vector<double> values;  // one a tick; not finite: left out
    bool dashed = false;
};

struct Chart {
    std::string title;
    std::vector<std::string> ticks;
    std::vector<ChartLine> lines;
    bool logarithmic = false;
};

/// Where all charts have lines of the same names in the same order, one legend serves them; otherwise each has its own below it.
std::string charts_svg(const std::vector<Chart>& charts);

}  // namespace prismopt
