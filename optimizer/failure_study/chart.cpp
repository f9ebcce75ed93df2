#include "optimizer/failure_study/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

constexpr double panel_width = 460.0;
constexpr double plot_width = 330.0;

std::string colour(std::size_t line, std::size_t lines)
{
    return fmt::format("hsl({:.0f}, 70%, 42%)",
                       300.0 * static_cast<double>(line) / static_cast<double>(std::max<std::size_t>(1, lines)));
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
    const auto x = [&](std::size_t i) {
        return left + plot_width * static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(2, chart.ticks.size()) - 1);
    };
    const auto y = [&](double value) { return 340.0 - 290.0 * (scaled(value) - scaled(low)) / range; };
    std::string text = fmt::format("<text x=\"{:.0f}\" y=\"24\" font-size=\"14\">{}</text>\n", left, chart.title);
    const double middle = chart.logarithmic ? std::sqrt(low * high) : 0.5 * (low + high);
    for (const double value : {low, middle, high}) {
        text +=
            fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{:.3g}</text>\n", left - 6.0, y(value) + 4.0, value);
    }
    for (std::size_t i = 0; i < chart.ticks.size(); ++i) {
        text += fmt::format("<text x=\"{:.0f}\" y=\"360\" text-anchor=\"middle\">{}</text>\n", x(i), chart.ticks[i]);
    }
    for (std::size_t k = 0; k < chart.lines.size(); ++k) {
        std::string points;
        for (std::size_t i = 0; i < chart.lines[k].values.size(); ++i) {
            if (std::isfinite(chart.lines[k].values[i])) {
                points += fmt::format("{:.1f},{:.1f} ", x(i), y(chart.lines[k].values[i]));
            }
        }
        const std::string stroke = colour(k, chart.lines.size());
        text += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", points, stroke);
        text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" fill=\"{}\">{}</text>\n", left + plot_width + 8.0,
                            60.0 + 16.0 * static_cast<double>(k), stroke, chart.lines[k].label);
    }
    return text;
}

}  // namespace

std::string charts_svg(const std::vector<Chart>& charts)
{
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} 380\" font-family=\"sans-serif\" font-size=\"11\">\n",
        panel_width * static_cast<double>(charts.size()) + 20.0);
    for (std::size_t i = 0; i < charts.size(); ++i) {
        text += panel(charts[i], 50.0 + panel_width * static_cast<double>(i));
    }
    return text + "</svg>\n";
}

}  // namespace prismopt
