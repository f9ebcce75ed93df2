#include "io/plots/tornado.hpp"

#include "io/plots/svg.hpp"
#include "io/plots/xy_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

// Of the picture, in its own units:
constexpr double label_width = 230.0;
constexpr double bars_width = 520.0;
constexpr double value_width = 70.0;
constexpr double bar_height = 14.0;
constexpr double bar_step = 20.0;
constexpr double title_height = 34.0;
constexpr double axis_height = 44.0;
constexpr int ticks = 6;

struct Scale {
    double low = 0.0;
    double high = 0.0;

    double x(double value) const { return label_width + bars_width * (value - low) / (high - low); }
};

/// All bars and whiskers, and zero.
Scale scale_of(const std::vector<Tornado>& panels)
{
    Scale scale;
    for (const Tornado& panel : panels) {
        for (const TornadoBar& bar : panel.bars) {
            for (const double value : {bar.value, bar.low, bar.high}) {
                if (std::isfinite(value)) {
                    scale.low = std::min(scale.low, value);
                    scale.high = std::max(scale.high, value);
                }
            }
        }
    }
    constexpr double margin = 0.05;
    const double range = std::max(scale.high - scale.low, 1e-12);
    scale.low -= margin * range;
    scale.high += margin * range;
    return scale;
}

std::string draw(const TornadoBar& bar, const Scale& scale, double top)
{
    const double middle = top + 0.5 * bar_height;
    const double zero = scale.x(0.0);
    const double end = scale.x(bar.value);
    std::string text = fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                                   label_width - 8.0, middle + 4.0, escaped(bar.label));
    text += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>\n",
                        std::min(zero, end), top, std::abs(end - zero), bar_height,
                        bar.value < 0.0 ? "#2a7f62" : "#b5523b");
    if (std::isfinite(bar.low) && std::isfinite(bar.high)) {
        text += fmt::format(
            "<path d=\"M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}v6M{1:.1f} {3:.1f}v6\" stroke=\"#222\"/>\n",
            scale.x(bar.low), scale.x(bar.high), middle, middle - 3.0);
    }
    return text + fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\">{:.3g}</text>\n",
                              label_width + bars_width + 8.0, middle + 4.0, bar.value);
}

}  // namespace

std::string tornado_svg(const std::vector<Tornado>& panels, const std::string& axis)
{
    const Scale scale = scale_of(panels);
    std::string text;
    double top = 0.0;
    for (const Tornado& panel : panels) {
        text += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" font-size=\"14\">{}</text>\n", label_width,
                            top + 22.0, escaped(panel.title));
        top += title_height;
        for (const TornadoBar& bar : panel.bars) {
            if (std::isfinite(bar.value)) {
                text += draw(bar, scale, top);
                top += bar_step;
            }
        }
    }
    text += fmt::format("<path d=\"M{0:.1f} {1:.0f}V{2:.1f}\" stroke=\"#222\"/>\n", scale.x(0.0),
                        title_height - 4.0, top);
    for (const double tick : round_ticks(scale.low, scale.high, ticks)) {
        text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.3g}</text>\n",
                            scale.x(tick), top + 16.0, tick);
    }
    text += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                        label_width + 0.5 * bars_width, top + 34.0, escaped(axis));
    return svg_document(label_width + bars_width + value_width, top + axis_height, text);
}

}  // namespace prismopt
