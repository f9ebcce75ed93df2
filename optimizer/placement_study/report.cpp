#include "optimizer/placement_study/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace prismopt {

std::string picture(const std::vector<Panel>& panels)
{
    std::string text;
    const auto colour = [](std::size_t curve) { return fmt::format("hsl({}, 70%, 42%)", curve * 67 % 360); };
    std::size_t rows = 0;
    for (std::size_t p = 0; p < panels.size(); ++p) {
        const Panel& panel = panels[p];
        double low = panel.curves.front().y.front();
        double high = low;
        for (const Curve& curve : panel.curves) {
            low = std::min(low, *std::min_element(curve.y.begin(), curve.y.end()));
            high = std::max(high, *std::max_element(curve.y.begin(), curve.y.end()));
        }
        high = std::max(high, low + 1e-9);
        const double left = 60.0 + 430.0 * static_cast<double>(p);
        const auto x = [&](std::size_t i) {
            return left + 340.0 * static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(2, panel.ticks.size()) - 1);
        };
        const auto y = [&](double value) { return 340.0 - 290.0 * (value - low) / (high - low); };
        text += fmt::format("<text x=\"{:.0f}\" y=\"24\" font-size=\"13\">{}</text>\n", left, panel.title);
        for (const double value : {low, 0.5 * (low + high), high}) {
            text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{:.4g}</text>\n", left - 6.0, y(value) + 4.0,
                                value);
        }
        for (std::size_t i = 0; i < panel.ticks.size(); ++i) {
            text += fmt::format("<text x=\"{:.0f}\" y=\"360\" text-anchor=\"middle\">{}</text>\n", x(i), panel.ticks[i]);
        }
        for (std::size_t c = 0; c < panel.curves.size(); ++c) {
            std::string points;
            for (std::size_t i = 0; i < panel.curves[c].y.size(); ++i) {
                points += fmt::format("{:.1f},{:.1f} ", x(i), y(panel.curves[c].y[i]));
            }
            text +=
                fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", points, colour(c));
            text += fmt::format(
                "<line x1=\"{0:.0f}\" y1=\"{1:.0f}\" x2=\"{2:.0f}\" y2=\"{1:.0f}\" stroke=\"{3}\" stroke-width=\"2\"/><text "
                "x=\"{4:.0f}\" "
                "y=\"{5:.0f}\">{6}</text>\n",
                left, 384.0 + 18.0 * static_cast<double>(c), left + 24.0, colour(c), left + 30.0,
                388.0 + 18.0 * static_cast<double>(c), panel.curves[c].label);
        }
        rows = std::max(rows, panel.curves.size());
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n{}</svg>\n",
        60 + 430 * panels.size(), 390 + 18 * rows, text);
}

std::string table_row(const std::vector<std::string>& cells)
{
    std::string row = "|";
    for (const std::string& cell : cells) {
        row += ' ' + cell + " |";
    }
    return row + '\n';
}

std::string table_head(const std::vector<std::string>& cells)
{
    std::string head = table_row(cells) + "|";
    for (std::size_t i = 0; i < cells.size(); ++i) {
        head += "---|";
    }
    return head + '\n';
}

void write_report(const std::string& path, const std::string& text)
{
    std::ofstream file(path);
    file << text;
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path + "; check the folder and the space on its disk");
    }
}

}  // namespace prismopt
