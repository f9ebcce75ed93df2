#include "optimizer/api/plans.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/gpu_price.hpp"
#include "io/scenario/variants.hpp"
#include "io/words/infeasible_text.hpp"
#include "optimizer/preview/space_estimate.hpp"
#include "optimizer/space/spread_ranges.hpp"
#include "optimizer/study/stored_study.hpp"
#include "optimizer/study/study_plan.hpp"
#include "optimizer/study/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace prismopt {

namespace {

constexpr std::uint64_t first_ranges = 64;  // for a first feasible plan

/// The scenario whose only variant is that of these values.
Scenario with_variant(Scenario scenario, const ChosenValues& values, Variant variant)
{
    scenario.numerics.loss_gap.clear();  // the phases have its tokens
    scenario.local_updates = {.published = false, .given = std::move(variant.local)};
    static_cast<Job&>(scenario) = std::move(variant);
    scenario.variants = {values};
    return scenario;
}

/// The value that [cluster] and [reliability] have of a hardware parameter, as a word of a design.
std::string word_as_written(const StudyChoice& choice, const Scenario& scenario)
{
    const double value = value_of(*choice.hardware, Hardware{scenario.cluster, scenario.reliability});
    return value_text(choice, HardwareLevel{value});
}

/// Takes the words that name choices out of a design, in the order of the choices:
/// "variant node.bandwidth=900GB/s". With some of them, hardware parameters that are not
/// named have the values of the scenario.
std::string extract_variant_words(std::string& design, const Scenario& scenario)
{
    std::vector<std::string> chosen_words(scenario.choices.size());
    std::string rest;
    std::istringstream words(design);
    for (std::string word; words >> word;) {
        const std::string name = word.substr(0, word.find('='));
        const auto choice = std::find_if(scenario.choices.begin(), scenario.choices.end(),
                                         [&](const StudyChoice& one) { return one.name == name; });
        if (choice != scenario.choices.end()) {
            std::string& own = chosen_words[static_cast<std::size_t>(choice - scenario.choices.begin())];
            own += (own.empty() ? "" : " ") + word;
        } else if (word != "variant" &&
                   word != "hardware") {  // the name of the axis, now and in older reports
            rest += (rest.empty() ? "" : " ") + word;
        }
    }
    design = rest;
    const bool names_some =
        std::ranges::any_of(chosen_words, [](const std::string& word) { return !word.empty(); });
    std::string variant;
    for (std::size_t k = 0; k < chosen_words.size(); ++k) {
        if (chosen_words[k].empty() && names_some && scenario.choices[k].hardware) {
            chosen_words[k] = word_as_written(scenario.choices[k], scenario);
        }
        if (!chosen_words[k].empty()) {
            variant += (variant.empty() ? "" : " ") + chosen_words[k];
        }
    }
    return variant;
}

}  // namespace

InfeasiblePlan infeasible_point(std::uint64_t number, const Infeasible& why)
{
    return {why, fmt::format("--point {} is infeasible in this study: {}; choose another point", number,
                             infeasible_text(why))};
}

ChosenPlan plan_with(const Scenario& as_written, const std::string& words)
{
    std::string design = words;
    ChosenPlan chosen{.scenario = as_written, .plan = {}, .variant = {}, .price = gpu_price_text(as_written)};
    const std::string first = variant_text(as_written.choices, as_written.variants.front());
    chosen.variant = extract_variant_words(design, as_written);
    if (chosen.variant.empty() && as_written.variants.size() == 1) {
        chosen.variant = first;
    }
    const bool several = as_written.workloads.size() > 1 || as_written.machines.size() > 1;
    if (several && chosen.variant.empty()) {
        throw InputError(
            fmt::format("plan: the scenario has several networks or clusters; name one, and a value for each "
                        "[[knob]], for example {}",
                        first));
    }
    if (!chosen.variant.empty()) {
        const auto values = variant_values(as_written.choices, chosen.variant);
        if (!values) {
            throw InputError(fmt::format(
                "plan: {} is not a variant of this study; give the value of each choice, as reports "
                "print them, for example {} ([[knob]]s that are not given have the value of "
                "[cluster])",
                chosen.variant, first));
        }
        const auto judged = variant_or_reason(as_written, *values);
        if (const auto* why = std::get_if<Infeasible>(&judged)) {
            throw InputError(fmt::format("plan: this variant is excluded: {}",
                                         excluded_text({.why = *why, .first = chosen.variant})));
        }
        const auto& variant = std::get<Variant>(judged);
        chosen.price = gpu_price_text(as_written, variant.cluster);
        chosen.longer = variant.longer;
        chosen.scenario = with_variant(as_written, *values, variant);
    }
    chosen.plan = parsed_plan(design, chosen.scenario);
    chosen.scenario.gives_order =
        chosen.scenario.gives_order || states_axis(design, "order", chosen.scenario);
    return chosen;
}

