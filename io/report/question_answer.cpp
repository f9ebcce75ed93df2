#include "io/report/question_answer.hpp"

#include "io/base/percent.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/toml/date.hpp"
#include "io/toml/reading_figure.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace prismopt {

namespace {

/// What can be minimised: which objectives of a study hold its least, and how much a plan has of it.
struct Aim {
    QuestionAim aim;
    std::string_view words;      // "least cost"
    std::string_view what;       // "cost"
    std::string_view objective;  // of a search that minimises it
    std::string_view or_these;   // others that nearly do begin with it
    double (*amount)(const QuestionedPlan& plan);
};
constexpr std::array<Aim, 4> aims{{
    {QuestionAim::cost, "least cost", "cost", "cost", "cost",
     [](const QuestionedPlan& p) { return p.plan->prediction.cost_usd.value; }},
    {QuestionAim::time, "least time", "time", "promised_time", "training_time",
     [](const QuestionedPlan& p) { return p.in_time_s; }},
    {QuestionAim::gpus, "fewest GPUs", "GPUs", "gpus", "gpus",
     [](const QuestionedPlan& p) { return static_cast<double>(p.plan->prediction.gpus); }},
    {QuestionAim::energy, "least energy", "energy", "energy", "energy",
     [](const QuestionedPlan& p) { return p.plan->prediction.run.energy_j.value; }},
}};

const Aim& row_of(QuestionAim aim)
{
    return *std::find_if(aims.begin(), aims.end(), [aim](const Aim& row) { return row.aim == aim; });
}

bool equal_promises(const Question& a, const Question& b)
{
    return a.probability == b.probability && a.model_error == b.model_error;
}

/// Whether a search with the question `own` has looked for the answer to `asked`.
bool looked_for(const std::optional<Question>& own, const Question& asked, const StudyNotes& notes)
{
    return own && own->minimise == asked.minimise && equal_promises(*own, asked) &&
           limits_of(*own, notes.start) == limits_of(asked, notes.start);
}

bool has_table(const FrontPoint& plan)
{
    return plan.prediction.training.quantiles.size() == reported_probabilities.size();
}
bool has_model_error(const FrontPoint& plan)
{
    return std::isfinite(plan.model_low) && std::isfinite(plan.model_high);
}

int held_gpus(const Prediction& prediction)
{
    const double held = prediction.held_gpus();
    return std::isfinite(held) ? static_cast<int>(held) : prediction.gpus;  // older files have no spares
}

/// Probability that a plan costs no more than the budget: its cost is in proportion to its time. NaN if it is
/// not known, or without a budget.
double budget_probability(const FrontPoint& plan, const Question& question)
{
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const double cost_usd = plan.prediction.cost_usd.value;
    if (!(question.budget_usd > 0.0) || !has_model_error(plan) || !(cost_usd > 0.0)) {
        return unknown;
    }
    const Seconds paid{question.budget_usd * plan.prediction.training.p99.value / cost_usd};
    const auto risk = deadline_risk(plan.prediction.training, paid, model_error_of(plan));
    return risk ? 1.0 - risk->mean : unknown;
}

/// `promised`: the study promised times as the question asks for them.
QuestionedPlan questioned(const FrontPoint& plan, const Question& question, const QuestionAnswer& answer,
                          bool promised)
{
    const Prediction& prediction = plan.prediction;
    const ModelError error = answer.model_error ? model_error_of(plan) : ModelError{};
    const Seconds limit = answer.limit;
    QuestionedPlan result{&plan};
    if (promised && std::isfinite(prediction.promised.value)) {
        result.in_time_s = prediction.promised.value;
        result.at_limit = prediction.promised.low <= limit.si && limit.si <= prediction.promised.high;
    } else {
        result.in_time_s = time_kept_with(question.probability, prediction.training, error);
    }
    result.probability = limit.si > 0.0 ? 1.0 - deadline_risk(prediction.training, limit, error)->mean : 1.0;
    result.in_time = !(limit.si > 0.0) || result.in_time_s <= limit.si;
    result.power_w = power_of(prediction);
    result.cluster_power_w = prediction.run.cluster_power_w;
    const double limited_w =
        question.power_limit_of == PowerScope::job ? result.power_w : result.cluster_power_w;
    result.within_limits =
        !(question.power_limit.si > 0.0 && !(limited_w <= question.power_limit.si)) &&
        !(question.budget_usd > 0.0 && !(prediction.cost_usd.value <= question.budget_usd)) &&
        !(question.gpus_at_most > 0 && held_gpus(prediction) > question.gpus_at_most);
    result.budget_probability = budget_probability(plan, question);
    result.amount = row_of(question.minimise).amount(result);
    return result;
}

LargestDoubt largest_doubt(const FrontPoint& plan)
{
    const Estimate& p99 = plan.prediction.training.p99;
    const double draws = std::log(p99.high / p99.low);
    const double model = std::isfinite(plan.model_low) ? std::log(plan.model_high / plan.model_low) : 0.0;
    const double software =
        std::isfinite(plan.software_low) ? std::log(plan.software_high / plan.software_low) : 0.0;
    constexpr double most_of_it = 0.5;  // the interval of the model contains the software
    if (software > std::max(draws, most_of_it * model)) {
        return LargestDoubt::software;
    }
    return model >= draws ? LargestDoubt::model : LargestDoubt::draws;
}

std::string limit_text(const Question& question)
{
    if (question.done_by) {
        return "by " + date_text(*question.done_by);
    }
    return question.deadline.si > 0.0 ? "within " + reading_quantity(question.deadline.si, "s")
                                      : std::string();
}

/// What the probabilities hold of the model's error.
std::string_view error_words(const Question& question, const QuestionAnswer& answer)
{
    if (answer.model_error) {
        return "model error included";
    }
    return question.model_error ? "assuming the model is exact: its error is not in this file"
                                : "assuming the model is exact";
}

std::string asked_text(const Question& question, const QuestionAnswer& answer)
{
    const std::string when = answer.limit.si > 0.0 ? "done " + limit_text(question) : "times";
    std::string text = fmt::format("{}, {} with {} ({})", row_of(question.minimise).words, when,
                                   probability_text(question.probability), error_words(question, answer));
    if (question.power_limit.si > 0.0) {
        text += ", at most " + reading_quantity(question.power_limit.si, "W");
        text += question.power_limit_of == PowerScope::cluster ? " for the whole cluster" : "";
    }
    if (question.budget_usd > 0.0) {
        text += ", at most " + reading_quantity(question.budget_usd, "USD");
    }
    if (question.gpus_at_most > 0) {
        text += fmt::format(", at most {} with spares",
                            counted(static_cast<std::uint64_t>(question.gpus_at_most), "GPU"));
    }
    return text;
}

/// "h100-sxm with megatron-bridge 26.04"; of several clusters, the one of the plan.
std::string machine_words(const Results& results, const FrontPoint& plan, const StudyNotes& notes)
{
    std::string machine = notes.accelerator.empty() ? "GPUs" : notes.accelerator;
    for (const VariantChoice& choice : variant_choices(results)) {
        if (choice.name == "cluster") {
            machine = "GPUs of " + choice.at(plan.point);
        }
    }
    return notes.trained_with.empty() ? machine : fmt::format("{} with {}", machine, notes.trained_with);
}

/// " (95 %: 11.3 to 16.3)", by the model error, and with which probability it stays within the budget.
std::string cost_range_text(const QuestionedPlan& it)
{
    const FrontPoint& plan = *it.plan;
    const double cost_usd = plan.prediction.cost_usd.value;
    if (!has_model_error(plan) || !(cost_usd > 0.0)) {
        return "";
    }
    const double unit = reading_unit("USD", cost_usd).size;
    std::string text = fmt::format(" (95 %: {} to {})", reading_figure(cost_usd * plan.model_low / unit),
                                   reading_figure(cost_usd * plan.model_high / unit));
    if (std::isfinite(it.budget_probability)) {
        text += ", within the budget with " + tabulated_text(it.budget_probability);
    }
    return text;
}

/// The probability of being in time, with as many digits as keep it from looking like what was asked for.
std::string chance_in_time(const QuestionedPlan& it, const Question& question)
{
    constexpr int most_decimals = 3;
    std::string text = tabulated_text(it.probability);
    if (it.in_time) {
        return text;
    }
    for (int decimals = 1;
         decimals <= most_decimals && text == percent_text(question.probability, decimals - 1); ++decimals) {
        text = percent_text(it.probability, decimals);
    }
    return text;
}

/// "3,840 h100-sxm with megatron-bridge 26.04, 128 more as spares: 93 % by 2027-04-15, 17.6 M USD
/// (95 %: 14.1 to 21.9), 4.1 MW; point 516, tp 4 pp 4".
std::string plan_text(const QuestionedPlan& it, const Question& question, const QuestionAnswer& answer,
                      const Results& results, const StudyNotes& notes)
{
    const Prediction& prediction = it.plan->prediction;
    const int spares = held_gpus(prediction) - prediction.gpus;
    std::string text = fmt::format(
        "{} {}{}: ", grouped(static_cast<std::uint64_t>(prediction.gpus)),
        machine_words(results, *it.plan, notes),
        spares > 0 ? fmt::format(", {} more as spares", grouped(static_cast<std::uint64_t>(spares))) : "");
    if (answer.limit.si > 0.0) {
        text += fmt::format("{} {}{}, ", chance_in_time(it, question), limit_text(question),
                            it.at_limit ? " (at the limit: the draws do not decide)" : "");
    } else {
        text += fmt::format("{} with {}, ", reading_quantity(it.in_time_s, "s"),
                            probability_text(question.probability));
    }
    text +=
        reading_quantity(prediction.cost_usd.value, "USD") + placeholder_words(notes.price_origin, "price");
    text += electricity_words(prediction, notes);
    text += cost_range_text(it);
    if (std::isfinite(it.power_w)) {
        text += fmt::format(", {}", reading_quantity(it.power_w, "W"));
        text += question.power_limit_of == PowerScope::cluster
                    ? fmt::format(" (whole cluster: {})", reading_quantity(it.cluster_power_w, "W"))
                    : "";
        text += placeholder_words(notes.power_origin, "power");
    }
    return text + fmt::format("; point {}, {}", it.plan->index, plan_words(results, *it.plan));
}

/// When the plan is done with the probability that was asked for.
std::string in_time_text(const QuestionedPlan& it, const Question& question, const StudyNotes& notes)
{
    return fmt::format("{} with {}",
                       notes.start ? "done by " + end_date(*notes.start, it.in_time_s)
                                   : "done within " + reading_quantity(it.in_time_s, "s"),
                       probability_text(question.probability));
}

std::string doubt_text(const QuestionAnswer& answer, const FrontPoint& plan, const StudyNotes& notes)
{
    switch (answer.doubt) {
        case LargestDoubt::software:
            return fmt::format("the software: {:.2g} to {:.2g} times as long with other than {}",
                               plan.software_low, plan.software_high, notes.trained_with);
        case LargestDoubt::draws: return "the draws: raise the fleets of confirm in [search]";
        case LargestDoubt::model: break;
    }
    return fmt::format(
        "the error of the model: {:.2g} to {:.2g} times these times (95 %); measured steps narrow it "
        "(prismopt learn)",
        plan.model_low, plan.model_high);
}

/// That the answer is one of a search for something else.
std::string not_searched_text(const StudyNotes& notes)
{
    const std::string_view what =
        notes.searched ? "of a search for another question, which excluded what its limits do not allow"
                       : "of a search without a question";
    return fmt::format(
        "answered by the plans of the front {}; write this question into the scenario to search all plans "
        "for it",
        what);
}

/// Of the plans that count, the first with the least of a figure; nothing if none counts.
template <class Counts, class Figure>
std::optional<QuestionedPlan> least(const std::vector<QuestionedPlan>& plans, const Counts& counts,
                                    const Figure& figure)
{
    std::optional<QuestionedPlan> found;
    for (const QuestionedPlan& plan : plans) {
        if (counts(plan) && (!found || figure(plan) < figure(*found))) {
            found = plan;
        }
    }
    return found;
}

/// What the question minimises; of equal amounts, as of GPUs, the cost decides.
std::pair<double, double> amount_then_cost(const QuestionedPlan& plan)
{
    return {plan.amount, plan.plan->prediction.cost_usd.value};
}

/// "512, 1024, 2048 GPUs; gpus in [space] sets them, others were not tried"; empty for one number.
std::string sizes_text(const Results& results)
{
    const auto axis = std::find_if(results.axes.begin(), results.axes.end(),
                                   [](const Axis& one) { return one.name == "gpus"; });
    if (axis == results.axes.end() || axis->labels.size() < 2) {
        return "";
    }
    return fmt::format("{} GPUs; gpus in [space] sets them, others were not tried",
                       fmt::join(axis->labels, ", "));
}

/// A limit that a plan breaks: "power 1.88 MW instead of 1.4 MW", and how far, from 0 to 1.
struct BrokenLimit {
    std::string text;
    double excess = 0.0;
};

std::vector<BrokenLimit> broken_limits(const QuestionedPlan& plan, const Question& question)
{
    const bool of_job = question.power_limit_of == PowerScope::job;
    std::vector<BrokenLimit> broken;
    const auto check = [&](const char* what, double value, double limit, const auto& words) {
        if (limit > 0.0 && value > limit) {
            broken.push_back(
                {fmt::format("{} {} instead of {}", what, words(value), words(limit)), 1.0 - limit / value});
        }
    };
    check(of_job ? "power" : "power of the cluster", of_job ? plan.power_w : plan.cluster_power_w,
          question.power_limit.si, [](double value) { return reading_quantity(value, "W"); });
    check("cost", plan.plan->prediction.cost_usd.value, question.budget_usd,
          [](double value) { return reading_quantity(value, "USD"); });
    check("number of GPUs with spares", held_gpus(plan.plan->prediction), question.gpus_at_most,
          [](double value) { return grouped(static_cast<std::uint64_t>(value)); });
    return broken;
}

/// The plan that breaks the fewest limits of those that are in time, by the least; empty: there is none.
template <class Text>
std::string beyond_limits_text(const Question& question, const QuestionAnswer& answer, const Text& text)
{
    const auto found = least(
        answer.plans, [](const QuestionedPlan& p) { return p.in_time && !p.within_limits; },
        [&](const QuestionedPlan& p) {
            const std::vector<BrokenLimit> broken = broken_limits(p, question);
            double mean = 0.0;
            for (const BrokenLimit& limit : broken) {
                mean += limit.excess / static_cast<double>(broken.size());
            }
            return static_cast<double>(broken.size()) + mean;
        });
    if (!found) {
        return "";
    }
    std::vector<std::string> texts;
    for (const BrokenLimit& limit : broken_limits(*found, question)) {
        texts.push_back(limit.text);
    }
    return fmt::format("{}: {}", fmt::join(texts, ", "), text(*found));
}

/// "no plan of the front keeps the limits: the least power is 4.674 MW, the limit 4 MW; the least time with
/// 90 % is 95 days, the limit 90 days": those that no plan keeps.
std::string broken_limits_text(const Question& question, const QuestionAnswer& answer)
{
    struct Limited {
        std::string what;
        double limit;
        std::function<double(const QuestionedPlan&)> of;
        std::string units;
    };
    const bool of_job = question.power_limit_of == PowerScope::job;
    const std::array<Limited, 4> limits{
        {{.what = of_job ? "power" : "power of the cluster",
          .limit = question.power_limit.si,
          .of = [of_job](const QuestionedPlan& p) { return of_job ? p.power_w : p.cluster_power_w; },
          .units = "W"},
         {.what = "cost",
          .limit = question.budget_usd,
          .of = [](const QuestionedPlan& p) { return p.plan->prediction.cost_usd.value; },
          .units = "USD"},
         {.what = "number of GPUs with spares",
          .limit = static_cast<double>(question.gpus_at_most),
          .of = [](const QuestionedPlan& p) { return static_cast<double>(held_gpus(p.plan->prediction)); },
          .units = "1"},
         {.what = "time with " + probability_text(question.probability),
          .limit = answer.limit.si,
          .of = [](const QuestionedPlan& p) { return p.in_time_s; },
          .units = "s"}}};
    constexpr int digits = 4;
    std::vector<std::string> broken;
    for (const Limited& one : limits) {
        double least = std::numeric_limits<double>::infinity();
        for (const QuestionedPlan& plan : answer.plans) {
            least = std::min(least, one.of(plan));
        }
        if (one.limit > 0.0 && least > one.limit) {
            broken.push_back(fmt::format("the least {} is {}, the limit {}", one.what,
                                         reading_quantity(least, one.units, digits),
                                         reading_quantity(one.limit, one.units, digits)));
        }
    }
    return broken.empty() ? "no plan of the front keeps the limits together; raise one of them"
                          : fmt::format("no plan of the front keeps the limits: {}", fmt::join(broken, "; "));
}

/// The cluster of a plan; empty where the space does not choose it.
std::string cluster_of(const FrontPoint& plan, const Results& results)
{
    for (const VariantChoice& choice : variant_choices(results)) {
        if (choice.name == "cluster") {
            return choice.at(plan.point);
        }
    }
    return "";
}

std::vector<MachineAnswer> other_machines(const QuestionAnswer& answer, const Results& results)
{
    if (!answer.shown()) {
        return {};
    }
    std::map<std::string, std::vector<QuestionedPlan>> by_machine;
    for (const QuestionedPlan& plan : answer.plans) {
        by_machine[cluster_of(*plan.plan, results)].push_back(plan);
    }
    by_machine.erase(cluster_of(*answer.shown()->plan, results));
    std::vector<MachineAnswer> machines;
    for (const auto& [machine, plans] : by_machine) {
        const auto answers = [](const QuestionedPlan& p) { return p.within_limits && p.in_time; };
        const auto any = [](const QuestionedPlan&) { return true; };
        const auto best = least(plans, answers, amount_then_cost);
        const auto surest = least(plans, any, [](const QuestionedPlan& p) { return 1.0 - p.probability; });
        machines.push_back({machine, best ? *best : *surest});
    }
    return machines;
}

}  // namespace

