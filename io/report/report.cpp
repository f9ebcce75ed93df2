#include "io/report/report.hpp"

#include "io/base/percent.hpp"
#include "io/report/front/best_plan.hpp"

#include "io/base/aligned.hpp"
#include "io/report/alternatives.hpp"
#include "io/report/completion.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/report/front/front_ties.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/front/run_words.hpp"
#include "io/report/legs_text.hpp"
#include "io/report/machine_report.hpp"
#include "io/report/question_answer.hpp"
#include "io/report/result_text.hpp"
#include "io/report/space_counts.hpp"
#include "io/report/study_notes.hpp"
#include "io/report/subject.hpp"
#include "io/report/varied_worth.hpp"
#include "io/toml/date.hpp"
#include "io/toml/reading_units.hpp"
#include "io/words/rejected_text.hpp"
#include "model/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

namespace prismopt {

namespace {

/// Decimals that show `digits` significant digits of a number.
int decimals(double value, int digits)
{
    const double size = std::abs(value);
    return size > 0.0 && std::isfinite(size)
               ? std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(size))), 0, digits)
               : 1;
}

std::string significant(double value, int digits)
{
    return fmt::format("{:.{}f}", value, decimals(value, digits));
}

/// Decimals of a value with limits: three significant digits, and more where the limits are closer than that.
int decimals_between(double value, double low, double high)
{
    constexpr int most = 4;
    const double width = high - low;
    const int three = decimals(value, 3);
    return width > 0.0 && std::isfinite(width)
               ? std::clamp(static_cast<int>(std::ceil(-std::log10(width))), three, most)
               : three;
}

std::string interval(double low, double high, int places)
{
    return fmt::format("{:.{}f} to {:.{}f}", low, places, high, places);
}

using Row = std::vector<std::string>;

/// The unit in which the largest figure of the front is easily read.
template <class Figure>
ReadingUnit unit_of_front(const Results& results, std::string_view units, Figure figure)
{
    double largest = 0.0;
    for (const FrontPoint& point : results.front) {
        const double value = std::abs(figure(point));
        if (std::isfinite(value)) {
            largest = std::max(largest, value);
        }
    }
    return reading_unit(units, largest);
}

/// Value and limits in a unit.
std::array<double, 3> limited(const Estimate& e, const ReadingUnit& unit)
{
    return {e.value / unit.size, e.low / unit.size, e.high / unit.size};
}

struct TableColumn {
    std::string title;
    std::string unit;
    std::function<std::string(const FrontPoint&)> cell;
};

/// "-" where there is no value.
std::string cell(double value, const ReadingUnit& unit)
{
    return std::isfinite(value) ? significant(value / unit.size, 4) : "-";
}

/// A quantity in the unit in which the largest of the front is easily read.
template <class Figure>
TableColumn quantity_column(const Results& results, const std::string& title, std::string_view units,
                            Figure figure)
{
    const ReadingUnit unit = unit_of_front(results, units, figure);
    return {title, unit.name, [unit, figure](const FrontPoint& p) { return cell(figure(p), unit); }};
}

/// Objectives that the usual columns show already.
bool has_usual_column(std::string_view objective)
{
    constexpr std::array<std::string_view, 5> shown{"gpus", "training_time_p99", "cost", "step_time_p50",
                                                    "step_time_p99"};
    return std::find(shown.begin(), shown.end(), objective) != shown.end();
}

