#include "io/plots/paper_figure.hpp"

#include "io/plots/svg.hpp"
#include "io/plots/xy_plots.hpp"
#include "io/report/csv_text.hpp"
#include "search/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace prismopt {

namespace {

// Lengths in points, of which 1 mm has 72 / 25.4.
constexpr double column_mm = 85.0;
constexpr double point_mm = 25.4 / 72.0;
constexpr double figure_width = column_mm / point_mm;
constexpr double area_height = 150.0;
constexpr double top_margin = 6.0;
constexpr double right_margin = 7.0;
constexpr double text_size = 7.5;
constexpr double text_line = 10.0;
constexpr double digit_width = 0.556 * text_size;  // of Helvetica, also a fair mean of letters in lower case
constexpr double tick_length = 3.0;
constexpr double cap = 1.3;  // half of the end of a whisker
constexpr int most_ticks = 8;
constexpr std::size_t most_logarithmic_labels = 5;
constexpr double mark_radius = 2.3;
constexpr double wide_range = 30.0;  // largest over least, from which a logarithmic axis reads better
constexpr std::size_t most_decimals = 6;

/// Okabe and Ito's without yellow, which colour-blind readers distinguish and white paper shows.
constexpr std::array<std::string_view, 7> figure_colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                         "#e69f00", "#56b4e9", "#000000"};
enum class Mark { circle, square, triangle, diamond };
constexpr std::array figure_marks{Mark::circle, Mark::square, Mark::triangle, Mark::diamond};

double text_width(std::string_view text) { return digit_width * static_cast<double>(text.size()); }

std::string_view colour_of(std::size_t series) { return figure_colours[series % figure_colours.size()]; }
/// Differs between neighbours, for prints without colours, and between series of one colour.
Mark mark_of(std::size_t series)
{
    return figure_marks[(series + series / figure_colours.size()) % figure_marks.size()];
}

/// Lines without marks differ by their dashes as well.
std::string_view dashes_of(SeriesStyle style, std::size_t series)
{
    static constexpr std::array<std::string_view, 4> dashes{
        "", " stroke-dasharray=\"4 2\"", " stroke-dasharray=\"1.5 1.5\"", " stroke-dasharray=\"6 2 1.5 2\""};
    if (style == SeriesStyle::dashed_line) {
        return dashes[1];
    }
    return style == SeriesStyle::line ? dashes[series % dashes.size()] : dashes[0];
}

bool is_finite(const FigurePoint& p) { return std::isfinite(p.x) && std::isfinite(p.y); }

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void include(double value)
    {
        if (std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
};

/// A tick with its label, empty: none.
struct Tick {
    double value = 0.0;
    std::string label;
};

/// Ticks of equal distance have equally many decimals.
std::string tick_label(double value, double step)
{
    if (std::abs(value) >= 10'000.0 && step >= 1.0 && std::abs(value) < 1e9) {
        const std::string digits = grouped(static_cast<std::uint64_t>(std::llround(std::abs(value))));
        return value < 0.0 ? "-" + digits : digits;
    }
    const auto decimals = static_cast<std::size_t>(std::max(0.0, std::ceil(-std::log10(step) - 1e-9)));
    return decimals > most_decimals || std::abs(value) >= 1e9 ? fmt::format("{:.3g}", value)
                                                              : fmt::format("{:.{}f}", value, decimals);
}

std::vector<Tick> linear_ticks(double low, double high, int count)
{
    const std::vector<double> values = round_ticks(low, high, count);
    const double step = values.size() > 1 ? values[1] - values[0] : 1.0;
    std::vector<Tick> ticks;
    for (const double value : values) {
        ticks.push_back({value, tick_label(value, step)});
    }
    return ticks;
}

/// 1, 2 and 5 times powers of ten; of many, the powers alone are labelled.
std::vector<Tick> logarithmic_ticks(double low, double high)
{
    std::vector<Tick> ticks;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::floor(std::log10(high)));
    for (int exponent = first; exponent <= last; ++exponent) {
        const double power = std::pow(10.0, exponent);
        for (const double digit : {1.0, 2.0, 5.0}) {
            const double value = digit * power;
            if (value >= low && value <= high) {
                ticks.push_back({value, tick_label(value, power)});
            }
        }
    }
    if (ticks.size() > most_logarithmic_labels) {
        for (Tick& tick : ticks) {
            const double power = std::log10(tick.value);
            if (std::abs(power - std::round(power)) > 1e-6) {
                tick.label.clear();
            }
        }
    }
    return ticks;
}

