#include "optimizer/api/shortlist.hpp"

#include "io/base/aligned.hpp"
#include "io/base/json_number.hpp"
#include "io/base/percent.hpp"
#include "io/toml/reading_units.hpp"
#include "optimizer/study/plan_posterior.hpp"
#include "search/near_bounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace prismopt {

namespace {

using Json = nlohmann::ordered_json;

/// Plans that may not fit into memory.
std::string doubtful_text(const PlanShortlist& list)
{
    const std::string required = chance_text(list.required_fit);
    if (list.none_fits) {
        return fmt::format("; none of them fits into memory with {}, so plans that may not fit are listed",
                           required);
    }
    const std::vector<DoubtfulPlan>& excluded = list.excluded_by_memory;
    if (excluded.empty()) {
        return "";
    }
    constexpr std::size_t most_named = 5;
    std::vector<std::string> names;
    for (const DoubtfulPlan& plan : excluded) {
        if (names.size() < most_named) {
            names.push_back(fmt::format("{} ({})", plan.point, chance_text(plan.chance_fits)));
        }
    }
    return fmt::format(
        ", without {} that {} into memory with less than {}: {}{}", excluded.size(),
        excluded.size() == 1 ? "fits" : "fit", required, fmt::join(names, ", "),
        excluded.size() > most_named ? fmt::format(" and {} more", excluded.size() - most_named) : "");
}

std::string list_text(const PlanShortlist& list, const Shortlists& all)
{
    double largest = 0.0;
    for (const ShortlistedPlan& plan : list.plans) {
        largest = std::max(largest, plan.value);
    }
    const ReadingUnit unit = reading_unit(all.objective.units, largest);
    std::vector<std::vector<std::string>> rows{{"point", "plan", unit.name, "with model error", "best %",
                                                "constants %", "cover %", "regret %", "after %", "fits %",
                                                "step, s", "steps"}};
    for (const ShortlistedPlan& plan : list.plans) {
        const std::size_t equivalents = plan.equivalents.size();
        rows.push_back({std::to_string(plan.point),
                        plan.plan +
                            (equivalents > 0 ? fmt::format(" (and {} equivalent)", equivalents) : "") +
                            (plan.measured ? ", measured" : ""),
                        fmt::format("{}{:.4g}", plan.drawn ? "" : "~", plan.value / unit.size),
                        fmt::format("{:.4g} ({:.4g} to {:.4g})", plan.median / unit.size,
                                    plan.low / unit.size, plan.high / unit.size),
                        chance_figure(plan.chance_best), chance_figure(plan.chance_best_by_constants),
                        chance_figure(plan.cover), percent_figure(plan.expected_regret),
                        percent_figure(plan.regret_after_measuring), chance_figure(plan.chance_fits),
                        fmt::format("{:.4g}", plan.step_s), std::to_string(plan.steps_to_measure)});
    }
    const std::size_t listed = list.plans.size();
    std::string why = fmt::format("the smallest set that contains the best plan with probability {}",
                                  relative_text(all.request.cover));
    if (all.request.most > 0) {
        why = listed == 1
                  ? "the plan with the lowest expected regret"
                  : fmt::format("the {} plans with the lowest expected regret after measuring them", listed);
    }
    return fmt::format("\n{} GPUs: {}; plans within {} of the best: {}{}\n{}", list.gpus, why,
                       relative_text(near_best), list.contenders, doubtful_text(list), aligned(rows, 1));
}

const ShortlistedPlan& plan_to_use(const PlanShortlist& list)
{
    return *std::min_element(list.plans.begin(), list.plans.end(),
                             [](const ShortlistedPlan& a, const ShortlistedPlan& b) {
                                 return a.expected_regret < b.expected_regret;
                             });
}

std::string sentence_of(const PlanShortlist& list, const ShortlistedPlan& use, const Shortlists& all)
{
    const std::string text = fmt::format(
        "use plan {}, the best by {}{} with a probability of {}; it is {} above the best in the mean, and at "
        "most {} with 95 %, and fits into memory with {}{}",
        use.point, all.objective.long_name,
        list.excluded_by_memory.empty()
            ? ""
            : fmt::format(" of those that fit into memory with {}", chance_text(list.required_fit)),
        chance_text(use.chance_best), percent_text(use.expected_regret), percent_text(use.most_regret),
        chance_text(use.chance_fits),
        list.none_fits ? fmt::format(" (no plan near the best has the {} that the scenario asks for)",
                                     chance_text(list.required_fit))
                       : "");
    const auto measured = std::count_if(list.plans.begin(), list.plans.end(),
                                        [](const ShortlistedPlan& p) { return p.measured; });
    const auto listed = std::ssize(list.plans);
    const std::string gain =
        percent_text(std::max(0.0, use.expected_regret - list.plans.back().regret_after_measuring));
    if (listed == 1) {
        return text + ".\n";
    }
    if (measured == listed) {
        return text + fmt::format(
                          "; all listed plans are measured, and measuring them for longer gains at most {} "
                          "in the mean.\n",
                          gain);
    }
    const std::string again = measured > 0 ? fmt::format(", {} of them for longer,", measured) : "";
    return text +
           fmt::format("; measuring the {} listed plans{} gains {} in the mean.\n", listed, again, gain);
}

Json to_json(const ShortlistedPlan& plan)
{
    return {{"point", plan.point},
            {"plan", plan.plan},
            {"value", plan.value},
            {"median", plan.median},
            {"low", plan.low},
            {"high", plan.high},
            {"drawn", plan.drawn},
            {"equivalents", plan.equivalents},
            {"chance_best", plan.chance_best},
            {"chance_best_by_constants", plan.chance_best_by_constants},
            {"chance_fits", plan.chance_fits},
            {"expected_regret", plan.expected_regret},
            {"most_regret", plan.most_regret},
            {"cover", plan.cover},
            {"regret_after_measuring", plan.regret_after_measuring},
            {"step_s", plan.step_s},
            {"steps_to_measure", plan.steps_to_measure},
            {"measured", plan.measured}};
}

Json to_json(const MeasuredAndPredicted& plan)
{
    const MeasuredPlan& measured = plan.measured;
    const bool timed = measured.step_s > 0.0;
    const bool weighed = measured.memory_bytes > 0.0;
    return {{"point", measured.index},
            {"measured_s", timed ? Json(measured.step_s) : Json()},
            {"predicted_s", timed ? Json(plan.predicted_s) : Json()},
            {"out_of_memory", measured.out_of_memory},
            {"measured_memory_bytes", weighed ? Json(measured.memory_bytes) : Json()},
            {"predicted_memory_share", plan.memory_share},
            {"memory_ratio", weighed ? Json(plan.measured_memory_share / plan.memory_share) : Json()},
            {"prior_sigma", json_number<Json>(plan.prior_surprise)},
            {"surprise_sigma", json_number<Json>(plan.surprise)},
            {"memory_surprise_sigma", json_number<Json>(plan.memory_surprise)},
            {"variation", measured.variation},
            {"predicted_variation",
             plan.variation_high > 0.0 ? Json::array({plan.variation_low, plan.variation_high}) : Json()},
            {"left_out", plan.contradictory},
            {"own_plan_only", plan.own_plan_only}};
}

/// Fitted constants of the measured plans that the measurements moved, and the error
/// that all plans of a network share.
Json constants_json(const WhatWasLearned& learned)
{
    Json json{{"all_plans", Json::array()}, {"moved", Json::array()}};
    for (const NetworkFactor& of : learned.all_plans) {
        json["all_plans"].push_back(
            {{"network", of.network}, {"factor", of.factor}, {"deviation", of.deviation}});
    }
    for (const MovedConstant& moved : learned.moved) {
        json["moved"].push_back({{"constant", moved.constant},
                                 {"entries", moved.entries},
                                 {"factor", moved.factor},
                                 {"sigma", moved.sigma},
                                 {"surprising", moved.surprising}});
    }
    return json;
}

std::string surprise_text(double sigma, const char* why)
{
    return std::isfinite(sigma)
               ? fmt::format("{:+.1f} sigma{}", sigma, std::abs(sigma) <= surprising_sigma ? "" : why)
               : "";
}

/// Plans whose rows differ by more than repeated runs do.
std::string disagreeing_text(const WhatWasLearned& learned)
{
    std::map<std::uint64_t, std::pair<double, double>> ranges;  // by point: shortest and longest step
    for (const MeasuredAndPredicted& plan : learned.measured) {
        if (const double own = plan.measured.step_s; own > 0.0) {
            auto& range = ranges.try_emplace(plan.measured.index, std::pair{own, own}).first->second;
            range = {std::min(range.first, own), std::max(range.second, own)};
        }
    }
    const double repeat = learned.repeat_deviation;
    // four standard deviations of a difference
    const double largest = std::exp(4.0 * std::sqrt(2.0) * repeat);
    std::string text;
    for (const auto& [point, range] : ranges) {
        if (range.second > largest * range.first) {
            text += fmt::format(
                "The rows of {} differ by {}, but repeated runs by {} (standard deviation). Check them.\n",
                point, percent_text(range.second / range.first - 1.0, 0), percent_text(repeat));
        }
    }
    return text;
}

/// Steps that vary in another way than the scenario's variability says.
std::string unexplained_text(const WhatWasLearned& learned)
{
    std::string text;
    for (const MeasuredAndPredicted& plan : learned.measured) {
        const double own = plan.measured.variation;
        if (plan.variation_high > 0.0 && (own < plan.variation_low || own > plan.variation_high)) {
            text += fmt::format(
                "The steps of {} vary by {:.2f} % (coefficient of variation); the variability of the "
                "scenario gives {:.2f} to "
                "{:.2f} %.\n",
                plan.measured.index, 100.0 * own, 100.0 * plan.variation_low, 100.0 * plan.variation_high);
        }
    }
    return text;
}

/// The points of the rows of which a member is true.
std::string points_where(const WhatWasLearned& learned, bool MeasuredAndPredicted::*is)
{
    std::set<std::uint64_t> points;
    for (const MeasuredAndPredicted& plan : learned.measured) {
        if (plan.*is) {
            points.insert(plan.measured.index);
        }
    }
    return fmt::format("{}", fmt::join(points, ", "));
}

std::string table_text(const WhatWasLearned& learned)
{
    constexpr std::size_t most_rows = 50;
    const bool several = learned.measured.size() > 1;
    std::vector<std::vector<std::string>> rows{{"point", "measured, s", "predicted, s",
                                                "measured / predicted", "surprise",
                                                "memory measured / predicted", "surprise"}};
    for (const MeasuredAndPredicted& plan : learned.measured) {
        if (rows.size() > most_rows) {
            break;
        }
        const MeasuredPlan& measured = plan.measured;
        const bool ran = !measured.out_of_memory;
        rows.push_back(
            {std::to_string(measured.index), ran ? fmt::format("{:.4g}", measured.step_s) : "out of memory",
             ran ? fmt::format("{:.4g}", plan.predicted_s) : "",
             ran ? fmt::format("{:.3f}", measured.step_s / plan.predicted_s) : "",
             surprise_text(plan.surprise, several ? " (unlike the others)" : " (not as predicted)"),
             measured.memory_bytes > 0.0
                 ? fmt::format("{:.3f}", plan.measured_memory_share / plan.memory_share)
                 : fmt::format("predicted: {} of the capacity", percent_text(plan.memory_share, 0)),
             surprise_text(plan.memory_surprise, " (not as predicted)")});
    }
    const std::size_t more = learned.measured.size() + 1 - rows.size();
    return aligned(rows, 0) + (more > 0 ? fmt::format("and {} more (--json lists them)\n", more) : "");
}

}  // namespace