std::string words(std::string name)
{
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

/// What was minimised beside the usual columns, prices that differ, the deadline, and dates.
std::vector<TableColumn> further_columns(const Results& results, const StudyNotes& notes)
{
    std::vector<TableColumn> columns;
    const Seconds limit = asked_limit(notes);
    bool has_deadline = limit.si > 0.0;
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        const ObjectiveInfo& objective = results.objectives[k];
        if (objective.name == "miss_probability") {
            has_deadline = true;
        } else if (!has_usual_column(objective.name)) {
            columns.push_back(quantity_column(results, words(objective.name), objective.units,
                                              [k](const FrontPoint& p) { return p.objectives[k].value; }));
        }
    }
    if (has_deadline) {
        columns.push_back({"miss probability", "with model error", [limit](const FrontPoint& p) {
                               const auto risk = deadline_risk(p, limit);
                               return risk ? risk_with_error_text(*risk) : "-";
                           }});
        columns.push_back({"", "model exact", [&notes](const FrontPoint& p) {
                               const std::string risk = exact_risk_text(p, notes);
                               return risk.empty() ? "-" : risk;
                           }});
    }
    const auto price = [](const FrontPoint& p) { return p.prediction.gpu_price_usd_per_h; };
    if (std::any_of(results.front.begin(), results.front.end(), [&](const FrontPoint& p) {
            // Older files have no price.
            return std::isfinite(price(p)) && price(p) != price(results.front.front());
        })) {
        columns.push_back(
            {"GPU price", "USD/h", [](const FrontPoint& p) { return number_figure(p, "gpu_price"); }});
    }
    if (std::any_of(results.front.begin(), results.front.end(),
                    [](const FrontPoint& p) { return std::isfinite(p.measured_step_s); })) {
        const ReadingUnit step =
            unit_of_front(results, "s", [](const FrontPoint& p) { return p.prediction.step.p99.value; });
        columns.push_back({"step measured", step.name,
                           [step](const FrontPoint& p) { return cell(p.measured_step_s, step); }});
    }
    if (notes.start) {
        columns.push_back({"done by", "99 %, with model error", [&notes](const FrontPoint& p) {
                               return completions(p, notes.start).back().with_error.date;
                           }});
        columns.push_back({"", "99 %, model exact", [&notes](const FrontPoint& p) {
                               return completions(p, notes.start).back().exact.date;
                           }});
    }
    return columns;
}

/// Names the peak of which MFU is a share; files before schema 1.10 do not state it.
std::string mfu_unit(const Results& results)
{
    const auto peak = [](const FrontPoint& p) { return p.prediction.peak_tflops_per_gpu; };
    if (results.front.empty() || std::isnan(peak(results.front.front()))) {
        return "% of 16-bit peak";
    }
    const std::string first = fmt::format("{:.0f}", peak(results.front.front()));
    const bool one = std::all_of(results.front.begin(), results.front.end(), [&](const FrontPoint& p) {
        return fmt::format("{:.0f}", peak(p)) == first;
    });
    return one ? fmt::format("% of {} TFLOP/s", first) : "% of peak";
}

/// A table of the plans of a list; `own`: its columns before the usual ones.
std::string plans_table(const Results& results, const StudyNotes& notes, const std::vector<FrontPoint>& plans,
                        const std::vector<TableColumn>& own)
{
    const std::size_t plan_column = own.size() + 2;
    TableColumn cost = quantity_column(results, "cost", "USD",
                                       [](const FrontPoint& p) { return p.prediction.cost_usd.value; });
    cost.unit += notes.price_origin == FigureOrigin::placeholder ? ", placeholder" : "";
    const ReadingUnit training =
        unit_of_front(results, "s", [](const FrontPoint& p) { return p.prediction.training.p99.value; });
    const ReadingUnit step =
        unit_of_front(results, "s", [](const FrontPoint& p) { return p.prediction.step.p99.value; });
    std::vector<TableColumn> columns{
        {"point", "",
         [](const FrontPoint& p) { return fmt::format("{}{}", p.dominated ? "*" : "", p.index); }},
        {"GPUs", "", [](const FrontPoint& p) { return std::to_string(p.prediction.gpus); }},
        {"plan", "", [&results](const FrontPoint& p) { return plan_words(results, p); }},
        {fmt::format("p99 {}", run_words(notes.task).time), training.name + " (95 %)",
         [training](const FrontPoint& p) {
             const auto [time, low, high] = limited(p.prediction.training.p99, training);
             const int places = decimals_between(time, low, high);
             return fmt::format("{:.{}f} ({})", time, places, interval(low, high, places));
         }},
        std::move(cost),
        {"step p50/p99", step.name,
         [step](const FrontPoint& p) {
             return cell(p.prediction.step.p50.value, step) + "/" + cell(p.prediction.step.p99.value, step);
         }},
        {"mem", "free %", [](const FrontPoint& p) { return number_figure(p, "memory_headroom"); }},
        {"MFU", mfu_unit(results), [](const FrontPoint& p) { return number_figure(p, "mfu"); }},
        {"ETTR", "%", [](const FrontPoint& p) { return number_figure(p, "ettr"); }}};
    columns.insert(columns.begin(), own.begin(), own.end());
    for (TableColumn& column : further_columns(results, notes)) {
        columns.push_back(std::move(column));
    }
    std::vector<Row> rows(2 + plans.size());
    for (const TableColumn& column : columns) {
        rows[0].push_back(column.title);
        rows[1].push_back(column.unit);
        for (std::size_t i = 0; i < plans.size(); ++i) {
            rows[2 + i].push_back(column.cell(plans[i]));
        }
    }
    return aligned(rows, plan_column);
}

