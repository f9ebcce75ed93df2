#pragma once

/// Figures for papers: one panel as wide as a column of print, and its data as CSV.

#include <string>
#include <vector>

namespace prismopt {

struct FigureAxis {
    std::string name;   // of the CSV columns
    std::string unit;   // of the data; empty: none
    std::string title;  // without the unit
    bool zero = false;  // the axis starts at zero
    bool logarithmic = false;
};

struct FigurePoint {
    std::string id;  // empty: none
    double x = 0.0;
    double x_low = 0.0;  // limits; equal to the value: none
    double x_high = 0.0;
    double y = 0.0;
    double y_low = 0.0;
    double y_high = 0.0;
    bool hollow = false;  // a mark without filling
};
/// A point without limits.
FigurePoint exact_point(double x, double y);

enum class SeriesStyle { marks, line, line_with_marks, dashed_line };

struct FigureSeries {
    std::string label;  // empty: not in the legend
    // points that are not finite are omitted; limits that are not finite are not drawn
    std::vector<FigurePoint> points;
    SeriesStyle style = SeriesStyle::marks;
};

struct PaperFigure {
    FigureAxis x;
    FigureAxis y;
    // what the labels are values of: "cluster.bandwidth"; empty: nothing is written before the labels
    std::string legend;
    std::vector<FigureSeries> series;
    std::string hollow;  // what hollow marks mean; empty: there are none
};

/// Whether values of such a range are to be on a logarithmic axis.
bool reads_better_logarithmic(double least, double largest);

/// The panels below each other, each 85 mm wide: a column of most journals. Text is 7.5 points.
std::string figures_svg(const std::vector<PaperFigure>& figures);

/// Exactly what is drawn, in the units of the axes, which the header names:
/// "training_time_p99 (days)". One line per point.
std::string figure_csv(const std::vector<PaperFigure>& figures);

}  // namespace prismopt