/// One axis: where values are, in points from its start.
class AxisScale {
public:
    AxisScale(const FigureAxis& axis, Range range) : logarithmic_(axis.logarithmic)
    {
        if (!(range.low <= range.high)) {
            range = {0.0, 1.0};
        }
        if (axis.zero) {
            range.include(0.0);
        }
        low_ = place(range.low);
        high_ = place(range.high);
        const double margin = high_ > low_ ? 0.05 * (high_ - low_) : std::max(1e-9, 0.05 * std::abs(high_));
        if (!axis.zero || range.low != 0.0) {
            low_ -= margin;
        }
        high_ += margin;
    }

    /// From 0 to 1 along the axis.
    double share(double value) const { return (place(value) - low_) / (high_ - low_); }

    std::vector<Tick> ticks(int count) const
    {
        return logarithmic_ ? logarithmic_ticks(std::pow(10.0, low_), std::pow(10.0, high_))
                            : linear_ticks(low_, high_, count);
    }

private:
    double place(double value) const { return logarithmic_ ? std::log10(value) : value; }

    bool logarithmic_;
    double low_ = 0.0;
    double high_ = 1.0;
};

/// The rectangle that data are drawn in, with its scales.
struct Area {
    AxisScale x_scale;
    AxisScale y_scale;
    double left;
    double top;
    double width;

    double x(double value) const { return left + width * x_scale.share(value); }
    double y(double value) const { return top + area_height * (1.0 - y_scale.share(value)); }
};

std::string axis_title(const FigureAxis& axis)
{
    return axis.unit.empty() ? axis.title : fmt::format("{} ({})", axis.title, axis.unit);
}

/// The title, cut at a space into lines that fit.
std::vector<std::string> lines_of(const std::string& title, double width)
{
    std::vector<std::string> lines{""};
    std::size_t from = 0;
    while (from < title.size()) {
        const std::size_t space = std::min(title.find(' ', from), title.size());
        const std::string word = title.substr(from, space - from);
        if (!lines.back().empty() && text_width(lines.back() + " " + word) > width) {
            lines.emplace_back();
        }
        lines.back() += (lines.back().empty() ? "" : " ") + word;
        from = space + 1;
    }
    return lines;
}

std::string text_at(double x, double y, std::string_view anchor, const std::string& text)
{
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                       escaped(text));
}

std::string drawn_mark(Mark mark, double x, double y, std::string_view colour, bool hollow)
{
    const std::string paint =
        fmt::format(R"(fill="{}" stroke="{}" stroke-width="0.8")", hollow ? "#fff" : colour, colour);
    const double r = mark_radius;
    switch (mark) {
        case Mark::circle:
            return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" {}/>\n", x, y, r, paint);
        case Mark::square:
            return fmt::format("<path d=\"M{:.1f} {:.1f}h{}v{}h{}z\" {}/>\n", x - 0.9 * r, y - 0.9 * r,
                               1.8 * r, 1.8 * r, -1.8 * r, paint);
        case Mark::triangle:
            return fmt::format("<path d=\"M{:.1f} {:.1f}l{:.2f} {:.2f}h{:.2f}z\" {}/>\n", x, y - 1.2 * r,
                               1.15 * r, 2.0 * r, -2.3 * r, paint);
        case Mark::diamond:
            return fmt::format(
                "<path d=\"M{0:.1f} {1:.1f}l{2:.2f} {2:.2f}l-{2:.2f} {2:.2f}l-{2:.2f} -{2:.2f}z\" {3}/>\n", x,
                y - 1.3 * r, 1.3 * r, paint);
    }
    return {};
}

std::string drawn_axes(const PaperFigure& figure, const Area& area, double bottom_titles)
{
    const double bottom = area.top + area_height;
    std::string svg;
    const auto line = [&svg](double x1, double y1, double x2, double y2, std::string_view colour) {
        svg += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" stroke-width=\"0.5\"/>\n",
                           x1, y1, x2, y2, colour);
    };
    const std::vector<Tick> x_ticks = area.x_scale.ticks(most_ticks);
    double free_from = 0.0;  // labels must not touch
    for (const Tick& tick : x_ticks) {
        const double x = area.x(tick.value);
        line(x, area.top, x, bottom, "#e4e4e4");
        line(x, bottom, x, bottom + tick_length, "#000");
        const double half = 0.5 * text_width(tick.label);
        if (!tick.label.empty() && x - half >= free_from) {
            svg += text_at(x, bottom + tick_length + text_size + 0.5, "middle", tick.label);
            free_from = x + half + digit_width;
        }
    }
    for (const Tick& tick : area.y_scale.ticks(most_ticks)) {
        const double y = area.y(tick.value);
        line(area.left, y, area.left + area.width, y, "#e4e4e4");
        line(area.left - tick_length, y, area.left, y, "#000");
        if (!tick.label.empty()) {
            svg += text_at(area.left - tick_length - 1.5, y + 0.36 * text_size, "end", tick.label);
        }
    }
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#000\" "
        "stroke-width=\"0.6\"/>\n",
        area.left, area.top, area.width, area_height);
    double y = bottom_titles;
    for (const std::string& words : lines_of(axis_title(figure.x), area.width)) {
        svg += text_at(area.left + 0.5 * area.width, y, "middle", words);
        y += text_line;
    }
    const std::vector<std::string> side = lines_of(axis_title(figure.y), area_height + 2.0 * top_margin);
    const double middle = area.top + 0.5 * area_height;
    for (std::size_t i = 0; i < side.size(); ++i) {
        const double x = text_size + text_line * static_cast<double>(i);
        svg += fmt::format(
            "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 {0:.1f} "
            "{1:.1f})\">{2}</text>\n",
            x, middle, escaped(side[i]));
    }
    return svg;
}