std::string measured_text(const WhatWasLearned& learned)
{
    std::string text = table_text(learned) + unexplained_text(learned) + disagreeing_text(learned);
    if (const std::string points = points_where(learned, &MeasuredAndPredicted::contradictory);
        !points.empty()) {
        text += fmt::format(
            "Excluded, because they contradict the other measurements by more than 4 sigma: {}. Measure them "
            "again: a second row "
            "confirms the first.\n",
            points);
    }
    if (const std::string points = points_where(learned, &MeasuredAndPredicted::own_plan_only);
        !points.empty()) {
        text += fmt::format(
            "Used for their own plan only, because they contradict the other measurements by more than 4 "
            "sigma, but a second row "
            "confirms them: {}\n",
            points);
    }
    for (const NetworkFactor& of : learned.all_plans) {
        text += fmt::format(
            "All plans of {} take {:.3f} times as long as the catalog's constants predict (+- {}).\n",
            of.network, of.factor, percent_text(of.deviation));
    }
    for (const MovedConstant& moved : learned.moved) {
        text += fmt::format("{}{} of {}: {:.3f} times the catalog's value ({:+.1f} sigma)\n",
                            moved.surprising ? "Surprising: " : "", moved.constant,
                            fmt::join(moved.entries, ", "), moved.factor, moved.sigma);
    }
    return text + "\n";
}

