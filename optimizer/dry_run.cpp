#include "optimizer/dry_run.hpp"

#include "optimizer/codesign.hpp"
#include "optimizer/evaluator.hpp"
#include "optimizer/rehearsal.hpp"
#include "optimizer/spread_ranges.hpp"
#include "optimizer/study_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace prismopt {

namespace {

constexpr std::uint64_t most_looked_at = 10'000'000;

class Stopwatch {
public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string hours(double core_seconds) { return fmt::format("{:.3g} core-hours", core_seconds / 3600.0); }

}  // namespace

std::string dry_run_text(const Scenario& scenario, const Pause& pause)
{
    const StudyModel model(scenario);
    const std::uint64_t size = model.designs.space().size();
    Archive archive;
    Worker worker(model, pause);
    const Stopwatch time;
    std::uint64_t looked_at = 0;
    const std::vector<SweepRange> ranges = spread_ranges(size, most_looked_at);
    for (const SweepRange& range : ranges) {
        archive.add(std::vector<Answer>{worker.sweep(range)});
        looked_at += range.end - range.begin;
    }
    const double sweep_s = time.seconds();
    if (archive.feasible() == 0) {
        refuse_infeasible(scenario, archive);
    }
    const auto share = [&](std::uint64_t count) { return 100.0 * static_cast<double>(count) / static_cast<double>(looked_at); };
    const double whole = static_cast<double>(size) / static_cast<double>(looked_at);
    const double feasible = whole * static_cast<double>(archive.feasible());

    StudyPlan plan = plan_study(model);
    std::string text = fmt::format("{}: {} raw tuples", scenario.name, grouped(size));
    text += looked_at == size ? ", all looked at\n"
                              : fmt::format(", {} of them looked at, in {} ranges\n", grouped(looked_at), ranges.size());
    text += fmt::format("{:>9.4f} %  feasible{}\n", share(archive.feasible()),
                        looked_at == size ? fmt::format(" ({} plans)", grouped(archive.feasible()))
                                          : fmt::format(" (about {:.3g} plans)", feasible));
    for (const Rejected& rejected : archive.rejected()) {
        if (rejected.count > 0) {
            text += fmt::format("{:>9.4f} %  rejected: {}\n", share(rejected.count), rejected.reason);
        }
    }
    const auto draws_of = [](const Rung& rung) { return static_cast<double>(rung.fleets) * rung.steps; };
    const bool sweeps = plan.chosen.name == "exact" || plan.chosen.name == "racing";
    const double tuple_s = sweep_s / static_cast<double>(looked_at);
    const DrawnSample sample =
        draw_sample(model, archive.bounds(), static_cast<std::uint64_t>(feasible), static_cast<int>(plan.rungs.size()), pause);
    text += fmt::format("strategy {}{}\n", plan.chosen.name, plan.chosen.why.empty() ? "" : ": " + plan.chosen.why);
    text += fmt::format("a raw tuple without noise {:.3g} us, a feasible plan {:.3g} us\n", 1e6 * tuple_s,
                        1e6 * sweep_s / static_cast<double>(archive.feasible()));
    if (tunes_hardware(scenario)) {
        text += fmt::format("tuning of knobs first: up to {} evaluations, and then more kinds of hardware: not counted below\n",
                            grouped(most_tuning_evaluations(scenario)));
    }
    if (sweeps) {
        text += fmt::format("bounds of the whole space: {}\n", hours(tuple_s * static_cast<double>(size)));
        const double kept = std::min(feasible, static_cast<double>(most_kept_bounds));
        text += fmt::format("memory of rank 0 for bounds: {:.2g} GB ({:.3g} plans, never more than {}) and for what is drawn\n",
                            kept * bytes_of_bound / 1e9, kept, grouped(most_kept_bounds));
        if (looked_at < size) {
            Rehearsal spread;
            for (const Bound& bound : archive.bounds()) {
                spread.drawn.emplace_back(bound.index, 1.0);
            }
            return text +
                   "how many plans the bounds leave to be drawn is not known of a space that was looked at in parts only; a plan "
                   "drawn to the top rung takes " +
                   hours(mean_estimate(draw_costs(model, spread, pause), {}, {}).value * draws_of(plan.rungs.back())) + "\n";
        }
    }
    const std::size_t rungs = plan.rungs.size();
    Communicator alone;
    Crew nobody(alone, [](const Message& item) { return item; });
    const int needed = Evaluator(model, nobody, plan.rungs).fleets_for_limits(static_cast<std::uint64_t>(feasible));
    if (plan.chosen.name == "exact" && needed > plan.rungs.back().fleets) {
        text += short_ladder_text(plan.rungs.back().fleets, static_cast<std::uint64_t>(feasible), needed) + "\n";
    }
    const Rehearsal found = rehearse(model, std::move(plan), sample, pause);
    const char* at_least = found.ended ? "" : "at least ";
    text += fmt::format("{}{} plans drawn to the first rung, {} to the top rung, a front of {} confirmed: {:.3g} draws\n",
                        at_least, found.plans.front(), found.plans[rungs - 1], found.front, found.draws);
    const double looking_s = tuple_s * static_cast<double>(found.looked_at);
    const std::vector<double> costs = draw_costs(model, found, pause);
    const Estimate draw_s = mean_estimate(costs, {}, {});
    text +=
        fmt::format("expected: {}{} to {} (a draw of a step takes {:.3g} to {:.3g} us: 95 % limits of the mean of {} of these)\n",
                    at_least, hours(looking_s + found.draws * std::max(0.0, draw_s.low)),
                    hours(looking_s + found.draws * draw_s.high), 1e6 * std::max(0.0, draw_s.low), 1e6 * draw_s.high,
                    costs.size());
    text +=
        "not known: how other plans scatter about their bounds; the search was rehearsed as if they did as the plans drawn "
        "here\n";
    return text;
}

}  // namespace prismopt
