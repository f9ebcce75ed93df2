#include "model/step/timeline.hpp"

#include "model/step/graph/mean_step.hpp"

#include "tests/support/example_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace prismopt {
namespace {

constexpr std::array timeline_widths{1, 2, 4, 8};

const Problem& problem()
{
    static const Problem p = example_problem(lively_variability(), 32, timeline_widths);
    return p;
}

double end_of(const std::vector<TimelineEvent>& events)
{
    double end = 0.0;
    for (const TimelineEvent& event : events) {
        end = std::max(end, event.end_s);
    }
    return end;
}

/// One replica, all replicas simulated, some ranked; coupled replicas; every kind of pass,
/// gathers beside ops and before them.
std::vector<ParallelPlan> plans()
{
    std::vector<ParallelPlan> list{plan_of(2, 4, 1), plan_of(1, 2, 4), plan_of(2, 4, 8)};
    list[1].dp_overlap = DataParallelOverlap::off;
    list[1].sharding = Sharding::zero1;
    for (const Schedule schedule : {Schedule::zb_h2, Schedule::zb_v, Schedule::dualpipe}) {
        ParallelPlan plan = plan_of(2, 2, 2);
        plan.schedule = schedule;
        plan.chunks = schedule == Schedule::zb_h2 ? 1 : 2;
        plan.sharding = Sharding::zero1;
        list.push_back(plan);
        if (schedule != Schedule::dualpipe) {
            list.push_back(plan);
            list.back().post_validation = PostValidation::on;
        }
    }
    list.push_back(plan_of(2, 2, 4));
    list.back().sharding = Sharding::zero3;
    return list;
}

/// The same numbers in the same arithmetic.
TEST(DrawTimeline, EndsWithThatDrawsStep)
{
    for (const ParallelPlan& plan : plans()) {
        const ExecutionGraph graph = graph_of(problem(), plan);
        constexpr int steps = 2;
        const SamplerOptions options{3, Purpose::confirm, 4};
        const std::vector<double> draws =
            sample_steps(graph, problem().noise, {0, 2 * block_fleets, steps}, options);
        for (const int draw : {0, 1, 77, 255}) {
            const auto events = draw_timeline(graph, problem().noise, options, draw / steps, draw % steps);
            EXPECT_NEAR(end_of(events), draws[draw], 1e-6 * draws[draw])
                << name(plan.schedule) << " dp=" << plan.dp;
        }
    }
}

TEST(MeanTimeline, EndsWithTheNoiseFreeStep)
{
    for (const ParallelPlan& plan : plans()) {
        const ExecutionGraph graph = graph_of(problem(), plan);
        const double step_s = noise_free_step(graph).step_s;
        EXPECT_NEAR(end_of(mean_timeline(graph)), step_s, 1e-9 * step_s)
            << name(plan.schedule) << " dp=" << plan.dp;
    }
}

/// What happens on a stage's compute does not overlap, and with post-validation no work is lost.
TEST(MeanTimeline, HasAllWorkOnceAlsoWithPostValidation)
{
    for (const ParallelPlan& plan : plans()) {
        const ExecutionGraph graph = graph_of(problem(), plan);
        double work = 0.0;
        double shown = 0.0;
        MeanRun(graph, -1, 1.0).run([&](std::size_t, const ProgramOp&, double start, double end, bool) {
            work += end - start;
        });
        for (const auto& events :
             {mean_timeline(graph), draw_timeline(graph, problem().noise, {3, Purpose::confirm, 4}, 5, 0)}) {
            for (std::size_t i = 1; i < events.size(); ++i) {
                const TimelineEvent& before = events[i - 1];
                if (events[i].stream == TimelineStream::compute && before.stage == events[i].stage) {
                    EXPECT_LE(before.end_s, events[i].start_s + 1e-6 * before.end_s);
                }
            }
        }
        for (const TimelineEvent& event : mean_timeline(graph)) {
            const bool works = event.stream == TimelineStream::compute &&
                               event.activity != Activity::bubble && event.activity != Activity::optimizer;
            shown += works ? event.end_s - event.start_s : 0.0;
        }
        EXPECT_NEAR(shown, work, 1e-9 * work) << name(plan.schedule);
    }
}

}  // namespace
}  // namespace prismopt
