#include "optimizer/parallel/affinity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

namespace prismopt {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr CoreSet one_core{.processors = 1, .cores = 1};
constexpr CoreSet two_cores{.processors = 2, .cores = 2};
constexpr CoreSet sixty_four_cores{.processors = 128, .cores = 64};  // two processors a core

TEST(PlacementAdvice, IsEmptyWhenEachThreadHasAProcessor)
{
    EXPECT_EQ(binding_advice({two_cores, two_cores, 0, 1}), "");
    EXPECT_EQ(binding_advice({two_cores, two_cores, 0, 2}), "");
    EXPECT_EQ(binding_advice({two_cores, two_cores, 1, 2}), "");
    EXPECT_EQ(binding_advice({one_core, two_cores, 2, 1}), "");
    EXPECT_EQ(binding_advice({one_core, one_core, 1, 1}), "");
    EXPECT_EQ(binding_advice({{2, 1}, sixty_four_cores, 64, 2}), "");
    EXPECT_EQ(binding_advice({{32, 16}, sixty_four_cores, 4, 16}), "");
    EXPECT_EQ(binding_advice({sixty_four_cores, sixty_four_cores, 0, 128}), "");
}

TEST(PlacementAdvice, NamesThePinningAndItsRemedies)
{
    EXPECT_EQ(binding_advice({one_core, two_cores, 1, 2}),
              "this rank may use 1 of 2 cores but runs 2 threads: mpirun set this binding; start it as "
              "`mpirun --bind-to none ...` or "
              "`mpirun --map-by slot:PE=2 ...`, under Slurm `srun --cpus-per-task=2 ...`");
}

TEST(PlacementAdvice, SeparatesSeveralRanks)
{
    const auto advice = binding_advice({{2, 1}, sixty_four_cores, 2, 16});
    EXPECT_THAT(advice, AllOf(HasSubstr("slot:PE=16"), Not(HasSubstr("bind-to none"))));
}

TEST(PlacementAdvice, BlamesMpirunOnlyWhereItRan)
{
    EXPECT_THAT(binding_advice({one_core, two_cores, 0, 2}),
                AllOf(HasSubstr("its launcher set this binding"), HasSubstr("cpus-per-task=2")));
}

TEST(PlacementAdvice, SuggestsFewerThreadsWhereThereAreNoMoreCores)
{
    EXPECT_EQ(binding_advice({two_cores, two_cores, 0, 8}),
              "this rank runs 8 threads on 2 cores, which oversubscribes them; set OMP_NUM_THREADS=2");
    EXPECT_THAT(binding_advice({one_core, two_cores, 2, 2}), HasSubstr("OMP_NUM_THREADS=1"));
}

TEST(PlacementAdvice, NoticesIdleCoresBesidePinnedRanks)
{
    EXPECT_THAT(binding_advice({one_core, two_cores, 1, 1}),
                AllOf(HasSubstr("bound 1 rank to one core each and leaves 1 of 2 cores idle"),
                      HasSubstr("--bind-to none"), HasSubstr("PE=2")));
    EXPECT_THAT(binding_advice({{2, 1}, sixty_four_cores, 2, 2}),
                AllOf(HasSubstr("62 of 64 cores idle"), HasSubstr("PE=32")));
}

TEST(PlacementAdvice, IsEmptyWhenTheSystemDoesNotReportIt)
{
    EXPECT_EQ(binding_advice({{}, two_cores, 1, 2}), "");
    EXPECT_EQ(binding_advice({one_core, {}, 1, 2}), "");
}

/// Restores what the process may use.
class Affinity : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0); }
    void TearDown() override { sched_setaffinity(0, sizeof before, &before); }

    cpu_set_t before;
};

TEST_F(Affinity, OfThisProcessIsRead)
{
    const int processors = CPU_COUNT(&before);
    EXPECT_THAT(affinity_warning(1), IsEmpty());
    EXPECT_THAT(affinity_warning(processors + 1), HasSubstr(std::to_string(processors + 1) + " threads"));
}

TEST_F(Affinity, PinnedToOneProcessorIsNoticed)
{
    if (CPU_COUNT(&before) < 2) {
        GTEST_SKIP() << "needs two processors";
    }
    cpu_set_t first;
    CPU_ZERO(&first);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before)) {
        ++cpu;
    }
    CPU_SET(cpu, &first);
    ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
    EXPECT_THAT(affinity_warning(2), HasSubstr("runs 2 threads"));
}

}  // namespace
}  // namespace prismopt
