#include "model/plan/phase.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

struct Pipeline {
    Schedule schedule;
    int chunks;
    int group = 0;

    bool operator==(const Pipeline&) const = default;
};

Pipeline in_phase(const Pipeline& plan, const PhasePlan& own)
{
    ParallelPlan whole;
    whole.pp = 4;
    whole.dp = 2;
    whole.schedule = plan.schedule;
    whole.chunks = plan.chunks;
    whole.group = plan.group;
    Phase phase{1e9, 1024, 64};
    phase.own = own;
    const ParallelPlan here = plan_in_phase(whole, phase);
    return {here.schedule, here.chunks, here.group};
}

constexpr Schedule plain = Schedule::one_f_one_b;
constexpr Schedule interleaved = Schedule::interleaved;

TEST(Phase, ScheduleDecidesTheChunksThatItLeavesOpen)
{
    const PhasePlan own{.schedule = interleaved};
    EXPECT_EQ(in_phase({plain, 1}, own), (Pipeline{interleaved, 2}));
    EXPECT_EQ(in_phase({interleaved, 4, 8}, own), (Pipeline{interleaved, 4}));
    EXPECT_EQ(in_phase({plain, 1}, {.chunks = 3, .schedule = interleaved}), (Pipeline{interleaved, 3}));
    EXPECT_EQ(in_phase({plain, 1}, {.schedule = Schedule::zb_v}), (Pipeline{Schedule::zb_v, 2}));
    EXPECT_EQ(in_phase({interleaved, 4, 8}, {.schedule = plain}), (Pipeline{plain, 1}));
}

TEST(Phase, ChunksDecideTheScheduleThatTheyLeaveOpen)
{
    const PhasePlan two{.chunks = 2};
    EXPECT_EQ(in_phase({plain, 1}, two), (Pipeline{interleaved, 2}));
    EXPECT_EQ(in_phase({Schedule::zb_v, 2}, two), (Pipeline{Schedule::zb_v, 2}));
    EXPECT_EQ(in_phase({interleaved, 4, 8}, two), (Pipeline{interleaved, 2, 8}));
    EXPECT_EQ(in_phase({Schedule::zb_v, 2}, {.chunks = 3}), (Pipeline{interleaved, 3}));
    const PhasePlan one{.chunks = 1};
    EXPECT_EQ(in_phase({interleaved, 4, 8}, one), (Pipeline{plain, 1}));
    EXPECT_EQ(in_phase({Schedule::gpipe, 1}, one), (Pipeline{Schedule::gpipe, 1}));
}

TEST(Phase, OnOneStageHasNoPipeline)
{
    EXPECT_EQ(in_phase({interleaved, 4, 8}, {.pp = 1}), (Pipeline{plain, 1}));
    EXPECT_EQ(in_phase({Schedule::gpipe, 1}, {.pp = 1}), (Pipeline{Schedule::gpipe, 1}));
}

/// Chunks and schedules that a phase names are of plans that have stages there.
TEST(Phase, OfPlansWithOneStageKeepsThem)
{
    ParallelPlan whole{.dp = 8};
    for (const PhasePlan& own : {PhasePlan{.chunks = 2}, PhasePlan{.schedule = interleaved},
                                 PhasePlan{.schedule = Schedule::zb_v}}) {
        Phase phase{1e9, 1024, 64};
        phase.own = own;
        const ParallelPlan here = plan_in_phase(whole, phase);
        EXPECT_EQ(here.schedule, plain);
        EXPECT_EQ(here.chunks, 1);
    }
}

}  // namespace
}  // namespace prismopt
