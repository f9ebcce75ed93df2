#pragma once

/// Plots of y over x side by side in one SVG, for papers.

#include <string>
#include <vector>

namespace prismopt {

struct PlotPoint {
    double x = 0.0;
    double y = 0.0;
    double x_low = 0.0;  // whiskers; equal to the value: none
    double x_high = 0.0;
    double y_low = 0.0;
    double y_high = 0.0;
};
/// Without whiskers.
PlotPoint plot_point(double x, double y);

struct PlotSeries {
    std::string label;              // empty: not in the legend
    std::vector<PlotPoint> points;  // points that are not finite are omitted
    bool joined = false;            // a line instead of marks
};

struct Plot {
    std::string title;
    std::string x_title;
    std::string y_title;
    std::vector<PlotSeries> series;
};

/// Each plot has its own legend below it.
std::string plots_svg(const std::vector<Plot>& plots);

/// Round numbers within [low, high], about `count` of them: 1, 2 or 5 times a power of ten apart.
std::vector<double> round_ticks(double low, double high, int count);

}  // namespace prismopt