std::string front_table(const Results& results, const StudyNotes& notes)
{
    return plans_table(results, notes, results.front, {});
}

/// Plans that would be on the front if they fit; empty: there are none.
std::string may_not_fit_section(const Results& results, const StudyNotes& notes)
{
    const MayNotFit& list = results.may_not_fit;
    if (list.plans.empty()) {
        return "";
    }
    return fmt::format("\nThese would be on the front, but may not fit into memory ({}):\n", list.outcome) +
           plans_table(results, notes, list.plans, {{"fits", "%", [](const FrontPoint& p) {
                                                         return number_figure(p, "fit_probability");
                                                     }}});
}

/// "p50 55.2 days (2027-03-10), p90 57.5 days (2027-03-13)".
std::string when_text(const FrontPoint& point, const StudyNotes& notes, CompletionTime Completion::*time)
{
    const ReadingUnit unit = reading_unit("s", point.prediction.training.p99.value);
    std::string text;
    for (const Completion& done : completions(point, notes.start)) {
        const CompletionTime& end = done.*time;
        if (std::isfinite(end.seconds)) {
            text += fmt::format("{}{} {} {}{}", text.empty() ? "" : ", ", done.quantile,
                                significant(end.seconds / unit.size, 3), unit.name,
                                end.date.empty() ? "" : fmt::format(" ({})", end.date));
        }
    }
    return text;
}

/// " (2027-03-20 to 2027-04-15)": the end of a run of this time at the limits of the
/// model error; empty without a start.
std::string dates_text(double seconds, const FrontPoint& point, const StudyNotes& notes)
{
    return notes.start ? fmt::format(" ({} to {})", end_date(*notes.start, seconds * point.model_low),
                                     end_date(*notes.start, seconds * point.model_high))
                       : "";
}

std::string three_digits(double value, std::string_view units)
{
    const ReadingUnit unit = reading_unit(units, value);
    return fmt::format("{} {}", significant(value / unit.size, 3), unit.name);
}

std::string energy_text(const Prediction& prediction)
{
    const double joules = prediction.run.energy_j.value;
    const ReadingUnit unit = reading_unit("J", joules);
    return std::isfinite(joules)
               ? fmt::format("; energy {} {}", significant(joules / unit.size, 3), unit.name)
               : "";
}

/// ", with electricity at 0.08 USD/kWh (given)"; empty if the price of GPUs includes it.
std::string electricity_price_words(const StudyNotes& notes)
{
    return notes.electricity.empty() ? "" : fmt::format(", with electricity at {}", notes.electricity);
}

/// Of the building: for the job, and for the whole cluster. Empty for files that do not have it.
std::string power_line(const Prediction& p, const StudyNotes& notes)
{
    return std::isfinite(p.run.cluster_power_w)
               ? fmt::format("  power           {} to provision, {} on average; whole cluster {}{}\n",
                             three_digits(p.run.power_w, "W"), three_digits(p.run.mean_power_w, "W"),
                             three_digits(p.run.cluster_power_w, "W"),
                             placeholder_words(notes.power_origin, "power"))
               : "";
}

std::string risk_text(const FrontPoint& point, const StudyNotes& notes)
{
    const Seconds limit = asked_limit(notes);
    const std::string exact = limit.si > 0.0 ? exact_risk_text(point, notes) : "";
    if (exact.empty()) {
        return "";
    }
    const auto with_error = deadline_risk(point, limit);
    const std::string included = with_error ? deadline_risk_text(*with_error) + "; " : "";
    return fmt::format(
        "  deadline        missed after {} with this probability: {}assuming the model is exact, {}\n",
        time_text(limit.si), included, exact);
}

/// What was measured of the plan, which is not in its prediction.
std::string measured_text(const Prediction& prediction, double measured_s)
{
    const ReadingUnit unit = reading_unit("s", measured_s);
    return std::isfinite(measured_s)
               ? fmt::format("  measured        step {} {}, {} against the predicted mean\n",
                             significant(measured_s / unit.size, 4), unit.name,
                             change_text(measured_s / prediction.step.mean.value - 1.0))
               : "";
}