/// Whiskers, with ends; none where a mark would hide them.
std::string drawn_limits(const FigurePoint& p, const Area& area, std::string_view colour, bool has_mark)
{
    const double hidden = has_mark ? 2.0 * mark_radius : 0.1;
    std::string path;
    const auto end = [](double limit, double value) { return std::isfinite(limit) ? limit : value; };
    const double left = area.x(end(p.x_low, p.x));
    const double right = area.x(end(p.x_high, p.x));
    const double low = area.y(end(p.y_low, p.y));
    const double high = area.y(end(p.y_high, p.y));
    if (right - left > hidden) {
        const double y = area.y(p.y);
        path += fmt::format("M{0:.1f} {1:.1f}H{2:.1f}M{0:.1f} {3:.1f}v{4}M{2:.1f} {3:.1f}v{4}", left, y,
                            right, y - cap, 2.0 * cap);
    }
    if (low - high > hidden) {
        const double x = area.x(p.x);
        path += fmt::format("M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {1:.1f}h{4}M{3:.1f} {2:.1f}h{4}", x, low, high,
                            x - cap, 2.0 * cap);
    }
    return path.empty() ? ""
                        : fmt::format("<path d=\"{}\" stroke=\"{}\" stroke-width=\"0.8\" fill=\"none\"/>\n",
                                      path, colour);
}

std::string drawn_series(const FigureSeries& series, std::size_t number, const Area& area)
{
    const std::string_view colour = colour_of(number);
    const bool has_marks = series.style == SeriesStyle::marks || series.style == SeriesStyle::line_with_marks;
    std::string svg;
    std::string line;
    for (const FigurePoint& p : series.points) {
        if (!is_finite(p)) {
            continue;
        }
        line += fmt::format("{:.1f},{:.1f} ", area.x(p.x), area.y(p.y));
        svg += drawn_limits(p, area, colour, has_marks);
        if (has_marks) {
            svg += drawn_mark(mark_of(number), area.x(p.x), area.y(p.y), colour, p.hollow);
        }
    }
    if (series.style == SeriesStyle::marks) {
        return svg;
    }
    const std::string_view dashes = dashes_of(series.style, number);
    return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1\"{}/>\n", line,
                       colour, dashes) +
           svg;
}

/// Entries from left to right, in as many rows as they need.
struct Legend {
    std::string svg;
    double height = 0.0;
};

Legend legend_of(const PaperFigure& figure, double top)
{
    constexpr double sample = 14.0;
    constexpr double gap = 8.0;
    double x = text_size;
    double y = top + text_line;
    Legend legend;
    bool any = false;
    const auto room = [&](double width) {
        if (any && x + width > figure_width - 2.0) {
            x = text_size;
            y += text_line;
        }
        any = true;
    };
    if (!figure.legend.empty()) {
        room(text_width(figure.legend));
        legend.svg += text_at(x, y, "start", figure.legend + ":");
        x += text_width(figure.legend) + gap;
    }
    const double middle = 0.35 * text_size;
    for (std::size_t k = 0; k < figure.series.size(); ++k) {
        const FigureSeries& series = figure.series[k];
        if (series.label.empty()) {
            continue;
        }
        room(sample + text_width(series.label));
        if (series.style != SeriesStyle::marks) {
            legend.svg += fmt::format("<path d=\"M{:.1f} {:.1f}h{}\" stroke=\"{}\" stroke-width=\"1\"{}/>\n",
                                      x, y - middle, sample - 3.0, colour_of(k), dashes_of(series.style, k));
        }
        if (series.style == SeriesStyle::marks || series.style == SeriesStyle::line_with_marks) {
            legend.svg += drawn_mark(mark_of(k), x + 0.5 * (sample - 3.0), y - middle, colour_of(k), false);
        }
        legend.svg += text_at(x + sample, y, "start", series.label);
        x += sample + text_width(series.label) + gap;
    }
    if (!figure.hollow.empty()) {
        const std::string words = "hollow: " + figure.hollow;
        room(text_width(words));
        legend.svg += text_at(x, y, "start", words);
    }
    legend.height = any ? y - top + 3.0 : 0.0;
    return legend;
}

