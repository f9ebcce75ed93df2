#include "optimizer/study/study_plan.hpp"

#include "io/base/input_error.hpp"
#include "io/report/space_counts.hpp"
#include "io/scenario/figure_origin.hpp"
#include "io/scenario/variants.hpp"
#include "io/words/infeasible_text.hpp"
#include "io/words/rejected_text.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/scenario_log.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/batch_advice.hpp"
#include "optimizer/study/machine_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace prismopt {

namespace {

StudyGoal goal_of(const StudyModel& model, std::size_t rungs)
{
    StudyGoal goal;
    goal.objectives = model.objectives.size();
    goal.top_rung = static_cast<int>(rungs);
    goal.confidence = model.confidence();
    goal.space_part = static_cast<std::uint64_t>(model.scenario.search.space_part);
    goal.space_parts = static_cast<std::uint64_t>(model.scenario.search.space_parts);
    goal.bounded = model.bounded;
    goal.limited = model.limits.size();
    goal.seed = model.scenario.seed;
    goal.max_evaluations = model.scenario.search.max_evaluations;
    if (model.near_objective) {
        goal.near_objective = *model.near_objective;
        goal.region = [&model](std::uint64_t index) { return model.region(index); };
    }
    if (!model.scenario.served.empty()) {
        goal.alternatives = alternatives_of(model);
    }
    return goal;
}

/// By reason: the first plan of the space that breaks this rule, and how. Few plans are looked at, and rules
/// of trainers are not explained.
std::map<std::string, std::string> broken_rules(const Scenario& scenario, const Archive& archive)
{
    constexpr std::uint64_t most_plans = 100'000;
    std::set<std::string> unexplained;
    for (const Rejected& rejected : archive.rejected()) {
        if (rejected.count > 0 && rejected.nearest.empty()) {
            unexplained.insert(rejected.reason);
        }
    }
    std::map<std::string, std::string> found;
    const DesignMap designs(scenario);
    const std::uint64_t end = std::min(most_plans, designs.space().size());
    std::map<std::size_t, std::optional<Variant>> jobs;
    for (std::uint64_t index = 0; index < end && found.size() < unexplained.size(); ++index) {
        const Point point = designs.space().point(index);
        const std::size_t variant = designs.variant(point);
        const auto [job, is_new] = jobs.emplace(variant, std::nullopt);
        if (is_new) {
            job->second = variant_at(scenario, scenario.variants[variant]);
        }
        const ParallelPlan plan = designs.plan(point);
        const auto broken = structural_problem(plan, *job->second);
        if (broken && unexplained.contains(broken->category())) {
            found.emplace(broken->category(),
                          fmt::format("{} ({})", detail_text(*broken), design_text(plan)));
        }
    }
    return found;
}

/// Whether all combinations that are plans break one rule.
bool only_for(Reason reason, const Archive& archive)
{
    bool found = false;
    for (const Rejected& rejected : archive.rejected()) {
        if (rejected.count > 0 && !names_no_plan(rejected.reason)) {
            if (!is_of(rejected.reason, reason)) {
                return false;
            }
            found = true;
        }
    }
    return found;
}

/// The phase that all of these reasons are of; empty: there is none, or it is the first.
std::string later_phase(const std::vector<Rejected>& rejected)
{
    std::set<int> phases;
    for (const Rejected& reason : rejected) {
        if (reason.count > 0 && !names_no_plan(reason.reason)) {
            phases.insert(phase_of(reason.reason));
        }
    }
    return phases.size() == 1 && *phases.begin() > 1 ? fmt::format("phase {}", *phases.begin()) : "";
}

/// What takes less memory of a GPU; a single one shares the model with no other.
std::string memory_advice(const std::vector<int>& gpus)
{
    const bool alone = std::all_of(gpus.begin(), gpus.end(), [](int count) { return count == 1; });
    if (alone) {
        return "\ntry recompute, offload, a smaller microbatch, more GPUs, or an accelerator with more "
               "memory";
    }
    return "\ntry larger tp or pp, recompute, sharding or offload, a smaller microbatch, more GPUs, or an "
           "accelerator with more memory";
}

/// The rungs, with others between them that have `factor` times the fleets of the one before. A strategy
/// without lower bounds halves: it uses the first and the last one.
std::vector<Rung> rungs_of(const StrategyFacts& strategy, std::vector<Rung> rungs)
{
    const int factor = strategy.rungs_between;
    if (!strategy.excludes && rungs.size() > 1) {
        rungs = {rungs.front(), rungs.back()};
    }
    std::vector<Rung> all{rungs.front()};
    for (std::size_t next = 1; next < rungs.size(); ++next) {
        while (factor * all.back().fleets < rungs[next].fleets) {
            all.push_back({factor * all.back().fleets, all.back().steps});
        }
        all.push_back(rungs[next]);
    }
    return all;
}

/// Machines are compared by bounds of their best plans.
void refuse_incomparable_machines(const StudyModel& model)
{
    if (model.scenario.served.empty()) {
        return;
    }
    if (model.scenario.search.space_parts > 1) {
        throw InputError(fmt::format(
            "{}: --part divides the machines of [[workloads]], each of which is compared with all others; "
            "search them as one",
            model.scenario.path));
    }
    if (!model.bounded.front()) {
        throw InputError(
            fmt::format("{}: {} has no lower bound, by which [[workloads]] compares machines (a rare slow "
                        "mode raises means "
                        "above quantiles); "
                        "minimise a mean, as with expected_cost, or change [variability]",
                        model.scenario.path, model.objectives.front()->name));
    }
}

}  // namespace