/// The most probable of the plans that may not fit and are better in the first
/// objective than the best that does.
std::string may_not_fit_text(const Results& results)
{
    const auto less_of = [&results](const FrontPoint& plan) {
        return 1.0 - plan.objectives.front().value / results.front.front().objectives.front().value;
    };
    const std::vector<FrontPoint>& plans = results.may_not_fit.plans;
    const auto found =
        std::max_element(plans.begin(), plans.end(), [&](const FrontPoint& a, const FrontPoint& b) {
            const auto rank = [&](const FrontPoint& plan) {
                return std::pair(less_of(plan) > 0.0, plan.prediction.fit_probability);
            };
            return rank(a) < rank(b);
        });
    if (found == plans.end()) {
        return "";
    }
    const FrontPoint& plan = *found;
    const double less = less_of(plan);
    return less > 0.0 ? fmt::format(
                            "  may not fit     point {}: {} less {}, but fits into memory with a probability "
                            "of {}\n",
                            plan.index, relative_text(less, 2), words(results.objectives.front().name),
                            chance_text(plan.prediction.fit_probability))
                      : "";
}

/// When the subject is done, what it takes, and how far both may be off: by the draws, and by the model.
std::string answer(const Results& results, const StudyNotes& notes)
{
    const Subject subject = *subject_of(results, notes);
    const FrontPoint& point = *subject.plan;
    const Prediction& p = point.prediction;
    const ReadingUnit unit = reading_unit("s", p.training.p99.value);
    const auto [time, low, high] = limited(p.training.p99, unit);
    const int places = decimals_between(time, low, high);
    const ReadingUnit cost = reading_unit("USD", p.cost_usd.value);
    std::string text =
        fmt::format("{}: point {} on {} GPUs{}{}\n", subject_title(subject, results), point.index, p.gpus,
                    results.provisional ? " (provisional)" : "", subject.on_front ? "" : ", off the front");
    const std::string with_error = when_text(point, notes, &Completion::with_error);
    const std::string exact = when_text(point, notes, &Completion::exact);
    text += fmt::format("  {:<15} {}\n", run_words(notes.task).time,
                        with_error.empty() ? exact : with_error + ", with the model error");
    text += with_error.empty() ? "" : fmt::format("  {:<15} {}, assuming the model is exact\n", "", exact);
    text += measured_text(p, point.measured_step_s);
    text +=
        fmt::format("  cost            {} {}{}{}{}\n", significant(p.cost_usd.value / cost.size, 4),
                    cost.name, placeholder_words(notes.price_origin, "price") + electricity_words(p, notes),
                    energy_text(p),
                    energy_text(p).empty() ? "" : placeholder_words(notes.power_origin, "power"));
    text += power_line(p, notes);
    text += risk_text(point, notes);
    text +=
        fmt::format("  sampling error  p99 {} {} (95 % confidence interval, assuming the model is exact)\n",
                    interval(low, high, places), unit.name);
    if (std::isfinite(point.model_low)) {
        const double dollars = p.cost_usd.value / cost.size;
        text +=
            fmt::format("  model error     p99 {} {}{}, cost {} {} ({})\n",
                        interval(time * point.model_low, time * point.model_high, decimals(time, 3)),
                        unit.name, dates_text(p.training.p99.value, point, notes),
                        interval(dollars * point.model_low, dollars * point.model_high, decimals(dollars, 3)),
                        cost.name, model_error_source(point.model_fitted > 0.0));
        const std::string others = other_software_text(point.software_low, point.software_high);
        text += others.empty() ? "" : fmt::format("  software        {}: {}\n", notes.trained_with, others);
        text += notes.moe_note.empty() ? "" : fmt::format("                  {}\n", notes.moe_note);
    } else {
        text += "  model error     not in this file and not included above; it is usually 15 to 30 %\n";
    }
    if (!subject.on_front) {
        return text + "\n" + plans_table(results, notes, {point}, {}) + "\n";
    }
    return text + (subject.reason == SubjectReason::best ? may_not_fit_text(results) : "") + "\n";
}