std::string shortlist_json(const Shortlists& all, const WhatWasLearned* learned)
{
    Json json{{"format", learned != nullptr ? "prismopt learn" : "prismopt shortlist"},
              {"format_version", 1},
              {"study", all.study},
              {"objective", all.objective.name},
              {"units", all.objective.units},
              {"draws", posterior_draws},
              {"precision", all.request.precision},
              {"linearisation_error", all.linearisation_error},
              {"shortlists", Json::array()}};
    for (const PlanShortlist& list : all.lists) {
        Json one{{"gpus", list.gpus},
                 {"contenders", list.contenders},
                 {"required_fit", list.required_fit},
                 {"excluded_by_memory", Json::array()},
                 {"none_fits", list.none_fits},
                 {"plans", Json::array()}};
        for (const DoubtfulPlan& plan : list.excluded_by_memory) {
            one["excluded_by_memory"].push_back(
                {{"point", plan.point}, {"value", plan.value}, {"chance_fits", plan.chance_fits}});
        }
        for (const ShortlistedPlan& plan : list.plans) {
            one["plans"].push_back(to_json(plan));
        }
        json["shortlists"].push_back(std::move(one));
    }
    if (learned != nullptr) {
        json["measured"] = Json::array();
        for (const MeasuredAndPredicted& plan : learned->measured) {
            json["measured"].push_back(to_json(plan));
        }
        json["repeat_deviation"] = learned->repeat_deviation;
        json["constants"] = constants_json(*learned);
    }
    return json.dump(1);
}

