#include "optimizer/parallel/launch.hpp"

#include "io/base/input_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

namespace prismopt {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

RankFacts rank_on(const std::string& node, int threads, const std::string& processors)
{
    return {.build = {"0.1.0", "abc", "12"},
            .node = node,
            .threads = threads,
            .processors = Processors(processors)};
}

std::string refusal_of(const std::vector<RankFacts>& ranks)
{
    try {
        refuse_other_builds(ranks);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(Launch, RefusesAnotherBuildByItsRankAndNode)
{
    std::vector<RankFacts> ranks{rank_on("n1", 1, "1"), rank_on("n1", 1, "1"), rank_on("n2", 1, "1")};
    EXPECT_THAT(refusal_of(ranks), IsEmpty());
    ranks[2].build.catalog = "13";
    EXPECT_THAT(refusal_of(ranks),
                AllOf(HasSubstr("rank 2 on n2 runs prismopt 0.1.0 (abc, catalog 13), but rank 0 on n1 runs "
                                "prismopt 0.1.0 (abc, catalog 12)")));
}

TEST(Launch, CountsNodesRanksAndThreads)
{
    const Leg leg = leg_of({rank_on("n1", 4, "1111"), rank_on("n2", 2, "11"), rank_on("n1", 4, "1111")});
    EXPECT_EQ(leg.nodes, 2);
    EXPECT_EQ(leg.ranks, 3);
    EXPECT_EQ(leg.threads, 10);
}

/// As mpiexec of MPICH starts a program that was built with Open MPI.
TEST(Launch, NoticesProcessesThatMpiDoesNotJoin)
{
    ASSERT_EQ(setenv("PMI_SIZE", "3", 1), 0);
    EXPECT_THAT(unjoined_processes(1), HasSubstr("started 3 processes (PMI_SIZE)"));
    EXPECT_THAT(unjoined_processes(3), IsEmpty());
    ASSERT_EQ(setenv("PMI_SIZE", "1", 1), 0);
    EXPECT_THAT(unjoined_processes(1), IsEmpty());
    unsetenv("PMI_SIZE");
}

/// Under srun, ranks without a binding share all processors of their job.
TEST(Launch, NoticesRanksThatShareProcessors)
{
    const auto warning = [](const std::vector<RankFacts>& ranks) { return oversubscription(ranks); };
    EXPECT_THAT(warning({rank_on("n1", 2, "11"), rank_on("n1", 2, "11"), rank_on("n1", 2, "11")}),
                AllOf(HasSubstr("3 ranks with 6 threads in all share 2 processors of n1"),
                      HasSubstr("OMP_NUM_THREADS=1")));
    EXPECT_THAT(warning({rank_on("n1", 2, "0011"), rank_on("n1", 2, "1100")}), IsEmpty());
    EXPECT_THAT(warning({rank_on("n1", 2, "11"), rank_on("n2", 2, "11")}), IsEmpty());
    // Asked for by the user: single threads.
    EXPECT_THAT(warning({rank_on("n1", 1, "1"), rank_on("n1", 1, "1")}), IsEmpty());
    EXPECT_THAT(warning({rank_on("n1", 2, ""), rank_on("n1", 2, "")}), IsEmpty());  // unknown
}

TEST(Launch, KnowsJobsOfBatchSystems)
{
    for (const char* variable : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"}) {
        unsetenv(variable);
    }
    EXPECT_THAT(batch_job().id, IsEmpty());
    for (const auto& [system, variable] : {std::pair{"Slurm", "SLURM_JOB_ID"}, std::pair{"PBS", "PBS_JOBID"},
                                           std::pair{"LSF", "LSB_JOBID"}, std::pair{"Flux", "FLUX_JOB_ID"}}) {
        setenv(variable, "7", 1);
        EXPECT_EQ(batch_job().system, system);
        EXPECT_EQ(batch_job().id, "7");
        unsetenv(variable);
    }
}

TEST(Launch, OfOneProcessIsItsOwn)
{
    Communicator alone;
    const std::vector<RankFacts> ranks = gather(alone, facts_of_this_rank(), [] {});
    ASSERT_EQ(ranks.size(), 1U);
    EXPECT_FALSE(ranks[0].node.empty());
    EXPECT_GE(ranks[0].processors.count(), 1U);
    EXPECT_EQ(ranks[0].build.catalog.size(), 16U);
}

}  // namespace
}  // namespace prismopt
