#include "optimizer/preview/dry_run.hpp"

#include "io/base/percent.hpp"
#include "io/report/outcome_text.hpp"
#include "io/report/space_counts.hpp"
#include "io/toml/reading_figure.hpp"
#include "model/base/median.hpp"
#include "model/base/parallel.hpp"
#include "model/base/statistics.hpp"
#include "optimizer/loop/codesign.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/preview/processor_time.hpp"
#include "optimizer/preview/rehearsal.hpp"
#include "optimizer/preview/space_estimate.hpp"
#include "optimizer/preview/unmet_question.hpp"
#include "optimizer/program/memory.hpp"
#include "optimizer/study/study_plan.hpp"
#include "optimizer/study/worker.hpp"
#include "search/near_bounds.hpp"
#include "search/strategies/racing.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace prismopt {

using namespace literals;

namespace {

constexpr std::uint64_t most_counted = 10'000'000;

std::string hours(double core_seconds) { return fmt::format("{:.3g} core-hours", core_seconds / (1_h).si); }

std::string about(const Estimated& e)
{
    return fmt::format("about {} ({} to {})", reading_figure(e.value), reading_figure(e.low),
                       reading_figure(e.high));
}

std::string strategy_text(const StudyModel& model, const StudyPlan& plan)
{
    std::string text = fmt::format("strategy {}{}\n", plan.chosen.name,
                                   plan.chosen.why ? ": " + choice_text(*plan.chosen.why) : "");
    if (tunes_hardware(model.scenario)) {
        text += fmt::format(
            "hardware tuning runs first: up to {} evaluations, which add hardware variants that are not "
            "counted below\n",
            grouped(most_tuning_evaluations(model.scenario)));
    }
    return text;
}

/// Cost of an exhaustive strategy before the first draw. `sweep_s`: processor time for the whole space.
std::string sweep_text(const std::string& sweep_s)
{
    return fmt::format("lower bounds of the whole space: {}\n", sweep_s);
}

/// Memory to request. A rank of a search holds what this process holds: the model, and draws on as many
/// threads. Rank 0 also keeps the bounds of the plans that a sweep returns, `found`.
std::string memory_text(double found)
{
    // For caches that a dry run does not fill, and freed memory that stays with the process: a search of 3.5
    // million combinations had 0.86 GB after its first sweep, where its dry run had 0.43 GB.
    constexpr double reserve = 2.0;
    const double kept = std::min(found, static_cast<double>(most_kept_bounds));
    const double rank = reserve * peak_memory_bytes();
    const double more = reserve * kept * bytes_of_bound;
    const auto megabytes = [](double bytes) { return std::ceil(bytes / 1e6); };
    const int threads = parallel_threads();
    return fmt::format(
        "memory: at most about {:.0f} MB for each rank of {} thread{}, and {:.0f} MB more for rank 0, which "
        "keeps the lower bounds of {} plans; request for each node its ranks times {:.0f} MB, or the same "
        "for all: sbatch --mem-per-cpu={:.0f}M\n",
        megabytes(rank), threads, threads == 1 ? "" : "s", megabytes(more), reading_figure(kept),
        megabytes(rank + more), megabytes((rank + more) / threads));
}

/// What a search takes besides sweeping.
struct Work {
    Estimated draws;         // of steps, including those that confirm the front
    double summary_s = 0.0;  // per draw
    double front = 0.0;      // plans
};

/// Processor time of the whole job, which has taken `start_s` before its first plan. The search draws some
/// plans together and others alone.
std::string expected_text(const char* at_least, double start_s, const Estimated& looking_s, const Work& work,
                          const DrawCosts& costs)
{
    const Estimate alone_s = mean_estimate(costs.alone_s, {}, {});
    const Estimate together_s = mean_estimate(costs.together_s, {}, {});
    const auto limit = [](double value, double otherwise) {
        return std::isfinite(value) ? value : otherwise;
    };
    const double least_s = work.summary_s + std::max(0.0, limit(std::min(alone_s.low, together_s.low), 0.0));
    const double most_s =
        work.summary_s + limit(std::max(alone_s.high, together_s.high), 2.0 * alone_s.value);
    const double fixed_s = start_s + work.front * costs.model_interval_s;
    constexpr double fixed_factor = 2.0;  // it was measured once
    return fmt::format(
        "expected: {}{} to {} ({:.3g} to {:.3g} us per step draw, timed on {} samples; {} to {} "
        "draws)\n",
        at_least, hours(fixed_s + looking_s.low + work.draws.low * least_s),
        hours(fixed_factor * fixed_s + looking_s.high + work.draws.high * most_s), 1e6 * least_s,
        1e6 * most_s, costs.alone_s.size() + costs.together_s.size(), reading_figure(work.draws.low),
        reading_figure(work.draws.high));
}

/// How far the number of draws of a search may be from that of its rehearsal, either way: as measured on the
/// shipped scenarios, where plans do not lie above their lower bounds as the plans of the sample do.
constexpr double rehearsal_factor = 3.0;
constexpr const char* not_known_text =
    "assumption: the other plans lie as far above their lower bounds as the plans drawn here; otherwise a "
    "search may need a "
    "third to three times as many draws\n";

/// Cost of the strategy, rehearsed on the whole space. `tuple_s`: time to check one combination.
void rehearsed_text(const StudyModel& model, StudyPlan plan, const std::vector<Bound>& bounds, double tuple_s,
                    double start_s, const Pause& pause, std::string& text)
{
    const std::size_t rungs = plan.rungs.size();
    const DrawnSample sample = draw_sample(model, bounds, plan.rungs, pause);
    const Rehearsal found = rehearse(model, std::move(plan), sample, pause);
    if (!found.ended && found.draws <= 0.0) {
        text +=
            "what plans cost to draw is not known: the time of a dry run ended before the first was drawn; "
            "try again where no other program is busy\n";
        return;
    }
    const char* at_least = found.ended ? "" : "at least ";
    text += fmt::format(
        "{}{} plans evaluated at the first rung, {} at the top rung, a front of {} confirmed: {} draws\n",
        at_least, found.plans.front(), found.plans[rungs - 1], found.front, reading_figure(found.draws));
    const double looking_s = tuple_s * static_cast<double>(found.looked_at);
    const Work work{{found.draws, found.draws / rehearsal_factor, rehearsal_factor * found.draws},
                    sample.summary_s,
                    static_cast<double>(found.front)};
    text += expected_text(at_least, start_s, {looking_s, looking_s, looking_s}, work,
                          draw_costs(model, found, pause)) +
            not_known_text;
}

/// Upper confidence limits of plans with these bounds, as far above the bounds as those of half of the
/// sample. Without those that are infinite.
std::vector<std::vector<double>> likely_limits(const DrawnSample& sample, const std::vector<Bound>& best)
{
    std::vector<double> factors;
    for (std::size_t k = 0; k < best.front().objectives.size(); ++k) {
        std::vector<double> ratios;
        for (const DrawnSample::Plan& plan : sample.plans) {
            const double high = plan.objectives[k].simultaneous_high;
            ratios.push_back(plan.bound[k] > 0.0 ? high / plan.bound[k]
                                                 : std::numeric_limits<double>::infinity());
        }
        factors.push_back(median_of(std::move(ratios)));
    }
    std::vector<std::vector<double>> limits;
    for (const Bound& bound : best) {
        std::vector<double> limit = bound.objectives;
        std::transform(limit.begin(), limit.end(), factors.begin(), limit.begin(), std::multiplies<>());
        if (std::all_of(limit.begin(), limit.end(), [](double high) { return std::isfinite(high); })) {
            limits.push_back(std::move(limit));
        }
    }
    return limits;
}

/// Which plans a sweep lists although limits exclude them, if these bounds are the best ones.
NearRequest near_the_best(const StudyModel& model, const std::vector<Bound>& best)
{
    if (!model.near_objective) {
        return {};
    }
    NearBounds near({.objective = *model.near_objective});
    for (const Bound& bound : best) {
        near.add({model.region(bound.index), bound});
    }
    return {*model.near_objective, near.limits()};
}

/// Counts of the combinations from the first one on.
struct Count {
    Archive archive;
    std::uint64_t examined = 0;
    double seconds = 0.0;      // of processor time
    std::string stopped = {};  // why; empty: the time was up, or all were examined
};

/// Examines combinations until the time is up or the run is stopped.
Count count_plans(const StudyModel& model, double most_s, const Pause& pause)
{
    constexpr std::uint64_t at_once = 4096;
    const std::uint64_t size = model.designs.space().size();
    Count count;
    const double start_s = processor_s();
    Worker worker(model, [&] {
        pause();
        if (processor_s() - start_s > most_s) {
            throw OutOfTime{};
        }
    });
    try {
        while (count.examined < size) {
            const std::uint64_t end = count.examined + std::min(at_once, size - count.examined);
            count.archive.add(std::vector<Answer>{worker.bound_all({.begin = count.examined, .end = end})});
            count.examined = end;
        }
    } catch (const OutOfTime&) {
    } catch (const Stopped& stop) {
        count.stopped = stop.what();
    }
    count.seconds = processor_s() - start_s;
    return count;
}

/// Of machines for several networks: how many of them stay in doubt is not known
/// before their plans are bounded.
std::string served_text(const StudyModel& model, const std::string& sweep)
{
    return fmt::format(
        "{} machines for {} networks: lower bounds of their plans take at most {}; how many plans are drawn "
        "depends on how "
        "far the machines differ\n",
        model.machines().size(), model.scenario.workloads.size(), sweep);
}

std::string not_excluded_text(const std::string& count)
{
    return fmt::format("{} feasible plans may meet [question], by their lower bounds\n", count);
}

/// Returns the number of plans whose bounds rank 0 keeps.
double whole_text(const StudyModel& model, const Count& count, double start_s, const Pause& pause,
                  std::string& text)
{
    StudyPlan plan = plan_study(model);
    const auto feasible = static_cast<double>(count.archive.feasible());
    const auto kept = static_cast<double>(count.archive.bounds().size());
    const double tuple_s = count.seconds / static_cast<double>(count.examined);
    text += model.is_limited() ? not_excluded_text(grouped(count.archive.bounds().size())) : "";
    text += strategy_text(model, plan);
    text += fmt::format("time without noise: {:.3g} us per combination, {:.3g} us per feasible plan\n",
                        1e6 * tuple_s, 1e6 * count.seconds / feasible);
    if (!model.scenario.served.empty()) {
        text += served_text(model, hours(count.seconds));
        return kept;
    }
    text += facts_of_strategy(plan.chosen.name).covers ? sweep_text(hours(count.seconds)) : "";
    rehearsed_text(model, std::move(plan), count.archive.bounds(), tuple_s, start_s, pause, text);
    return kept;
}

double draws_of(const Rung& rung) { return static_cast<double>(rung.fleets) * rung.steps; }

std::string range_text(const Estimated& core_seconds)
{
    return fmt::format("{} to {}", hours(core_seconds.low), hours(core_seconds.high));
}

/// Processor times, if each of these plans is drawn so often.
DrawCosts costs_of(const StudyModel& model, const std::vector<Bound>& plans, double draws, const Pause& pause)
{
    constexpr std::size_t most = 4096;
    const std::size_t count = std::min(most, plans.size());
    Rehearsal like;
    for (std::size_t i = 0; i < count; ++i) {
        like.drawn.emplace_back(plans[i * plans.size() / count].index, draws);
    }
    return draw_costs(model, like, pause);
}

/// Cost of an exact search, from a sweep of random branches with the limits that it is likely to find.
/// `bounds`: of the plans of the estimate. Returns the number of plans whose bounds rank 0 keeps.
double exact_text(const StudyModel& model, const StudyPlan& plan, const SpaceEstimate& estimate,
                  const std::vector<Bound>& bounds, double start_s, const Pause& pause, std::string& text)
{
    const bool all_bounded =
        std::find(model.bounded.begin(), model.bounded.end(), false) == model.bounded.end();
    const std::vector<Bound> best = all_bounded ? explored_front(model, bounds, pause)
                                                : std::vector<Bound>{bounds.front()};  // nothing is excluded
    const DrawnSample sample = draw_sample(model, best, plan.rungs, pause);
    const std::vector<std::vector<double>> limits =
        all_bounded ? likely_limits(sample, best) : std::vector<std::vector<double>>{};
    const NearRequest near = near_the_best(model, best);
    const LimitedSweep left = limits.empty() ? LimitedSweep{estimate.kept, estimate.sweep_s, bounds}
                                             : limited_sweep(model, limits, near, pause);
    text += sweep_text(range_text(left.sweep_s));
    const double top = draws_of(plan.rungs.back());
    const auto known = static_cast<double>(best.size());
    const Estimated drawn{std::max(known, left.plans.value), std::max(known, left.plans.low),
                          std::max(known, left.plans.high)};
    text += fmt::format(
        "at most {} plans evaluated at the top rung, a front of {} confirmed: those that the first limits "
        "leave; evaluated plans give closer limits, which may exclude most of them\n",
        about(drawn), all_bounded ? fmt::format("about {}", best.size()) : "unknown size");
    // Some plans are excluded after a quarter of their draws; incumbents are drawn in two or three rounds.
    const double confirming = known * draws_of(model.scenario.search.confirm);
    const Work work{{drawn.value * top + 2.0 * known * top + confirming,
                     0.25 * drawn.low * top + known * top + confirming,
                     drawn.high * top + 3.0 * known * top + confirming},
                    sample.summary_s,
                    known};
    std::vector<Bound> timed = best;
    timed.insert(timed.end(), left.found.begin(), left.found.end());
    text +=
        expected_text("", start_s, left.sweep_s, work, costs_of(model, timed, top, pause)) + not_known_text;
    return left.plans.value + static_cast<double>(near.regions.size() * most_near);
}

/// Cost of a race among all plans: each rung after the first has half of the plans and doubles their draws.
/// Returns the number of plans whose bounds rank 0 keeps.
double race_text(const StudyModel& model, const StudyPlan& plan, const SpaceEstimate& estimate,
                 const std::vector<Bound>& bounds, double start_s, const Pause& pause, std::string& text)
{
    const std::uint64_t asked = model.scenario.search.max_evaluations;
    const auto most = static_cast<double>(asked > 0 ? asked : most_entrants);
    const DrawnSample sample = draw_sample(model, bounds, plan.rungs, pause);
    const double of_each =
        draws_of(plan.rungs.front()) * (1.0 + 0.5 * static_cast<double>(plan.rungs.size() - 1));
    const Estimated plans{std::min(most, estimate.kept.value), std::min(most, estimate.kept.low),
                          std::min(most, estimate.kept.high)};
    text += sweep_text(range_text(estimate.sweep_s));
    text += fmt::format("{} plans evaluated at the first rung\n", about(plans));
    const Work work{
        {of_each * plans.value, of_each * plans.low, of_each * plans.high}, sample.summary_s, 0.0};
    text += expected_text("", start_s, estimate.sweep_s, work, costs_of(model, bounds, of_each, pause));
    return estimate.kept.value;
}

/// How many plans of the space are feasible, and why the others are not.
std::string sampled_counts_text(const StudyModel& model, const SpaceEstimate& estimate)
{
    if (!estimate.found_feasible()) {
        return none_found_text(estimate) + "\n";
    }
    std::string text = fmt::format(
        "{} plans are feasible; a search does not count those in sub-spaces that it excludes as a whole\n",
        about(estimate.feasible));
    if (model.is_limited()) {
        text += not_excluded_text(estimate.plans.empty() ? "none of the sampled" : about(estimate.kept));
    }
    for (const Rejected& rejected : estimate.rejected) {
        const double share = static_cast<double>(rejected.count) / static_cast<double>(estimate.judged);
        text += fmt::format("{:>9} %  of the checked plans rejected: {}\n", percent_figure(share, 4),
                            rejected.reason);
    }
    return text;
}

/// Returns the number of plans whose bounds rank 0 keeps.
double sampled_text(const StudyModel& model, double start_s, const Pause& pause, std::string& text)
{
    text += fmt::format("{}: {} combinations of values\n", model.scenario.name,
                        grouped(model.designs.space().size()));
    const SpaceEstimate estimate = estimate_space(model, pause);
    text += fmt::format(
        "estimates with 95 % confidence intervals, from {} plans in {} random branches of the space\n{} "
        "plans are allowed by the "
        "rules of [space]\n",
        grouped(estimate.judged), grouped(estimate.branches), about(estimate.allowed));
    text += sampled_counts_text(model, estimate);
    if (!estimate.stopped.empty()) {
        throw Stopped(estimate.stopped);
    }
    StudyPlan plan = plan_study(model);
    text += strategy_text(model, plan);
    if (estimate.plans.empty()) {
        text +=
            fmt::format("the number of draws cannot be estimated without {}\n",
                        estimate.found_feasible() ? "a plan that may meet [question]" : "a feasible plan");
        return 0.0;
    }
    std::vector<Bound> bounds;
    for (const SpaceEstimate::Plan& found : estimate.plans) {
        bounds.push_back(found.bound);
    }
    if (!model.scenario.served.empty()) {
        text += served_text(model, range_text(estimate.sweep_s));
        return 0.0;
    }
    const StrategyFacts& strategy = facts_of_strategy(plan.chosen.name);
    if (!strategy.covers) {
        const double tuple_s = estimate.sweep_s.value / estimate.allowed.value;
        rehearsed_text(model, std::move(plan), bounds, tuple_s, start_s, pause, text);
        return 0.0;
    }
    if (model.scenario.search.space_parts > 1) {
        text +=
            fmt::format("the estimates are of the whole space, of which this job searches one of {} parts\n",
                        model.scenario.search.space_parts);
    }
    return (strategy.excludes ? exact_text : race_text)(model, plan, estimate, bounds, start_s, pause, text);
}

/// Of a search that goes on without the limits of its question, because no plan can keep them.
DryRun dry_run_without_question(const Scenario& scenario, const Pause& pause, double most_counting_s)
{
    DryRun result;
    try {
        if (const auto unmet = unmet_question(scenario, pause)) {
            result.text = fmt::format("{}: {}\n", scenario.name, unmet_question_text(*unmet));
        }
    } catch (const Stopped& stop) {
        result.stopped = stop.what();
        return result;
    }
    DryRun searched = dry_run(without_question(scenario), pause, most_counting_s);
    result.text += searched.text;
    result.stopped = searched.stopped;
    return result;
}

}  // namespace

