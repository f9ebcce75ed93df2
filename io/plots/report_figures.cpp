#include "io/plots/report_figures.hpp"

#include "io/base/input_error.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/varied_worth.hpp"
#include "io/results/plan_results.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace prismopt {

namespace {

constexpr std::size_t most_labels = 14;  // colours and marks that differ
constexpr std::size_t most_distributions = 7;
constexpr double one_percent = 1e-2;
constexpr std::size_t longest_title = 50;  // characters; else the name is clearer

/// A quantity of the plans of the front.
struct FrontQuantity {
    std::string name;
    std::string units;  // of the values
    std::string title;
    bool percent = false;
    std::function<Estimate(const FrontPoint&)> of;
};

/// "50GB/s" as a number with its unit; nothing for names.
struct NumberWithUnit {
    double number = 0.0;
    std::string unit;
};
std::optional<NumberWithUnit> number_in(const std::string& label)
{
    NumberWithUnit found;
    const char* const end = label.data() + label.size();
    const auto [rest, error] = std::from_chars(label.data(), end, found.number);
    if (error != std::errc{}) {
        return std::nullopt;
    }
    found.unit = std::string(rest, end);
    const bool is_unit = found.unit.empty() || found.unit == "us" || found.unit.front() == 'G' ||
                         found.unit.front() == 'T' || found.unit.front() == 'W';
    return is_unit ? std::optional(found) : std::nullopt;
}

/// "50 GB/s": a label with a space before its unit.
std::string label_words(const std::string& label)
{
    const auto number = number_in(label);
    return number && !number->unit.empty() ? fmt::format("{:.4g} {}", number->number, number->unit) : label;
}

/// Something that has a label for each plan: an axis of the space, or a choice on the axis of variants.
struct LabelledAxis {
    std::string name;
    std::function<std::string(const Point&)> at;
    std::vector<std::string> labels;
};

std::vector<LabelledAxis> labelled_axes(const Results& results)
{
    std::vector<LabelledAxis> axes;
    for (std::size_t a = 0; a < results.axes.size(); ++a) {
        const Axis& axis = results.axes[a];
        if (axis.name != variant_axis) {
            axes.push_back({axis.name,
                            [&axis, a](const Point& point) {
                                return axis.labels.at(static_cast<std::size_t>(point.at(a)));
                            },
                            axis.labels});
        }
    }
    for (const VariantChoice& choice : variant_choices(results)) {
        axes.push_back(
            {choice.name, [choice](const Point& point) { return choice.at(point); }, choice.of_variant});
    }
    return axes;
}

/// The quantity of an axis whose labels are all numbers in one unit.
std::optional<FrontQuantity> numbers_of(const LabelledAxis& axis)
{
    std::optional<std::string> unit;
    for (const std::string& label : axis.labels) {
        const auto number = number_in(label);
        if (!number || (unit && *unit != number->unit)) {
            return std::nullopt;
        }
        unit = number->unit;
    }
    return FrontQuantity{axis.name, unit.value_or(""), axis.name, false,
                         [at = axis.at](const FrontPoint& point) {
                             return Estimate::exact(number_in(at(point.point))->number);
                         }};
}

/// The first of a name counts: objectives, results, then axes.
std::vector<FrontQuantity> front_quantities(const Results& results)
{
    std::vector<FrontQuantity> list;
    const auto is_new = [&list](std::string_view name) {
        return std::none_of(list.begin(), list.end(),
                            [name](const FrontQuantity& one) { return one.name == name; });
    };
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        const ObjectiveInfo& objective = results.objectives[k];
        list.push_back({objective.name, objective.units, objective.long_name, false,
                        [k](const FrontPoint& point) { return point.objectives.at(k); }});
    }
    const auto is_percent = [](const ResultFacts& facts) {
        return facts.style.kind == NumberStyle::Kind::percent;
    };
    for (const auto& row : plan_results<Estimate>()) {
        if (is_new(row.name)) {
            list.push_back({std::string(row.name), std::string(row.units), std::string(row.long_name),
                            is_percent(row.facts), [row](const FrontPoint& point) { return row.of(point); }});
        }
    }
    for (const auto& row : plan_results<double>()) {
        if (is_new(row.name)) {
            list.push_back({std::string(row.name), std::string(row.units), std::string(row.long_name),
                            is_percent(row.facts),
                            [row](const FrontPoint& point) { return Estimate::exact(row.of(point)); }});
        }
    }
    if (is_new("gpus")) {
        list.push_back({"gpus", "1", "GPUs", false,
                        [](const FrontPoint& point) { return Estimate::exact(point.prediction.gpus); }});
    }
    for (const LabelledAxis& axis : labelled_axes(results)) {
        const auto numbers = numbers_of(axis);
        if (numbers && axis.labels.size() > 1 && is_new(axis.name)) {
            list.push_back(*numbers);
        }
    }
    return list;
}

