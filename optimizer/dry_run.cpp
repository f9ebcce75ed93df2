#include "optimizer/dry_run.hpp"

#include "optimizer/evaluator.hpp"
#include "optimizer/spread_ranges.hpp"
#include "optimizer/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace prismopt {

namespace {

constexpr std::uint64_t most_looked_at = 2'000'000;
constexpr std::size_t drawn_points = 8;

class Stopwatch {
public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Core-seconds of one step draw, over feasible plans evenly spread over the space.
double cost_of_a_draw(const StudyModel& model, const std::vector<Bound>& feasible)
{
    HardwareBench bench(model.scenario, model.problem);
    const DrawRange range{0, block_fleets, model.scenario.search.rungs.front().steps};
    const std::size_t count = std::min(drawn_points, feasible.size());
    const Stopwatch time;
    for (std::size_t i = 0; i < count; ++i) {
        const Bound& bound = feasible[i * feasible.size() / count];
        const Point point = model.designs.space().point(bound.index);
        bench.of(model.designs.hardware(point)).sample(model.designs.plan(point), range, model.sampler(Purpose::search));
    }
    return time.seconds() * sampler_threads() / static_cast<double>(count) / (range.fleets * range.steps);
}

std::string hours(double core_seconds) { return fmt::format("{:.3g} core-hours", core_seconds / 3600.0); }

}  // namespace

std::string dry_run_text(const Scenario& scenario)
{
    const StudyModel model(scenario);
    const std::uint64_t size = model.designs.space().size();
    Archive archive;
    Worker worker(model);
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

    const StudyPlan plan = plan_study(model);
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
    const double draw_s = cost_of_a_draw(model, archive.bounds());
    const auto draws_of = [](const Rung& rung) { return static_cast<double>(rung.fleets) * rung.steps; };
    const double tuple_s = sweep_s / static_cast<double>(looked_at);
    text += fmt::format("strategy {}{}\n", plan.chosen.name, plan.chosen.why.empty() ? "" : ": " + plan.chosen.why);
    text += fmt::format("a raw tuple without noise {:.3g} us, a feasible plan {:.3g} us; a draw of a step {:.3g} us\n",
                        1e6 * tuple_s, 1e6 * sweep_s / static_cast<double>(archive.feasible()), 1e6 * draw_s);
    const double sweep_all_s = tuple_s * static_cast<double>(size);
    const double drawn =
        scenario.search.max_evaluations > 0 ? std::min(feasible, static_cast<double>(scenario.search.max_evaluations)) : feasible;
    const double first_s = drawn * draw_s * draws_of(plan.rungs.front());
    const double top_s = drawn * draw_s * draws_of(plan.rungs.back());
    text += fmt::format("bounds of the whole space          {}\n", hours(sweep_all_s));
    text += fmt::format("{:.3g} plans drawn to the first rung {}\n", drawn, hours(first_s));
    text += fmt::format("{:.3g} plans drawn to the top rung   {}\n", drawn, hours(top_s));
    const bool exact = plan.chosen.name == "exact";
    if (exact || plan.chosen.name == "racing") {
        const double kept = std::min(feasible, static_cast<double>(most_kept_bounds));
        text += fmt::format("memory of rank 0 for bounds: {:.2g} GB ({:.3g} plans, never more than {}) and for what is drawn\n",
                            kept * bytes_of_bound / 1e9, kept, grouped(most_kept_bounds));
    }
    text += fmt::format("expected: {} to {} ({})\n", hours(exact ? sweep_all_s : sweep_all_s + first_s),
                        hours(exact ? sweep_all_s + top_s : sweep_all_s + 3.0 * first_s),
                        exact ? "between bounds that exclude all but the front, and none" : "the race after the first rung");
    return text;
}

}  // namespace prismopt