void refuse_ranked_placeholders(const Scenario& scenario)
{
    if (const std::string refusal = ranked_placeholder(scenario); !refusal.empty()) {
        throw InputError(fmt::format("{}: {}", scenario.path, refusal));
    }
}

StudyPlan plan_study(const StudyModel& model)
{
    refuse_ranked_placeholders(model.scenario);
    refuse_incomparable_machines(model);
    const SearchSettings& search = model.scenario.search;
    const Space& space = model.designs.space();
    ChosenStrategy chosen = make_strategy(search.strategy, space, goal_of(model, search.rungs.size()));
    std::vector<Rung> rungs = rungs_of(facts_of_strategy(chosen.name), search.rungs);
    chosen.strategy = make_strategy(chosen.name, space, goal_of(model, rungs.size())).strategy;
    log_notes(model.scenario);
    for (std::size_t k = 0; k < model.objectives.size(); ++k) {
        if (model.objectives[k]->bound == nullptr) {
            log_warning(
                fmt::format("{} has no lower bound, so no plan can be excluded before it is evaluated",
                            model.objectives[k]->name));
        } else if (!model.bounded[k]) {
            log_warning(
                fmt::format("{} is searched without lower bounds: a rare slow mode raises the mean of a "
                            "distribution above that quantile",
                            model.objectives[k]->name));
        }
    }
    return {std::move(chosen), std::move(rungs)};
}

std::unique_ptr<Strategy> strategy_without_limits(const StudyModel& model, const std::string& name,
                                                  std::size_t rungs)
{
    StudyGoal goal = goal_of(model, rungs);
    goal.limited = 0;
    return make_strategy(name, model.designs.space(), goal).strategy;
}

std::unique_ptr<Strategy> search_of_doubtful(const StudyModel& model, std::vector<SweepRange> ranges,
                                             std::size_t rungs)
{
    constexpr std::uint64_t most_evaluations = 4096;  // an assumption: a list of trials needs no more
    StudyGoal goal = goal_of(model, rungs);
    goal.region = {};
    // the share of the memory that plans take: those that fit with a higher probability are of interest, too
    ++goal.objectives;
    goal.bounded.push_back(true);
    goal.max_evaluations =
        goal.max_evaluations > 0 ? std::min(goal.max_evaluations, most_evaluations) : most_evaluations;
    return exact_search_of(std::move(ranges), goal);
}

std::string infeasible_text(const Scenario& scenario, const Archive& archive)
{
    const SpaceCounts counts = space_counts(0, archive.rejected());
    if (counts.examined == 0) {  // a strategy that checks few plans
        return fmt::format(
            "{}: no feasible plan was found; --strategy exact checks all plans and counts the reasons why "
            "they are infeasible",
            scenario.path);
    }
    std::string text =
        fmt::format("{}: none of the {} combinations of values in [space] is a feasible plan:", scenario.path,
                    counts.examined);
    const std::map<std::string, std::string> broken = broken_rules(scenario, archive);
    bool memory = false;
    for (const Rejected& rejected : archive.rejected()) {
        if (rejected.count == 0 || (names_no_plan(rejected.reason) && counts.infeasible > 0)) {
            continue;
        }
        text += fmt::format("\n  {}: {} ({})", rejected.reason, rejected.count,
                            share_of(rejected.count, counts.examined));
        if (!rejected.nearest.empty()) {
            const bool bytes =
                rejected.miss > 0.0 &&
                is_of(rejected.reason, Reason::out_of_memory);  // other reasons have other units
            memory = memory || bytes;
            const std::string by =
                bytes ? fmt::format(" exceeds the memory by {:.2f} GB", rejected.miss / 1e9) : "";
            text += fmt::format("; the closest plan{}: {}", by, nearest_text(rejected));
        } else if (const auto example = broken.find(rejected.reason); example != broken.end()) {
            text += "; for example " + example->second;
        }
    }
    if (counts.infeasible > 0 && counts.not_plans > 0) {
        text += fmt::format(
            "\n  duplicate or undefined (the same plan under other values, or a schedule that is undefined "
            "for its values): {} "
            "({})",
            counts.not_plans, share_of(counts.not_plans, counts.examined));
    }
    if (memory) {
        return text + memory_advice(scenario.space.gpus);
    }
    const std::string phase = later_phase(archive.rejected());
    const std::string batches =
        phase.empty() && only_for(Reason::batch_and_replicas, archive) ? batch_advice(scenario) : "";
    if (!batches.empty()) {
        return text + "\nno number of replicas that [space] allows divides the batch; try " + batches +
               ", or degrees whose product leaves a divisor of the batch";
    }
    return text + (phase.empty() ? "\ntry more values in [space] that satisfy these rules"
                                 : "\ntry other numbers in [[phase]], " + phase +
                                       ", or more values in [space] that satisfy its rules");
}

void refuse_infeasible(const Scenario& scenario, const Archive& archive)
{
    throw NoFeasiblePlan(infeasible_text(scenario, archive));
}

std::string added_fleets_text(int fleets)
{
    return fmt::format(
        "draws {} fleets per incumbent: their upper confidence limits need more than the last rung provides",
        fleets);
}

}  // namespace prismopt