ParallelPlan parsed_plan(const std::string& words, const Scenario& scenario)
{
    const ParallelPlan plan = parse_design(words, scenario);
    if (plan.local_steps > 1 && !scenario.local_updates.stated()) {
        throw InputError(
            fmt::format("local_steps={} needs its price in tokens: list it in [space], and add "
                        "[local_updates] with loss_gap or "
                        "more_tokens (docs/learning.md)",
                        plan.local_steps));
    }
    return plan;
}

ChosenPlan plan_at(const Results& results, std::optional<std::int64_t> number)
{
    StoredStudy study(results);
    const Point point = study.space().point(point_number(results, study, number));
    const Scenario& scenario = study.scenario();
    ChosenPlan chosen{
        .scenario = scenario, .plan = study.plan(point), .variant = {}, .price = gpu_price_text(scenario)};
    if (!scenario.choices.empty()) {
        const ChosenValues& at = study.chosen_values(point);
        const auto variant = variant_at(scenario, at);
        chosen.variant = variant_text(scenario.choices, at);
        chosen.price = gpu_price_text(scenario, variant->cluster);
        chosen.longer = variant->longer;
        chosen.scenario = with_variant(scenario, at, *variant);
    }
    return chosen;
}

std::vector<PlanInSpace> feasible_plans(const Scenario& scenario, std::size_t most, const Pause& pause)
{
    const StudyModel model(scenario);
    Worker worker(model, pause);
    const Space& space = model.designs.space();
    constexpr std::uint64_t at_once = 4096;
    std::vector<PlanInSpace> plans;
    for (std::uint64_t begin = 0; begin < space.size() && plans.size() < most; begin += at_once) {
        const Sweep sweep = worker.sweep(
            {.begin = begin, .end = std::min(begin + at_once, space.size()), .within_limits = false});
        for (const Bound& bound : sweep.feasible) {
            if (plans.size() < most) {
                const Point point = space.point(bound.index);
                const ParallelPlan plan = model.designs.plan(point);
                const std::string words = model.designs.variant_words(point);
                const std::string design = design_text(plan, scenario.space);
                plans.push_back({.number = bound.index,
                                 .plan = plan,
                                 .design = words.empty() ? design : words + " " + design,
                                 .bounds = bound.objectives});
            }
        }
    }
    return plans;
}

std::uint64_t PlanCount::in_all(std::uint64_t seen) const
{
    const double scale = static_cast<double>(combinations) / static_cast<double>(examined);
    return whole() ? seen : static_cast<std::uint64_t>(std::llround(scale * static_cast<double>(seen)));
}

PlanCount count_plans(const Scenario& scenario, const Pause& pause)
{
    const StudyModel model(scenario);
    PlanCount count;
    count.combinations = model.designs.space().size();
    Archive archive;
    Worker worker(model, pause);
    for (const SweepRange& range : spread_ranges(count.combinations, most_examined_whole)) {
        archive.add(std::vector<Answer>{worker.count(range)});
        count.examined += range.end - range.begin;
    }
    count.feasible = archive.feasible();
    count.rejected = archive.rejected();
    if (count.feasible > 0) {
        return count;
    }
    if (count.whole()) {
        refuse_infeasible(scenario, archive);
    }
    // Combinations spread over a large space may miss all feasible plans; random branches that the
    // rules allow find more of them.
    const SpaceEstimate estimate = estimate_space(model, pause);
    const bool found = estimate.found_feasible();
    count.sample = {.feasible = estimate.feasible.value,
                    .judged = estimate.judged,
                    .found = found,
                    .share_below = found ? 0.0 : estimate.share_below(),
                    .text = found ? "" : none_found_text(estimate)};
    return count;
}

int fleets_for(int draws, int steps)
{
    const int block = steps * block_fleets;
    return (draws + block - 1) / block * block_fleets;
}

std::string first_check(const Scenario& scenario)
{
    const StudyModel model(scenario);
    Archive archive;
    Worker worker(model, [] {});
    for (const SweepRange& range : split_space(model.designs.space().size(), first_ranges)) {
        archive.add(std::vector<Answer>{worker.count(range)});
        if (archive.feasible() > 0) {
            return "";
        }
    }
    return infeasible_text(scenario, archive);
}

}  // namespace prismopt