double power_of(const Prediction& prediction)
{
    const double mean_w = prediction.run.energy_j.value / prediction.training.mean.value;
    return prediction.run.power_w > 0.0 ? prediction.run.power_w : mean_w;
}

std::string electricity_words(const Prediction& prediction, const StudyNotes& notes)
{
    const double dollars = prediction.run.electricity_usd.value;
    return dollars > 0.0 ? fmt::format(" (electricity {}{})", reading_quantity(dollars, "USD"),
                                       placeholder_words(notes.electricity_origin, "price"))
                         : "";
}

Seconds asked_limit(const StudyNotes& notes)
{
    const Seconds asked = notes.question ? time_limit(*notes.question, notes.start) : Seconds{};
    return asked.si > 0.0 ? asked : notes.deadline;
}

std::string exact_risk_text(const FrontPoint& plan, const StudyNotes& notes)
{
    const Seconds limit = asked_limit(notes);
    if (limit.si == notes.deadline.si) {
        const Estimate& drawn = plan.prediction.run.miss_probability;
        return std::isfinite(drawn.value) ? probability_text(drawn) : "";
    }
    const auto risk = deadline_risk(plan.prediction.training, limit, ModelError{});
    return risk ? risk_with_error_text(*risk) : "";
}

std::optional<QuestionAnswer> answer_to(const Question& question, const Results& results,
                                        const StudyNotes& notes)
{
    const std::vector<FrontPoint>& front = results.front;
    if (front.empty() || !notes.ranked_placeholder.empty() ||
        !std::all_of(front.begin(), front.end(), has_table)) {
        return std::nullopt;
    }
    QuestionAnswer answer;
    answer.limit = time_limit(question, notes.start);
    answer.model_error = question.model_error && std::all_of(front.begin(), front.end(), has_model_error);
    const bool promised = notes.searched && equal_promises(*notes.searched, question);
    const auto has_promise = [](const FrontPoint& plan) {
        return std::isfinite(plan.prediction.promised.value);
    };
    answer.searched =
        looked_for(notes.searched, question, notes) && std::all_of(front.begin(), front.end(), has_promise);
    std::vector<QuestionedPlan>& plans = answer.plans;
    for (const FrontPoint& plan : front) {
        plans.push_back(questioned(plan, question, answer, promised));
    }
    using Plan = QuestionedPlan;
    const auto risk = [](const Plan& p) { return 1.0 - p.probability; };
    const auto in_time = [](const Plan& p) { return p.in_time; };
    answer.best = least(
        plans, [&](const Plan& p) { return p.within_limits && in_time(p); }, amount_then_cost);
    answer.surest = least(
        plans, [](const Plan& p) { return p.within_limits; }, risk);
    if (answer.best) {
        const auto elsewhere = [&, best = *answer.best](const Plan& p) {
            const bool differs = p.plan->prediction.gpus != best.plan->prediction.gpus ||
                                 cluster_of(*p.plan, results) != cluster_of(*best.plan, results);
            return p.within_limits && differs;
        };
        const auto smaller = [best = *answer.best](const Plan& p) {
            return p.amount < best.amount || p.plan->prediction.gpus < best.plan->prediction.gpus;
        };
        const auto too_late = [&](const Plan& p) { return elsewhere(p) && !in_time(p) && smaller(p); };
        answer.next = least(
            plans, [&](const Plan& p) { return elsewhere(p) && in_time(p); }, amount_then_cost);
        answer.not_enough = least(plans, too_late, risk);
    }
    if (answer.shown()) {
        answer.doubt = largest_doubt(*answer.shown()->plan);
    }
    answer.machines = other_machines(answer, results);
    answer.minimised = std::any_of(
        results.objectives.begin(), results.objectives.end(), [&](const ObjectiveInfo& objective) {
            const Aim& aim = row_of(question.minimise);
            return objective.name == aim.objective || objective.name.starts_with(aim.or_these);
        });
    return answer;
}