std::string verdict_text(const Shortlists& all)
{
    std::string each;
    const PlanShortlist* best = nullptr;
    const ShortlistedPlan* use = nullptr;
    for (const PlanShortlist& list : all.lists) {
        if (list.plans.empty()) {
            continue;
        }
        const ShortlistedPlan& here = plan_to_use(list);
        each += fmt::format("{} GPUs: {}", list.gpus, sentence_of(list, here, all));
        const bool better = use == nullptr ||
                            std::pair(list.none_fits, here.median) < std::pair(best->none_fits, use->median);
        if (better) {
            best = &list;
            use = &here;
        }
    }
    if (use == nullptr) {
        return each;
    }
    const std::string one = fmt::format("On {} GPUs: {}", best->gpus, sentence_of(*best, *use, all));
    return all.lists.size() > 1 ? "Of all numbers of GPUs: on" + one.substr(2) + each : one;
}

std::string shortlist_text(const Shortlists& all)
{
    std::string text = fmt::format(
        "Plans of {} that may be the best by {},\ngiven the model error ({} draws; the linear approximation "
        "in the fitted "
        "constants has an error of at most {}).\n",
        all.study, all.objective.long_name, posterior_draws, percent_text(all.linearisation_error));
    for (const PlanShortlist& list : all.lists) {
        text += list_text(list, all);
    }
    return text + fmt::format(
                      "\nwith model error: median and 90 % interval, without the error that all plans share "
                      "until one is "
                      "measured. equivalent:\n"
                      "plans within {} of this one in every draw, which count as one with it. best: "
                      "probability of being "
                      "the best;\n"
                      "constants: the same by the error of the fitted constants alone. cover: probability "
                      "that the best plan is "
                      "this one\n"
                      "or one above it. regret: expected excess over the best plan. after: expected regret "
                      "after measuring this "
                      "plan and\n"
                      "those above, and using the fastest. fits: probability of fitting into memory. step: "
                      "predicted mean. "
                      "steps: number\n"
                      "of steps to measure for a mean accurate to {}. ~: estimated from the plan's bound, "
                      "not drawn.\n",
                      relative_text(equivalent_difference), relative_text(all.request.precision, 2));
}

}  // namespace prismopt