template <class Named>
const Named& chosen_by_name(const std::vector<Named>& list, const std::string& name,
                            const std::string& option, std::string_view kind)
{
    std::vector<std::string> names;
    for (const Named& one : list) {
        if (one.name == name) {
            return one;
        }
        names.push_back(one.name);
    }
    throw InputError(fmt::format("--{} {} is not {} of these results{}; choose from {}", option, name, kind,
                                 guess_of(name, names), listed(names)));
}

/// The meaning of a quantity in few words: without explanations after it, and "p99 of" for
/// percentiles; its name if that is long.
std::string short_title(const FrontQuantity& quantity)
{
    constexpr std::string_view percentile = "th percentile of the ";
    std::string title = quantity.title.substr(0, quantity.title.find_first_of(":;,"));
    const std::size_t found = title.find(percentile);
    if (found != std::string::npos) {
        title = fmt::format("p{} {}", title.substr(0, found), title.substr(found + percentile.size()));
    }
    if (title.size() > longest_title) {
        title = quantity.name;
        std::replace(title.begin(), title.end(), '_', ' ');
    }
    return title;
}

/// An axis in the unit in which people read values up to the largest.
struct ReadAxis {
    FigureAxis axis;
    double size = 1.0;
};

ReadAxis read_axis(const FrontQuantity& quantity, const std::vector<const FrontPoint*>& points)
{
    double largest = 0.0;
    double least = std::numeric_limits<double>::infinity();
    for (const FrontPoint* point : points) {
        const double value = quantity.of(*point).value;
        if (std::isfinite(value)) {
            largest = std::max(largest, value);
            least = std::min(least, value);
        }
    }
    const ReadingUnit unit =
        quantity.percent ? ReadingUnit{"%", one_percent} : reading_unit(quantity.units, largest);
    return {{.name = quantity.name,
             .unit = unit.name,
             .title = short_title(quantity),
             .zero = false,
             .logarithmic = reads_better_logarithmic(least, largest)},
            unit.size};
}

