#include "optimizer/space/dry_run.hpp"

#include "io/report/space_counts.hpp"
#include "optimizer/space/rehearsal.hpp"
#include "optimizer/space/space_estimate.hpp"
#include "optimizer/study/codesign.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/study_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

namespace prismopt {

namespace {

constexpr std::uint64_t most_looked_at = 10'000'000;

double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string hours(double core_seconds) { return fmt::format("{:.3g} core-hours", core_seconds / 3600.0); }

std::string strategy_text(const StudyModel& model, const StudyPlan& plan)
{
    std::string text = fmt::format("strategy {}{}\n", plan.chosen.name, plan.chosen.why.empty() ? "" : ": " + plan.chosen.why);
    if (tunes_hardware(model.scenario)) {
        text += fmt::format(
            "hardware tuning runs first: up to {} evaluations, which add hardware variants that are not counted below\n",
            grouped(most_tuning_evaluations(model.scenario)));
    }
    return text;
}

bool sweeps(const StudyPlan& plan) { return plan.chosen.name == "exact" || plan.chosen.name == "racing"; }

/// Cost of an exhaustive strategy before the first draw. `sweep_s`: processor time for the whole space.
std::string sweep_text(const std::string& sweep_s, double feasible)
{
    const double kept = std::min(feasible, static_cast<double>(most_kept_bounds));
    return fmt::format(
        "lower bounds of the whole space: {}\nmemory of rank 0: {:.2g} GB for lower bounds ({:.3g} plans, at most {}), and the "
        "draws\n",
        sweep_s, kept * bytes_of_bound / 1e9, kept, grouped(most_kept_bounds));
}

std::string expected_text(const char* at_least, const Estimated& looking_s, const Estimated& draws,
                          const std::vector<double>& costs)
{
    const Estimate draw_s = mean_estimate(costs, {}, {});
    const double least_s = std::max(0.0, draw_s.low);
    return fmt::format(
        "expected: {}{} to {} ({:.3g} to {:.3g} us per step draw: 95 % confidence interval of the mean of {} measurements)\n",
        at_least, hours(looking_s.low + draws.low * least_s), hours(looking_s.high + draws.high * draw_s.high), 1e6 * least_s,
        1e6 * draw_s.high, costs.size());
}

constexpr const char* not_known_text =
    "unknown: how far the other plans lie above their lower bounds; the rehearsal assumes that they behave like the plans drawn "
    "here\n";

/// Cost of the strategy, rehearsed on the whole space. `tuple_s`: time to check one combination.
std::string rehearsed_text(const StudyModel& model, StudyPlan plan, const std::vector<Bound>& bounds, double feasible,
                           double tuple_s, const Pause& pause)
{
    std::string text;
    const std::size_t rungs = plan.rungs.size();
    const DrawnSample sample = draw_sample(model, bounds, static_cast<std::uint64_t>(feasible), plan.rungs, pause);
    const Rehearsal found = rehearse(model, std::move(plan), sample, pause);
    const char* at_least = found.ended ? "" : "at least ";
    text += fmt::format("{}{} plans evaluated at the first rung, {} at the top rung, a front of {} confirmed: {:.3g} draws\n",
                        at_least, found.plans.front(), found.plans[rungs - 1], found.front, found.draws);
    const double looking_s = tuple_s * static_cast<double>(found.looked_at);
    return text +
           expected_text(at_least, {looking_s, looking_s, looking_s}, {found.draws, found.draws, found.draws},
                         draw_costs(model, found, pause)) +
           not_known_text;
}

/// Number of feasible plans that the upper confidence limits of the best plans do not exclude; an exhaustive strategy draws
/// these.
Estimated left_to_draw(const StudyModel& model, const SpaceEstimate& estimate, const std::vector<Bound>& best,
                       const std::vector<Rung>& rungs, std::vector<Bound>& left, const Pause& pause)
{
    const DrawnSample sample = draw_sample(model, best, static_cast<std::uint64_t>(estimate.feasible.value), rungs, pause);
    std::vector<std::vector<double>> limits;
    for (const Bound& bound : best) {
        limits.push_back(bound.objectives);
        for (std::size_t k = 0; k < bound.objectives.size(); ++k) {
            std::vector<double> ratios;
            for (const DrawnSample::Plan& plan : sample.plans) {
                ratios.push_back(plan.objectives[k].safe_high / plan.bound[k]);
            }
            std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
            limits.back()[k] *= ratios[ratios.size() / 2];
        }
    }
    double sum = 0.0;
    double squares = 0.0;
    double largest = 0.0;
    for (const SpaceEstimate::Plan& plan : estimate.plans) {
        largest = std::max(largest, plan.stands_for);
        const bool excluded = std::any_of(limits.begin(), limits.end(), [&plan](const std::vector<double>& limit) {
            return std::isfinite(limit.front()) && dominates(limit, plan.bound.objectives);
        });
        if (!excluded) {
            sum += plan.stands_for;
            squares += plan.stands_for * plan.stands_for;
            left.push_back(plan.bound);
        }
    }
    left.insert(left.end(), best.begin(), best.end());
    constexpr double none_seen = 3.0;  // upper 95 % limit of a Poisson mean when nothing was observed
    const auto known = static_cast<double>(best.size());
    const double half = 1.96 * std::sqrt(squares);
    return {std::max(known, sum), std::max(known, sum - half), std::max(known, sum + half) + none_seen * largest};
}

std::string whole_text(const StudyModel& model, const Pause& pause)
{
    const std::uint64_t size = model.designs.space().size();
    Archive archive;
    Worker worker(model, pause);
    const double start_s = processor_s();
    archive.add(std::vector<Answer>{worker.sweep({.begin = 0, .end = size})});
    const double tuple_s = (processor_s() - start_s) / static_cast<double>(size);
    if (archive.feasible() == 0) {
        refuse_infeasible(model.scenario, archive);
    }
    std::string text =
        fmt::format("{}: all plans checked\n{}", model.scenario.name, space_text(size, archive.feasible(), archive.rejected()));
    StudyPlan plan = plan_study(model);
    const auto feasible = static_cast<double>(archive.feasible());
    const double sweep_s = tuple_s * static_cast<double>(size);
    text += strategy_text(model, plan);
    text += fmt::format("time without noise: {:.3g} us per combination, {:.3g} us per feasible plan\n", 1e6 * tuple_s,
                        1e6 * sweep_s / feasible);
    text += sweeps(plan) ? sweep_text(hours(sweep_s), feasible) : "";
    return text + rehearsed_text(model, std::move(plan), archive.bounds(), feasible, tuple_s, pause);
}

std::string sampled_text(const StudyModel& model, const Pause& pause)
{
    const SpaceEstimate estimate = estimate_space(model, pause);
    StudyPlan plan = plan_study(model);
    const auto about = [](const Estimated& e) { return fmt::format("about {:.3g} ({:.3g} to {:.3g})", e.value, e.low, e.high); };
    const std::string sweep_s = fmt::format("{} to {}", hours(estimate.sweep_s.low), hours(estimate.sweep_s.high));
    std::string text = fmt::format(
        "{}: {} combinations of values, of which {} plans in {} random branches of the space were checked; the numbers below are "
        "estimates with 95 % confidence intervals\n{} plans are allowed by the rules of [space]\n",
        model.scenario.name, grouped(model.designs.space().size()), grouped(estimate.judged), grouped(estimate.branches),
        about(estimate.allowed));
    if (estimate.plans.empty()) {
        return text + none_found_text(estimate) + "\n" + strategy_text(model, plan) +
               (sweeps(plan) ? sweep_text(sweep_s, estimate.allowed.value) : "") +
               "the number of draws cannot be estimated without a feasible plan\n";
    }
    text += fmt::format("{} plans are feasible\n", about(estimate.feasible));
    for (const Rejected& rejected : estimate.rejected) {
        text += fmt::format("{:>9.4f} %  of the checked plans rejected: {}\n",
                            100.0 * static_cast<double>(rejected.count) / static_cast<double>(estimate.judged), rejected.reason);
    }
    text += strategy_text(model, plan);
    std::vector<Bound> bounds;
    for (const SpaceEstimate::Plan& found : estimate.plans) {
        bounds.push_back(found.bound);
    }
    if (!sweeps(plan)) {
        const double tuple_s = estimate.sweep_s.value / estimate.allowed.value;
        return text + rehearsed_text(model, std::move(plan), bounds, estimate.feasible.value, tuple_s, pause);
    }
    text += sweep_text(sweep_s, estimate.feasible.value);
    std::vector<Bound> left;
    const std::vector<Bound> best = improved_front(model, bounds, pause);
    const Estimated drawn = left_to_draw(model, estimate, best, plan.rungs, left, pause);
    const auto draws_of = [](const Rung& rung) { return static_cast<double>(rung.fleets) * rung.steps; };
    const double confirming = static_cast<double>(best.size()) * draws_of(model.scenario.search.confirm);
    const double top = draws_of(plan.rungs.back());
    Rehearsal like;
    for (const Bound& bound : left) {
        like.drawn.emplace_back(bound.index, top);
    }
    text += fmt::format("{} plans evaluated at the top rung, a front of about {} confirmed\n", about(drawn), best.size());
    return text +
           expected_text("", estimate.sweep_s, {drawn.value * top, drawn.low * top, drawn.high * top + confirming},
                         draw_costs(model, like, pause)) +
           "unknown: how far the other plans lie above their lower bounds; they are assumed to behave like the plans drawn "
           "here\n";
}

}  // namespace

std::string dry_run_text(const Scenario& scenario, const Pause& pause)
{
    const StudyModel model(scenario);
    return model.designs.space().size() <= most_looked_at ? whole_text(model, pause) : sampled_text(model, pause);
}

}  // namespace prismopt
