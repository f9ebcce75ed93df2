#include "optimizer/parallel/launch.hpp"

#include "tests/optimizer/mpi/team.hpp"

#include <gtest/gtest.h>

#include <string>

namespace prismopt {
namespace {

TEST(Launch, GathersTheFactsOfAllRanks)
{
    team().broadcast({});
    RankFacts own = facts_of_this_rank();
    own.node = "node " + std::to_string(team().rank());
    own.threads = 10 + team().rank();
    const std::vector<RankFacts> ranks = gather(team(), own, [] {});
    if (team().rank() != 0) {
        EXPECT_TRUE(ranks.empty());
        return;
    }
    ASSERT_EQ(static_cast<int>(ranks.size()), team().size());
    for (int rank = 0; rank < team().size(); ++rank) {
        const RankFacts& facts = ranks[static_cast<std::size_t>(rank)];
        EXPECT_EQ(facts.node, "node " + std::to_string(rank));
        EXPECT_EQ(facts.threads, 10 + rank);
        EXPECT_EQ(facts.build, own.build);
        EXPECT_EQ(facts.processors.any(), own.processors.any());
    }
}

}  // namespace
}  // namespace prismopt