/// Labels in the order of their numbers, or of the axis.
void sort_labels(std::vector<std::string>& labels, const LabelledAxis& axis)
{
    const auto all_numbers = std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
        return number_in(label).has_value();
    });
    const auto place = [&](const std::string& label) {
        return all_numbers ? number_in(label)->number
                           : static_cast<double>(std::find(axis.labels.begin(), axis.labels.end(), label) -
                                                 axis.labels.begin());
    };
    std::stable_sort(labels.begin(), labels.end(),
                     [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
}

/// The machine of a plan: its cluster with the knobs that differ in the results.
LabelledAxis machine_axis(const Results& results)
{
    std::vector<VariantChoice> choices;
    for (const VariantChoice& choice : variant_choices(results)) {
        const bool of_hardware = choice.name == "cluster" || number_in(choice.of_variant.front());
        const bool differs =
            std::any_of(choice.of_variant.begin(), choice.of_variant.end(),
                        [&](const std::string& label) { return label != choice.of_variant.front(); });
        if (of_hardware && differs && choice.name != "global_batch") {
            choices.push_back(choice);
        }
    }
    const auto words = [](const std::vector<VariantChoice>& of, std::size_t variant) {
        std::string text;
        for (const VariantChoice& choice : of) {
            const std::string& label = choice.of_variant.at(variant);
            const auto number = number_in(label);
            const bool bare = number && number->unit.empty();  // "group 72"
            text += text.empty() ? "" : ", ";
            text += (bare ? choice.name.substr(choice.name.rfind('.') + 1) + " " : "") + label_words(label);
        }
        return text;
    };
    LabelledAxis axis{"machine", [](const Point&) { return std::string("all"); }, {"all"}};
    if (choices.empty()) {
        return axis;
    }
    axis.at = [choices, words](const Point& point) {
        return words(choices, static_cast<std::size_t>(point.at(choices.front().axis)));
    };
    axis.labels.clear();
    for (std::size_t variant = 0; variant < choices.front().of_variant.size(); ++variant) {
        axis.labels.push_back(words(choices, variant));
    }
    return axis;
}

/// What plans are coloured by.
LabelledAxis colour_axis(const Results& results, const std::string& name)
{
    std::vector<LabelledAxis> axes = labelled_axes(results);
    for (LabelledAxis& axis : axes) {
        if (axis.name == "workload") {
            axis.name = "network";
        }
    }
    axes.push_back(machine_axis(results));
    return chosen_by_name(axes, name == "workload" ? "network" : name, "colour",
                          "an axis, a knob or a machine");
}

std::string legend_title(const std::string& colour) { return colour == "gpus" ? "GPUs" : colour; }

std::vector<const FrontPoint*> drawn_plans(const Results& results)
{
    std::vector<const FrontPoint*> points;
    for (const FrontPoint& point : results.front) {
        points.push_back(&point);
    }
    return points;
}

/// The plans by their label; without a colour all together, without a label.
std::vector<std::pair<std::string, std::vector<const FrontPoint*>>> by_label(const Results& results,
                                                                             const std::string& colour)
{
    const std::vector<const FrontPoint*> points = drawn_plans(results);
    if (colour.empty()) {
        return {{"", points}};
    }
    const LabelledAxis axis = colour_axis(results, colour);
    std::vector<std::string> labels;
    for (const FrontPoint* point : points) {
        const std::string label = axis.at(point->point);
        if (std::find(labels.begin(), labels.end(), label) == labels.end()) {
            labels.push_back(label);
        }
    }
    if (labels.size() > most_labels) {
        throw InputError(
            fmt::format("--colour {}: plans of the front have {} values of it, and {} can be distinguished; "
                        "choose another axis",
                        colour, labels.size(), most_labels));
    }
    sort_labels(labels, axis);
    std::vector<std::pair<std::string, std::vector<const FrontPoint*>>> groups;
    for (const std::string& label : labels) {
        auto& group = groups.emplace_back(label_words(label), std::vector<const FrontPoint*>{});
        std::copy_if(points.begin(), points.end(), std::back_inserter(group.second),
                     [&](const FrontPoint* point) { return axis.at(point->point) == label; });
    }
    return groups;
}

FigurePoint plotted(const FrontPoint& point, const FrontQuantity& x, double x_size, const FrontQuantity& y,
                    double y_size)
{
    const Estimate a = x.of(point);
    const Estimate b = y.of(point);
    return {.id = std::to_string(point.index),
            .x = a.value / x_size,
            .x_low = a.low / x_size,
            .x_high = a.high / x_size,
            .y = b.value / y_size,
            .y_low = b.low / y_size,
            .y_high = b.high / y_size,
            .hollow = point.dominated};
}

/// Name of the quantity on the y axis: the chosen one, or an objective that is not on the x axis.
std::string y_name_beside(const std::string& x_name, const Results& results, const FigureChoice& choice)
{
    if (!choice.y.empty()) {
        return choice.y;
    }
    const std::string second = results.objectives.size() > 1 ? results.objectives[1].name : "cost";
    return second != x_name ? second : results.objectives.front().name;
}

PaperFigure front_figure(const Results& results, const FigureChoice& choice)
{
    const std::vector<FrontQuantity> quantities = front_quantities(results);
    const std::string x_name = choice.x.empty() ? results.objectives.front().name : choice.x;
    const std::string y_name = y_name_beside(x_name, results, choice);
    constexpr std::string_view kind = "an objective, a result or an axis with numbers";
    const FrontQuantity& x = chosen_by_name(quantities, x_name, "x", kind);
    const FrontQuantity& y = chosen_by_name(quantities, y_name, "y", kind);
    const std::vector<const FrontPoint*> points = drawn_plans(results);
    const ReadAxis x_axis = read_axis(x, points);
    const ReadAxis y_axis = read_axis(y, points);
    PaperFigure figure{.x = x_axis.axis,
                       .y = y_axis.axis,
                       .legend = legend_title(choice.colour),
                       .series = {},
                       .hollow = {}};
    for (const auto& [label, plans] : by_label(results, choice.colour)) {
        FigureSeries& series = figure.series.emplace_back(FigureSeries{label, {}, SeriesStyle::marks});
        for (const FrontPoint* point : plans) {
            series.points.push_back(plotted(*point, x, x_axis.size, y, y_axis.size));
            if (point->dominated) {
                figure.hollow = "dominated";
            }
        }
    }
    return figure;
}

/// A plan of the front with the label of its curve.
struct LabelledPlan {
    std::string label;
    const FrontPoint* point;
};

/// The first plan of each label; without a colour, of each number of GPUs.
std::vector<LabelledPlan> plans_with_curves(const Results& results, const std::string& colour)
{
    std::vector<LabelledPlan> plans;
    if (!colour.empty()) {
        for (const auto& [label, points] : by_label(results, colour)) {
            plans.push_back({label, points.front()});
        }
        return plans;
    }
    for (const FrontPoint& point : results.front) {
        const auto same = [&point](const LabelledPlan& other) {
            return other.point->prediction.gpus == point.prediction.gpus;
        };
        if (plans.size() < most_distributions && std::none_of(plans.begin(), plans.end(), same)) {
            plans.push_back(
                {fmt::format("{} GPUs", grouped(static_cast<std::uint64_t>(point.prediction.gpus))), &point});
        }
    }
    return plans;
}

/// The curve with the confidence intervals of its quantiles as marks.
void add_curve(const TimeDistribution& times, double unit, const LabelledPlan& plan,
               std::vector<FigureSeries>& series)
{
    FigureSeries& curve = series.emplace_back(FigureSeries{plan.label, {}, SeriesStyle::line});
    const auto probability_of = [](const Estimate& e, double unit_size, double probability,
                                   const std::string& id) {
        return FigurePoint{.id = id,
                           .x = e.value / unit_size,
                           .x_low = e.low / unit_size,
                           .x_high = e.high / unit_size,
                           .y = probability,
                           .y_low = probability,
                           .y_high = probability};
    };
    const std::string id = std::to_string(plan.point->index);
    for (std::size_t q = 0; q < times.quantiles.size(); ++q) {
        curve.points.push_back(
            probability_of(Estimate::exact(times.quantiles[q]), unit, reported_probabilities[q], id));
    }
    for (const auto& [estimate, probability] :
         {std::pair{&times.p50, 0.50}, std::pair{&times.p95, 0.95}, std::pair{&times.p99, 0.99}}) {
        const FigurePoint point = probability_of(*estimate, unit, probability, id);
        const auto place =
            std::find_if(curve.points.begin(), curve.points.end(),
                         [&point](const FigurePoint& other) { return other.y >= point.y - 1e-9; });
        if (place != curve.points.end() && std::abs(place->y - point.y) < 1e-9) {
            *place = point;
        } else {
            curve.points.insert(place, point);
        }
    }
}

PaperFigure training_times_figure(const Results& results, const FigureChoice& choice)
{
    double largest = 0.0;
    for (const FrontPoint& point : results.front) {
        largest = std::max(largest, point.prediction.training.p50.value);
    }
    const ReadingUnit unit = reading_unit("s", largest);
    PaperFigure figure{.x = {.name = "training_time", .unit = unit.name, .title = "training time"},
                       .y = {.name = "probability", .unit = {}, .title = "probability", .zero = true},
                       .legend = legend_title(choice.colour),
                       .series = {},
                       .hollow = {}};
    for (const LabelledPlan& plan : plans_with_curves(results, choice.colour)) {
        add_curve(plan.point->prediction.training, unit.size, plan, figure.series);
    }
    return figure;
}

/// Shapes, which times far apart would hide.
PaperFigure step_times_figure(const Results& results, const FigureChoice& choice)
{
    PaperFigure figure{.x = {.name = "step_time_over_median", .unit = {}, .title = "step time / its median"},
                       .y = {.name = "probability", .unit = {}, .title = "probability", .zero = true},
                       .legend = legend_title(choice.colour),
                       .series = {},
                       .hollow = {}};
    for (const LabelledPlan& plan : plans_with_curves(results, choice.colour)) {
        const TimeDistribution& step = plan.point->prediction.step;
        add_curve(step, step.p50.value, plan, figure.series);
    }
    return figure;
}

PaperFigure progress_figure(const Results& results)
{
    PaperFigure figure{.x = {.name = "plans_evaluated", .unit = {}, .title = "plans evaluated"},
                       .y = {.name = "hypervolume", .unit = {}, .title = "hypervolume of the front"},
                       .legend = {},
                       .series = {{"", {}, SeriesStyle::line}},
                       .hollow = {}};
    for (const ProgressPoint& point : results.progress) {
        figure.series.front().points.push_back(
            exact_point(static_cast<double>(point.evaluations), point.hypervolume));
    }
    return figure;
}

/// Reason why no knob has a curve of its worth, and the remedy.
std::string reason_without_curves(const VariedWorths& found)
{
    if (!found.why.empty()) {
        return found.why;
    }
    return found.parameters.empty() ? "the study has no [[knob]]; choose another figure"
                                    : "no knob has two values with feasible plans; choose another figure";
}

/// A panel per knob. Where the best plan is unknown, the mark is between the limits, or at the
/// upper one if there is no other.
std::vector<PaperFigure> break_even_figures(const VariedWorths& found)
{
    if (found.curves.empty()) {
        throw InputError(fmt::format("--figure break-even: {}", reason_without_curves(found)));
    }
    std::vector<PaperFigure> figures;
    for (const VariedWorth& worth : found.curves) {
        const VariedParameter& parameter = found.parameters[worth.parameter];
        FigureSeries known{"worth", {}, SeriesStyle::line_with_marks};
        FigureSeries open{"best plan unknown", {}, SeriesStyle::marks};
        FigureSeries stated{"price", {}, SeriesStyle::dashed_line};
        for (std::size_t at = 0; at < worth.curve.points.size(); ++at) {
            const BreakEvenPoint& point = worth.curve.points[at];
            if (!point.worth) {
                continue;
            }
            stated.points.push_back(exact_point(point.value, point.stated));
            FigurePoint mark = exact_point(point.value, point.worth->value);
            mark.y_low = point.worth->low;
            mark.y_high = point.worth->high;
            const bool is_base = point.value == worth.curve.base_value;
            mark.hollow = worth.statuses[at] != BestPlanStatus::known && !is_base;
            if (mark.hollow) {
                // otherwise the upper limit is all that is known
                const bool limited = mark.y_low > -worth.curve.base_price;
                mark.y = limited ? 0.5 * (mark.y_low + mark.y_high) : mark.y_high;
                if (!limited) {
                    mark.y_low = mark.y_high;
                }
            }
            auto& series = mark.hollow ? open : known;
            series.points.push_back(mark);
        }
        PaperFigure& figure = figures.emplace_back(
            PaperFigure{.x = {.name = parameter.name, .unit = parameter.unit, .title = parameter.name},
                        .y = {.name = "break_even",
                              .unit = "USD/h",
                              .title = fmt::format("beyond {:.4g}", worth.curve.base_price)},
                        .legend = {},
                        .series = {known},
                        .hollow = {}});
        if (!open.points.empty()) {
            figure.series.push_back(open);
        }
        if (worth.curve.stated_per_unit) {
            figure.series.push_back(stated);
        }
    }
    return figures;
}

void refuse_option(const std::string& value, const char* option, const std::string& figure)
{
    if (!value.empty()) {
        throw InputError(
            fmt::format("--{} {} has no effect on --figure {}; remove it, or choose --figure front", option,
                        value, figure));
    }
}

}  // namespace

std::vector<PaperFigure> report_figures(const Results& results, const FigureChoice& choice)
{
    const std::vector<std::string> names(report_figure_names.begin(), report_figure_names.end());
    if (std::find(names.begin(), names.end(), choice.figure) == names.end()) {
        throw InputError(fmt::format("--figure {} is not a figure{}; choose from {}", choice.figure,
                                     guess_of(choice.figure, names), listed(names)));
    }
    if (choice.figure == "front") {
        return {front_figure(results, choice)};
    }
    refuse_option(choice.x, "x", choice.figure);
    refuse_option(choice.y, "y", choice.figure);
    if (choice.figure == "training-times") {
        return {training_times_figure(results, choice)};
    }
    if (choice.figure == "step-times") {
        return {step_times_figure(results, choice)};
    }
    refuse_option(choice.colour, "colour", choice.figure);
    if (choice.figure == "progress") {
        return {progress_figure(results)};
    }
    return break_even_figures(varied_worths(results));
}

std::string report_figure_csv(const Results& results, const FigureChoice& choice)
{
    const std::vector<PaperFigure> figures = report_figures(results, choice);
    return choice.figure == "break-even" ? varied_worth_csv(varied_worths(results)) : figure_csv(figures);
}

}  // namespace prismopt
