#include "optimizer/parallel/communicator.hpp"

#include <gtest/gtest.h>

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

TEST(TeamOfOne, AbortEndsTheProcessWithTheCode) { EXPECT_EXIT(Communicator().abort(7), testing::ExitedWithCode(7), ""); }

TEST(MessageCount, IsCheckedAgainstTheLimitOfMpi)
{
    constexpr auto limit = static_cast<std::size_t>(std::numeric_limits<int>::max());
    EXPECT_EQ(message_count(0), 0);
    EXPECT_EQ(message_count(limit), std::numeric_limits<int>::max());
    EXPECT_THROW(message_count(limit + 1), std::runtime_error);
}

}  // namespace
}  // namespace prismopt