Range range_of(const PaperFigure& figure, double FigurePoint::*value, double FigurePoint::*low,
               double FigurePoint::*high)
{
    Range range;
    for (const FigureSeries& series : figure.series) {
        for (const FigurePoint& p : series.points) {
            if (is_finite(p)) {
                range.include(p.*value);
                range.include(p.*low);
                range.include(p.*high);
            }
        }
    }
    return range;
}

/// A panel and its height.
struct DrawnPanel {
    std::string svg;
    double height = 0.0;
};

DrawnPanel drawn_panel(const PaperFigure& figure, double top)
{
    const AxisScale x_scale(figure.x,
                            range_of(figure, &FigurePoint::x, &FigurePoint::x_low, &FigurePoint::x_high));
    const AxisScale y_scale(figure.y,
                            range_of(figure, &FigurePoint::y, &FigurePoint::y_low, &FigurePoint::y_high));
    double label = 0.0;
    for (const Tick& tick : y_scale.ticks(most_ticks)) {
        label = std::max(label, text_width(tick.label));
    }
    const auto side_lines =
        static_cast<double>(lines_of(axis_title(figure.y), area_height + 2.0 * top_margin).size());
    const double left = text_line * side_lines + label + tick_length + 4.0;
    const Area area{x_scale, y_scale, left, top + top_margin, figure_width - left - right_margin};
    const double titles = area.top + area_height + tick_length + 2.0 * text_line;
    const auto title_lines = static_cast<double>(lines_of(axis_title(figure.x), area.width).size());

    DrawnPanel panel{drawn_axes(figure, area, titles), 0.0};
    for (std::size_t k = 0; k < figure.series.size(); ++k) {
        panel.svg += drawn_series(figure.series[k], k, area);
    }
    const double below = titles + text_line * (title_lines - 1.0) + 2.0;
    const Legend legend = legend_of(figure, below);
    panel.svg += legend.svg;
    panel.height = below + legend.height + 2.0 - top;
    return panel;
}

std::string csv_title(const FigureAxis& axis, std::string_view limit)
{
    const std::string name = axis.name + std::string(limit);
    return csv_field(axis.unit.empty() ? name : fmt::format("{} ({})", name, axis.unit));
}

}  // namespace

FigurePoint exact_point(double x, double y)
{
    return {.id = {}, .x = x, .x_low = x, .x_high = x, .y = y, .y_low = y, .y_high = y};
}

bool reads_better_logarithmic(double least, double largest)
{
    return least > 0.0 && largest > wide_range * least;
}

std::string figures_svg(const std::vector<PaperFigure>& figures)
{
    std::string body;
    double height = 0.0;
    for (const PaperFigure& figure : figures) {
        const DrawnPanel panel = drawn_panel(figure, height);
        body += panel.svg;
        height += panel.height;
    }
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:g}mm\" height=\"{:.1f}mm\" viewBox=\"0 0 "
               "{:.1f} {:.1f}\" "
               "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{:g}\">\n<rect width=\"100%\" "
               "height=\"100%\" "
               "fill=\"#fff\"/>\n",
               column_mm, height * point_mm, figure_width, height, text_size) +
           body + "</svg>\n";
}

std::string figure_csv(const std::vector<PaperFigure>& figures)
{
    std::string text;
    for (const PaperFigure& figure : figures) {
        text += text.empty() ? "" : "\n";
        text += fmt::format("{},point", csv_field(figure.legend.empty() ? "series" : figure.legend));
        for (const FigureAxis* axis : {&figure.x, &figure.y}) {
            for (const char* limit : {"", "_low", "_high"}) {
                text += "," + csv_title(*axis, limit);
            }
        }
        text += figure.hollow.empty() ? "\n" : "," + csv_field(figure.hollow) + "\n";
        for (const FigureSeries& series : figure.series) {
            for (const FigurePoint& p : series.points) {
                if (!is_finite(p)) {
                    continue;
                }
                text += fmt::format("{},{}", csv_field(series.label), csv_field(p.id));
                for (const double value : {p.x, p.x_low, p.x_high, p.y, p.y_low, p.y_high}) {
                    text += "," + csv_number(value);
                }
                if (!figure.hollow.empty()) {
                    text += p.hollow ? ",1" : ",0";
                }
                text += "\n";
            }
        }
    }
    return text;
}

}  // namespace prismopt
