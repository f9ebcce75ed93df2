#include "optimizer/parallel/work_scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

namespace prismopt {
namespace {

Message reversed(const Message& item) { return {item.rbegin(), item.rend()}; }

TEST(SchedulerOfOne, ReturnsResultsInOrder)
{
    Communicator team;
    WorkScheduler scheduler(team, reversed);
    for (int i = 0; i < 5; ++i) {
        scheduler.submit({std::byte{1}, std::byte(i)});
    }
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(scheduler.outstanding(), 5u - i);
        EXPECT_EQ(scheduler.next(), (Message{std::byte(i), std::byte{1}}));
    }
    EXPECT_EQ(scheduler.outstanding(), 0u);
}

TEST(SchedulerOfOne, ComputesOnlyWhatIsAskedFor)
{
    Communicator team;
    int computed = 0;
    WorkScheduler scheduler(team, [&computed](const Message& item) {
        ++computed;
        return item;
    });
    scheduler.submit({});
    scheduler.submit({});
    EXPECT_EQ(computed, 0);
    scheduler.next();
    EXPECT_EQ(computed, 1);
    scheduler.release();
    EXPECT_EQ(scheduler.outstanding(), 0u);
    ASSERT_EQ(scheduler.accounts().size(), 1u);
    EXPECT_EQ(scheduler.accounts()[0].items, 1u);
    EXPECT_EQ(scheduler.idle_share(), 0.0);  // alone it never waits
}

/// Of two bytes the first is known to be done.
TEST(SchedulerOfOne, WorksOnWhatAMemoryLacks)
{
    Communicator team;
    std::vector<std::size_t> worked;
    WorkScheduler scheduler(team, [&worked](const Message& item) {
        worked.push_back(item.size());
        return item;
    });
    scheduler.remember({[](const Message& item) { return item.size() < 2 ? std::nullopt : std::optional(Message{item.back()}); },
                        [](const Message& item, const Message& result) {
                            Message whole{item.front()};
                            for (const std::byte byte : result) whole.push_back(byte);
                            return whole;
                        }});
    const std::vector<Message> items{{std::byte{1}, std::byte{2}}, {std::byte{3}}, {std::byte{4}, std::byte{5}}};
    for (const Message& item : items) scheduler.submit(item);
    for (const Message& item : items) EXPECT_EQ(scheduler.next(), item);
    EXPECT_EQ(worked, (std::vector<std::size_t>{1, 1}));
}

TEST(SchedulerOfOne, PassesOnWhatTheWorkThrows)
{
    Communicator team;
    WorkScheduler scheduler(team, [](const Message&) -> Message { throw std::runtime_error("disk full"); });
    scheduler.submit({});
    EXPECT_THROW(scheduler.next(), std::runtime_error);
}

}  // namespace
}  // namespace prismopt