/// Plans between which the draws do not decide, such as those that differ only in the memory they leave free.
/// Each group is of one member and those after it that tie with it and are in no group yet.
std::string ties_text(const Results& results)
{
    const std::vector<std::vector<std::uint64_t>> others = ties(results.front);
    std::vector<std::string> groups;
    std::set<std::uint64_t> named;
    for (std::size_t i = 0; i < results.front.size(); ++i) {
        if (named.contains(results.front[i].index)) {
            continue;
        }
        std::vector<std::uint64_t> group{results.front[i].index};
        for (const std::uint64_t other : others[i]) {
            if (named.insert(other).second) {
                group.push_back(other);
            }
        }
        if (group.size() > 1) {
            named.insert(group.front());
            groups.push_back(fmt::format("{}", fmt::join(group, " = ")));
        }
    }
    return groups.empty()
               ? ""
               : fmt::format(
                     "Ties (all objectives are equal within the sampling error): points {}. Choose among "
                     "them by the other columns.\n",
                     fmt::join(groups, ", "));
}

std::string question_text(const Results& results, const StudyNotes& notes)
{
    std::string text;
    for (const QuestionLine& line : question_lines(results, notes)) {
        text += text.empty() ? fmt::format("{}: {}\n", line.title, line.text)
                             : fmt::format("  {:<15} {}\n", line.title, line.text);
    }
    for (const QuestionLine& line : answer_changes(results, notes)) {
        text += fmt::format("  {:<15} {}\n", line.title, line.text);
    }
    return text.empty() ? "" : text + "\n";
}

std::string front_section(const Results& results, const StudyNotes& notes)
{
    if (results.feasible == 0 && results.study.space_parts > 1 && !results.provisional) {
        return fmt::format(
            "No plan of part {} of {} is feasible: the front of the whole space consists of plans from the "
            "other parts.\n",
            fmt::join(results.study.held, ","), results.study.space_parts);
    }
    if (results.front.empty()) {
        return (results.subject ? answer(results, notes) : "") +
               "The front is empty: no plan was evaluated completely.\n";
    }
    std::string text = question_text(results, notes) + answer(results, notes) + front_table(results, notes);
    if (std::any_of(results.front.begin(), results.front.end(),
                    [](const FrontPoint& p) { return p.dominated; })) {
        text +=
            "* dominated by another point: kept because the first estimates selected it, or as the best plan "
            "of its cluster.\n";
    }
    text += ties_text(results);
    text += may_not_fit_section(results, notes);
    text += results.study.learned.empty()
                ? ""
                : fmt::format("Constants: with what was learned from {} (digest {}).\n",
                              results.study.learned, results.study.learned_digest);
    text += notes.idle_nodes.empty() ? "" : fmt::format("Idle nodes: {}.\n", notes.idle_nodes);
    text += notes.energy.empty() ? "" : notes.energy + ".\n";
    text += notes.phases > 1 ? first_phase_text(notes.phases) + "\n" : "";
    for (const ChoiceTable* table : {&notes.batch_table, &notes.numerics, &notes.local_updates}) {
        const std::string choices = choices_text(*table);
        text += choices.empty() ? "" : "\n" + choices;
    }
    if (results.provisional) {
        text +=
            "Provisional: the search was stopped, and these are the best plans so far. Their estimates are "
            "optimistic, because "
            "the same draws\nselected them; some rest on few draws. A complete search confirms its front on "
            "fresh draws.\n";
    }
    return text;
}

std::string space_section(const Results& results, const StudyNotes& notes)
{
    const auto variants = std::ranges::find(results.axes, variant_axis, &Axis::name);
    const std::uint64_t searched = variants == results.axes.end() ? 0 : variants->labels.size();
    const std::string text = space_text(results.raw_tuples, results.feasible, results.rejected) +
                             variants_text(notes.variants, searched);
    const std::uint64_t examined = space_counts(results.feasible, results.rejected).examined;
    if (results.feasible > 0 || examined == 0) {
        return text;
    }
    std::string nearest;
    for (const Rejected& rejected : results.rejected) {
        if (rejected.count > 0 && (rejected.miss > 0.0 || !rejected.nearest.empty())) {
            nearest += fmt::format("  {}: {}\n", rejected.reason,
                                   rejected.nearest.empty() ? fmt::format("by {:.4g}", rejected.miss)
                                                            : nearest_text(rejected));
        }
    }
    return text +
           (examined < results.raw_tuples ? "No examined combination is feasible." : "No plan is feasible.") +
           (nearest.empty() ? "\n" : " The nearest miss by reason:\n" + nearest);
}

