#include "optimizer/crew.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace prismopt {
namespace {

Message reversed(const Message& item) { return {item.rbegin(), item.rend()}; }

TEST(CrewOfOne, ReturnsResultsInOrder)
{
    Communicator team;
    Crew crew(team, reversed);
    for (int i = 0; i < 5; ++i) {
        crew.submit({std::byte{1}, std::byte(i)});
    }
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(crew.outstanding(), 5u - i);
        EXPECT_EQ(crew.next(), (Message{std::byte(i), std::byte{1}}));
    }
    EXPECT_EQ(crew.outstanding(), 0u);
}

TEST(CrewOfOne, ComputesOnlyWhatIsAskedFor)
{
    Communicator team;
    int computed = 0;
    Crew crew(team, [&computed](const Message& item) {
        ++computed;
        return item;
    });
    crew.submit({});
    crew.submit({});
    EXPECT_EQ(computed, 0);
    crew.next();
    EXPECT_EQ(computed, 1);
    crew.release();
    EXPECT_EQ(crew.outstanding(), 0u);
    ASSERT_EQ(crew.accounts().size(), 1u);
    EXPECT_EQ(crew.accounts()[0].items, 1u);
    EXPECT_EQ(crew.idle_share(), 0.0);  // alone it never waits
}

TEST(CrewOfOne, PassesOnWhatTheWorkThrows)
{
    Communicator team;
    Crew crew(team, [](const Message&) -> Message { throw std::runtime_error("disk full"); });
    crew.submit({});
    EXPECT_THROW(crew.next(), std::runtime_error);
}

}  // namespace
}  // namespace prismopt