DryRun dry_run(const Scenario& scenario, const Pause& pause, double most_counting_s)
{
    const StudyModel model(scenario);
    const double start_s = processor_s();
    const std::uint64_t size = model.designs.space().size();
    const Count count = size <= most_counted ? count_plans(model, most_counting_s, pause) : Count{};
    DryRun result;
    const bool whole = count.examined == size;
    if (whole && count.archive.feasible() == 0) {
        refuse_infeasible(scenario, count.archive);
    }
    if (whole && count.archive.bounds().empty()) {
        return dry_run_without_question(scenario, pause, most_counting_s);
    }
    if (whole || !count.stopped.empty()) {
        result.text = fmt::format(
            "{}: {}\n{}", scenario.name,
            whole ? "all plans checked" : "stopped before all plans were checked",
            count.examined > 0
                ? space_text(size, count.archive.feasible(), count.archive.rejected()) +
                      variants_text(scenario.variant_counts)
                : fmt::format("Space: {} combinations of values, none of which was examined\n", size));
    }
    result.stopped = count.stopped;
    if (!result.stopped.empty()) {
        return result;
    }
    try {
        const double kept = whole ? whole_text(model, count, start_s, pause, result.text)
                                  : sampled_text(model, start_s, pause, result.text);
        result.text += memory_text(kept);
    } catch (const Stopped& stop) {
        result.stopped = stop.what();
    }
    return result;
}

}  // namespace prismopt