/// Each combination of values once.
std::string tally(const Results& results)
{
    const Outcome& outcome = results.study.outcome;
    const SpaceCounts counts = space_counts(results.feasible, results.rejected);
    return fmt::format(
        "of {} combinations of values: {} duplicate or undefined, {} infeasible, {} excluded by their lower "
        "bounds,{} {} "
        "evaluated, {} open, {} not examined\n",
        grouped(results.raw_tuples), grouped(counts.not_plans), grouped(counts.infeasible),
        grouped(outcome.pruned),
        outcome.unchecked > 0 ? fmt::format(" {} more before it was known whether they are feasible,",
                                            grouped(outcome.unchecked))
                              : "",
        grouped(outcome.evaluated), grouped(outcome.open),
        grouped(results.raw_tuples - counts.examined - outcome.unchecked));
}

std::string objective_names(const Results& results)
{
    std::string text;
    for (const ObjectiveInfo& objective : results.objectives) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", objective.name);
    }
    return text;
}

std::string search_section(const Results& results)
{
    const StudyInfo& study = results.study;
    const Outcome& outcome = study.outcome;
    const StudyEffort sum = study_effort(results);
    std::string text = fmt::format("Search: {}\n", study.outcome_text);
    text += results.provisional ? "  " + tally(results) : "";
    text +=
        fmt::format("  strategy {}; {} evaluated, {} excluded by their lower bounds, {} open; {} step draws",
                    study.strategy, counted(sum.evaluated, "point"), outcome.pruned, outcome.open, sum.draws);
    text += results.provisional ? ", none to confirm the front\n"
                                : fmt::format(", {} more to confirm the front\n", sum.confirming);
    static_assert(bound_kinds == 4);
    const CountByBound& by = outcome.excluded_by;
    if (std::any_of(by.begin(), by.end(), [](std::uint64_t count) { return count > 0; })) {
        text += fmt::format(
            "  excluded while the space was swept, by the bound of: a sub-space {} combinations, the busiest "
            "stage {}, the "
            "noise-free step {}, the longest paths {}\n",
            grouped(by[0]), grouped(by[1]), grouped(by[2]), grouped(by[3]));
    }
    if (!results.may_not_fit.outcome.empty() && results.may_not_fit.limit > least_fit_probability) {
        text += fmt::format(
            "  plans that would be on the front, but fit into memory with {:.0f} to {:.0f} % only: {} ({})\n",
            100.0 * least_fit_probability, 100.0 * results.may_not_fit.limit,
            results.may_not_fit.plans.size(), results.may_not_fit.outcome);
    }
    text += fmt::format("  seed {}, prismopt {} ({}), {}{}\n", study.seed, study.build.version,
                        study.build.commit, study.created,
                        study.job_id.empty() ? "" : fmt::format(", job {}", study.job_id));
    return text;
}

/// Of the plans on the front, which differ where the batch, the precision or local updates
/// changes what reaches the loss.
std::string tokens_text(const Results& results, const StudyNotes& notes)
{
    double least = std::numeric_limits<double>::infinity();
    double most = 0.0;
    for (const FrontPoint& point : results.front) {
        if (std::isfinite(point.prediction.tokens)) {  // absent in older files
            least = std::min(least, point.prediction.tokens);
            most = std::max(most, point.prediction.tokens);
        }
    }
    if (most == 0.0) {
        return short_count(notes.tokens);
    }
    const std::string low = short_count(least);
    const std::string high = short_count(most);
    return low == high ? low : fmt::format("{} to {}", low, high);
}

}  // namespace

std::string job_title(const Results& results)
{
    if (has_machines(results)) {
        return machines_title(results);
    }
    const StudyNotes notes = study_notes(results);
    if (notes.model.empty()) {
        return results.study.scenario_name;
    }
    std::string count;
    int most = 0;
    if (!results.front.empty()) {
        const auto fewer = [](const FrontPoint& a, const FrontPoint& b) {
            return a.prediction.gpus < b.prediction.gpus;
        };
        const auto [fewest, largest] = std::minmax_element(results.front.begin(), results.front.end(), fewer);
        const auto number = [](const FrontPoint& p) {
            return grouped(static_cast<std::uint64_t>(p.prediction.gpus));
        };
        most = largest->prediction.gpus;
        count = number(*fewest) + (fewest->prediction.gpus == most ? " " : " to " + number(*largest) + " ");
    }
    return fmt::format("{}, {} tokens on {}{}{} with {}", notes.model, tokens_text(results, notes), count,
                       notes.accelerator, most == 1 ? "" : " GPUs", notes.trained_with);
}

