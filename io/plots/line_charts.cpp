#include "io/plots/line_charts.hpp"

#include "io/plots/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

// Of the picture, in its own units:
constexpr double panel_width = 430.0;
constexpr double plot_width = 340.0;
constexpr double plot_height = 290.0;
constexpr double plot_left = 60.0;
constexpr double plot_bottom = 340.0;
constexpr double legend_top = 388.0;
constexpr double legend_row = 18.0;
constexpr double legend_width = 160.0;  // of an entry

/// Ten hues, so that neighbours can be told apart.
std::string stroke(const std::vector<ChartLine>& lines, std::size_t k)
{
    constexpr std::size_t hues = 10;
    const auto hue = 300.0 * static_cast<double>(k % hues) / static_cast<double>(std::min(hues, lines.size()));
    return fmt::format("stroke=\"hsl({:.0f}, 70%, 42%)\"{}", hue, lines[k].dashed ? " stroke-dasharray=\"5 3\"" : "");
}

std::string panel(const Chart& chart, double left)
{
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const ChartLine& line : chart.lines) {
        for (const double value : line.values) {
            if (std::isfinite(value)) {
                low = std::min(low, value);
                high = std::max(high, value);
            }
        }
    }
    const auto scaled = [&](double value) { return chart.logarithmic ? std::log(value) : value; };
    const double range = std::max(scaled(high) - scaled(low), 1e-12);
    const double steps = static_cast<double>(std::max<std::size_t>(2, chart.ticks.size()) - 1);
    const auto x = [&](std::size_t i) { return left + plot_width * static_cast<double>(i) / steps; };
    const auto y = [&](double value) { return plot_bottom - plot_height * (scaled(value) - scaled(low)) / range; };
    std::string text = fmt::format("<text x=\"{:.0f}\" y=\"24\" font-size=\"14\">{}</text>\n", left, escaped(chart.title));
    const double middle = chart.logarithmic ? std::sqrt(low * high) : 0.5 * (low + high);
    for (const double value : {low, middle, high}) {
        text +=
            fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{:.3g}</text>\n", left - 6.0, y(value) + 4.0, value);
    }
    for (std::size_t i = 0; i < chart.ticks.size(); ++i) {
        text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n", x(i), plot_bottom + 20.0,
                            chart.ticks[i]);
    }
    for (std::size_t k = 0; k < chart.lines.size(); ++k) {
        std::string points;
        for (std::size_t i = 0; i < chart.lines[k].values.size(); ++i) {
            if (std::isfinite(chart.lines[k].values[i])) {
                points += fmt::format("{:.1f},{:.1f} ", x(i), y(chart.lines[k].values[i]));
            }
        }
        text += fmt::format("<polyline points=\"{}\" fill=\"none\" {} stroke-width=\"1.5\"><title>{}</title></polyline>\n",
                            points, stroke(chart.lines, k), escaped(chart.lines[k].label));
    }
    return text;
}

std::string legend(const std::vector<ChartLine>& lines, double left, std::size_t columns)
{
    std::string text;
    for (std::size_t k = 0; k < lines.size(); ++k) {
        const double x = left + legend_width * static_cast<double>(k % columns);
        const double y = legend_top + legend_row * static_cast<double>(k / columns);
        text += fmt::format(
            "<line x1=\"{0:.0f}\" y1=\"{1:.0f}\" x2=\"{2:.0f}\" y2=\"{1:.0f}\" {3} stroke-width=\"2\"/>"
            "<text x=\"{4:.0f}\" y=\"{5:.0f}\">{6}</text>\n",
            x, y, x + 24.0, stroke(lines, k), x + 30.0, y + 4.0, escaped(lines[k].label));
    }
    return text;
}

std::vector<std::string> names(const Chart& chart)
{
    std::vector<std::string> result;
    for (const ChartLine& line : chart.lines) {
        result.push_back(line.label);
    }
    return result;
}

}  // namespace

std::string charts_svg(const std::vector<Chart>& charts)
{
    const double width = plot_left + panel_width * static_cast<double>(charts.size());
    const bool together =
        std::all_of(charts.begin(), charts.end(), [&](const Chart& chart) { return names(chart) == names(charts.front()); });
    const auto columns = static_cast<std::size_t>((together ? width - plot_left : panel_width) / legend_width);
    std::size_t lines = 0;
    for (const Chart& chart : charts) {
        lines = std::max(lines, chart.lines.size());
    }
    const auto rows = static_cast<double>((lines + columns - 1) / columns);
    std::string text;
    for (std::size_t i = 0; i < charts.size(); ++i) {
        const double left = plot_left + panel_width * static_cast<double>(i);
        text += panel(charts[i], left);
        text += i == 0 || !together ? legend(charts[i].lines, left, columns) : "";
    }
    return svg_document(width, legend_top + legend_row * rows, text);
}

}  // namespace prismopt
