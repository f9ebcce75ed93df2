#include "io/plots/xy_plots.hpp"

#include "io/plots/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace prismopt {

namespace {

// Of the picture, in its own units:
constexpr double panel_width = 440.0;
constexpr double plot_width = 340.0;
constexpr double plot_height = 260.0;
constexpr double plot_left = 76.0;
constexpr double plot_top = 40.0;
constexpr double plot_bottom = plot_top + plot_height;
constexpr double legend_top = plot_bottom + 62.0;
constexpr double legend_row = 17.0;

/// Okabe and Ito's, which colour-blind readers distinguish.
constexpr std::array<std::string_view, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#000000"};

bool finite(const PlotPoint& p) { return std::isfinite(p.x) && std::isfinite(p.y); }

/// A limit that the draws cannot support is omitted.
double end_of(double limit, double value) { return std::isfinite(limit) ? limit : value; }

struct Span {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void hold(double value)
    {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    void widen()
    {
        const double margin = high > low ? 0.05 * (high - low) : std::max(1e-12, 0.05 * std::abs(high));
        low -= margin;
        high += margin;
    }
};

class Panel {
public:
    Panel(const Plot& plot, double left) : plot_(plot), left_(left)
    {
        for (const PlotSeries& series : plot.series) {
            for (const PlotPoint& p : series.points) {
                if (finite(p)) {
                    for (const double x : {p.x, end_of(p.x_low, p.x), end_of(p.x_high, p.x)}) {
                        x_.hold(x);
                    }
                    for (const double y : {p.y, end_of(p.y_low, p.y), end_of(p.y_high, p.y)}) {
                        y_.hold(y);
                    }
                }
            }
        }
        if (x_.low > x_.high) {
            x_ = y_ = {0.0, 1.0};
        }
        x_.widen();
        y_.widen();
    }

    std::string text() const
    {
        std::string svg = fmt::format("<text x=\"{:.0f}\" y=\"22\" font-size=\"14\">{}</text>\n", left_,
                                      escaped(plot_.title));
        svg += axes();
        for (std::size_t k = 0; k < plot_.series.size(); ++k) {
            svg += drawn(plot_.series[k], colours[k % colours.size()]);
        }
        return svg + legend();
    }

private:
    double x(double value) const { return left_ + plot_width * (value - x_.low) / (x_.high - x_.low); }
    double y(double value) const { return plot_bottom - plot_height * (value - y_.low) / (y_.high - y_.low); }

    std::string axes() const
    {
        std::string svg = fmt::format(
            "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"none\" "
            "stroke=\"#888\"/>\n",
            left_, plot_top, plot_width, plot_height);
        for (const double tick : round_ticks(x_.low, x_.high, 6)) {
            svg += fmt::format(
                "<line x1=\"{0:.1f}\" y1=\"{1:.0f}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" stroke=\"#ddd\"/>"
                "<text x=\"{0:.1f}\" y=\"{3:.0f}\" text-anchor=\"middle\">{4:.6g}</text>\n",
                x(tick), plot_top, plot_bottom, plot_bottom + 16.0, tick);
        }
        for (const double tick : round_ticks(y_.low, y_.high, 6)) {
            svg += fmt::format(
                "<line x1=\"{0:.0f}\" y1=\"{1:.1f}\" x2=\"{2:.0f}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>"
                "<text x=\"{3:.0f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.6g}</text>\n",
                left_, y(tick), left_ + plot_width, left_ - 6.0, y(tick) + 4.0, tick);
        }
        const double middle = 0.5 * (plot_top + plot_bottom);
        svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
                           left_ + 0.5 * plot_width, plot_bottom + 36.0, escaped(plot_.x_title));
        svg += fmt::format(
            "<text x=\"{0:.0f}\" y=\"{1:.0f}\" text-anchor=\"middle\" transform=\"rotate(-90 {0:.0f} "
            "{1:.0f})\">{2}</text>\n",
            left_ - 56.0, middle, escaped(plot_.y_title));
        return svg;
    }

    std::string drawn(const PlotSeries& series, std::string_view colour) const
    {
        std::string svg;
        std::string line;
        for (const PlotPoint& p : series.points) {
            if (!finite(p)) {
                continue;
            }
            if (series.joined) {
                line += fmt::format("{:.1f},{:.1f} ", x(p.x), y(p.y));
                continue;
            }
            svg += fmt::format(R"(<path d="M{:.1f} {:.1f}H{:.1f}M{:.1f} {:.1f}V{:.1f}" stroke="{}"/>)",
                               x(end_of(p.x_low, p.x)), y(p.y), x(end_of(p.x_high, p.x)), x(p.x),
                               y(end_of(p.y_low, p.y)), y(end_of(p.y_high, p.y)), colour);
            svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", x(p.x), y(p.y),
                               colour);
        }
        return line.empty()
                   ? svg
                   : svg + fmt::format(
                               "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n",
                               line, colour);
    }

    std::string legend() const
    {
        std::string svg;
        double row = legend_top;
        for (std::size_t k = 0; k < plot_.series.size(); ++k) {
            if (!plot_.series[k].label.empty()) {
                svg += fmt::format(
                    "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"14\" height=\"4\" fill=\"{}\"/><text "
                    "x=\"{:.0f}\" "
                    "y=\"{:.0f}\">{}</text>\n",
                    left_, row - 6.0, colours[k % colours.size()], left_ + 20.0, row,
                    escaped(plot_.series[k].label));
                row += legend_row;
            }
        }
        return svg;
    }

    const Plot& plot_;
    double left_;
    Span x_;
    Span y_;
};

/// Rounds up to 1, 2, 5 or 10.
double round_up(double value)
{
    for (const double step : {1.0, 2.0, 5.0}) {
        if (value <= step) {
            return step;
        }
    }
    return 10.0;
}

}  // namespace

PlotPoint plot_point(double x, double y) { return {x, y, x, x, y, y}; }

std::vector<double> round_ticks(double low, double high, int count)
{
    const double wanted = (high - low) / count;
    const double power = std::pow(10.0, std::floor(std::log10(wanted)));
    const double step = power * round_up(wanted / power);
    std::vector<double> ticks;
    for (double k = std::ceil(low / step); k * step <= high; ++k) {
        ticks.push_back(k == 0.0 ? 0.0 : k * step);
    }
    return ticks;
}

std::string plots_svg(const std::vector<Plot>& plots)
{
    std::size_t rows = 0;
    std::string panels;
    for (std::size_t i = 0; i < plots.size(); ++i) {
        const auto labelled = std::count_if(plots[i].series.begin(), plots[i].series.end(),
                                            [](const PlotSeries& s) { return !s.label.empty(); });
        rows = std::max(rows, static_cast<std::size_t>(labelled));
        panels += Panel(plots[i], plot_left + panel_width * static_cast<double>(i)).text();
    }
    return svg_document(panel_width * static_cast<double>(plots.size()),
                        legend_top + legend_row * static_cast<double>(rows),
                        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + panels);
}

}  // namespace prismopt
