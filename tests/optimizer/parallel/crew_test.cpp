#include "optimizer/parallel/crew.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

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

/// Of two bytes the first is known to be done.
TEST(CrewOfOne, WorksOnWhatAMemoryLacks)
{
    Communicator team;
    std::vector<std::size_t> worked;
    Crew crew(team, [&worked](const Message& item) {
        worked.push_back(item.size());
        return item;
    });
    crew.remember({[](const Message& item) { return item.size() < 2 ? std::nullopt : std::optional(Message{item.back()}); },
                   [](const Message& item, const Message& result) {
                       Message whole{item.front()};
                       for (const std::byte byte : result) whole.push_back(byte);
                       return whole;
                   }});
    const std::vector<Message> items{{std::byte{1}, std::byte{2}}, {std::byte{3}}, {std::byte{4}, std::byte{5}}};
    for (const Message& item : items) crew.submit(item);
    for (const Message& item : items) EXPECT_EQ(crew.next(), item);
    EXPECT_EQ(worked, (std::vector<std::size_t>{1, 1}));
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
