#include "optimizer/parallel/communicator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace prismopt {
namespace {

TEST(TeamOfOne, NeedsNoMpi)
{
    Communicator team;
    EXPECT_EQ(team.rank(), 0);
    EXPECT_EQ(team.size(), 1);
    EXPECT_FALSE(team.try_receive().has_value());
    const Message message{std::byte{1}, std::byte{2}};
    EXPECT_EQ(team.broadcast(message), message);
}

TEST(TeamOfOne, DoesNotWaitForAMessageThatCannotCome)
{
    Communicator team;
    EXPECT_THROW(team.receive(), std::logic_error);
}

TEST(TeamOfOne, AbortEndsTheProcessWithTheCode)
{
    EXPECT_EXIT(Communicator().abort(7), testing::ExitedWithCode(7), "");
}

/// mpirun of Open MPI, Hydra (MPICH, Intel MPI), srun of any --mpi, PMIx servers, Flux; a batch script, which
/// has SLURM_PROCID, starts no ranks.
TEST(Launcher, IsKnownByTheVariablesOfItsProcesses)
{
    constexpr std::array variables{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",     "PMI_RANK",
                                   "MV2_COMM_WORLD_RANK",  "SLURM_STEP_ID", "PALS_RANKID",
                                   "ALPS_APP_PE",          "FLUX_TASK_RANK"};
    for (const char* name : variables) {
        unsetenv(name);
    }
    setenv("SLURM_PROCID", "0", 1);
    EXPECT_FALSE(Communicator::launched());
    for (const char* name : variables) {
        setenv(name, "0", 1);
        EXPECT_TRUE(Communicator::launched()) << name;
        unsetenv(name);
    }
    unsetenv("SLURM_PROCID");
}

TEST(MessageCount, IsCheckedAgainstTheLimitOfMpi)
{
    constexpr auto limit = static_cast<std::size_t>(std::numeric_limits<int>::max());
    EXPECT_EQ(message_count(0), 0);
    EXPECT_EQ(message_count(limit), std::numeric_limits<int>::max());
    EXPECT_THROW(message_count(limit + 1), std::runtime_error);
}

}  // namespace
}  // namespace prismopt