std::string answer_text(const Results& results)
{
    if (has_machines(results)) {
        return best_machine_text(results);
    }
    return results.front.empty()
               ? "The front is empty: no plan was evaluated completely.\n"
               : question_text(results, study_notes(results)) + answer(results, study_notes(results));
}

std::string other_software_text(double low, double high)
{
    return low < high ? fmt::format("{:.2g} to {:.2g} times as long with other software", low, high) : "";
}

std::string_view model_error_source(bool fitted)
{
    return fitted ? "95 % prediction interval from the fit to measured runs"
                  : "95 % prediction interval, not from measured runs of this hardware and software as "
                    "described";
}

std::string_view population(bool nodes_known)
{
    return nodes_known
               ? "this cluster (the speed of each node is given)"
               : "the fleet (a random sample of GPUs; the luck of which GPUs the job gets is included)";
}

std::string remark(const std::string& note) { return note.empty() ? "" : fmt::format("Note: {}.\n", note); }

std::string text_report(const Results& results)
{
    const StudyNotes notes = study_notes(results);
    if (has_machines(results)) {
        return machines_text(results, notes) + "\n" + space_section(results, notes) + "\n" +
               search_section(results);
    }
    const std::string size =
        notes.parameters > 0.0 ? fmt::format(" ({} parameters)", short_count(notes.parameters)) : "";
    const std::string job =
        notes.model.empty()
            ? ""
            : fmt::format("{} {}{}{}; hardware: {}; software: {}.\n", run_words(notes.task).verb, notes.model,
                          size,
                          notes.tokens > 0.0 ? fmt::format(" on {} tokens", tokens_text(results, notes)) : "",
                          notes.accelerator, notes.trained_with);
    return fmt::format("Study {}: {}front of {}, minimising {}\n{}Quantiles are taken over {}.\n{}{}\n",
                       results.study.scenario_name, results.provisional ? "provisional " : "",
                       counted(results.front.size(), "point"), objective_names(results), job,
                       population(results.study.nodes_known),
                       notes.price.empty()
                           ? ""
                           : fmt::format("Costs are at {}{}.\n", notes.price, electricity_price_words(notes)),
                       remark(notes.omitted) + remark(notes.software) + remark(notes.own_entries)) +
           front_section(results, notes) + "\n" + best_plan_section(results, notes.task) +
           varied_worth_text(results) + space_section(results, notes) + "\n" + search_section(results);
}

std::string summary(const Results& results)
{
    const StudyEffort sum = study_effort(results);
    std::string text = fmt::format(
        "Study {} (seed {}, prismopt {}, {}): {} combinations of values, {} feasible plans, {} evaluated "
        "with {} step draws.",
        results.study.scenario_name, results.study.seed, results.study.build.version, results.study.created,
        results.raw_tuples, results.feasible, sum.evaluated, sum.draws);
    if (!results.front.empty()) {
        const auto order = [](const FrontPoint& a, const FrontPoint& b) {
            return a.prediction.training.p99.value < b.prediction.training.p99.value;
        };
        const auto ends = std::minmax_element(results.front.begin(), results.front.end(), order);
        const ReadingUnit unit = reading_unit("s", ends.second->prediction.training.p99.value);
        const double least = ends.first->prediction.training.p99.value / unit.size;
        const double most = ends.second->prediction.training.p99.value / unit.size;
        text += fmt::format(" {} of {}, p99 training time {} {} ({}).",
                            results.provisional ? "Provisional front" : "Front",
                            counted(results.front.size(), "point"), interval(least, most, decimals(most, 3)),
                            unit.name, quantiles_of(results.study.nodes_known));
    } else {
        text += " The front is empty.";
    }
    text += fmt::format(" Outcome: {}\n", results.study.outcome_text);
    text += results.provisional ? "Counts: " + tally(results) : "";
    return text + legs_text(results.legs);
}

}  // namespace prismopt