std::vector<QuestionLine> question_lines(const Results& results, const StudyNotes& notes)
{
    if (!notes.ranked_placeholder.empty()) {
        return {{"Question", "not answered: " + notes.ranked_placeholder}};
    }
    const auto answer = notes.question ? answer_to(*notes.question, results, notes) : std::nullopt;
    if (!answer) {
        return {};
    }
    const Question& question = *notes.question;
    const auto text = [&](const QuestionedPlan& plan) {
        return plan_text(plan, question, *answer, results, notes);
    };
    const auto with_time = [&](const QuestionedPlan& plan) {
        return text(plan) + (answer->limit.si > 0.0 ? "; " + in_time_text(plan, question, notes) : "");
    };
    std::vector<QuestionLine> lines{{"Question", asked_text(question, *answer)}};
    if (answer->best) {
        lines.push_back({"answer", with_time(*answer->best)});
    } else if (answer->surest) {
        lines.push_back(
            {"answer", "no plan of the front is probable enough; the surest: " + with_time(*answer->surest)});
    } else {
        lines.push_back({"answer", broken_limits_text(question, *answer)});
    }
    if (const std::string beyond = answer->best ? "" : beyond_limits_text(question, *answer, text);
        !beyond.empty()) {
        lines.push_back({"beyond a limit", beyond});
    }
    if (answer->next) {
        lines.push_back({"next best", text(*answer->next)});
    }
    if (answer->not_enough) {
        lines.push_back({"not enough", text(*answer->not_enough)});
    }
    for (const MachineAnswer& other : answer->machines) {
        lines.push_back({"with " + other.machine, text(other.plan)});
    }
    if (answer->shown()) {
        lines.push_back({"largest doubt", doubt_text(*answer, *answer->shown()->plan, notes)});
    }
    if (const std::string sizes = sizes_text(results); !sizes.empty()) {
        lines.push_back({"sizes tried", sizes});
    }
    if (!answer->searched) {
        lines.push_back({"note", not_searched_text(notes)});
    }
    if (!answer->minimised) {
        lines.push_back({"note", fmt::format("this study does not minimise {0}, so plans off its front may "
                                             "have less; add it to minimise in "
                                             "[objectives], and search again",
                                             row_of(question.minimise).what)});
    }
    return lines;
}

}  // namespace prismopt
