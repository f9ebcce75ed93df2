#include "optimizer/parallel/work_scheduler.hpp"

#include "tests/support/ordered_items.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace prismopt {
namespace {

Message reversed(const Message& item) { return {item.rbegin(), item.rend()}; }

TEST(SchedulerOfOne, ReturnsResultsInOrder)
{
    Communicator team;
    WorkScheduler scheduler(team, reversed);
    OrderedItems ordered(scheduler);
    for (int i = 0; i < 5; ++i) {
        ordered.submit({std::byte{1}, std::byte(i)});
    }
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(scheduler.outstanding(), 5u - i);
        EXPECT_EQ(ordered.next(), (Message{std::byte(i), std::byte{1}}));
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
    OrderedItems ordered(scheduler);
    ordered.submit({});
    ordered.submit({});
    EXPECT_EQ(computed, 0);
    ordered.next();
    EXPECT_EQ(computed, 1);
    scheduler.release();
    EXPECT_EQ(scheduler.outstanding(), 0u);
    ASSERT_EQ(scheduler.accounts().size(), 1u);
    EXPECT_EQ(scheduler.accounts()[0].items, 1u);
    EXPECT_EQ(scheduler.idle_share(), 0.0);  // alone it never waits
}

TEST(SchedulerOfOne, TakesUrgentItemsFirst)
{
    Communicator team;
    std::vector<int> order;
    WorkScheduler scheduler(team, [](const Message& item) { return item; });
    const auto note = [&order](const Message& result) { order.push_back(static_cast<int>(result.front())); };
    scheduler.submit({std::byte{1}}, note);
    scheduler.submit({std::byte{2}}, [&](const Message& result) {
        note(result);
        scheduler.submit({std::byte{6}}, note, WorkScheduler::Urgency::urgent);
    });
    scheduler.submit({std::byte{3}}, note);
    scheduler.submit({std::byte{4}}, note, WorkScheduler::Urgency::urgent);
    scheduler.submit({std::byte{5}}, note, WorkScheduler::Urgency::urgent);
    scheduler.wait([&] { return order.size() == 6; });
    EXPECT_EQ(order, (std::vector<int>{4, 5, 1, 2, 6, 3}));
}

TEST(SchedulerOfOne, PassesOnWhatTheWorkThrows)
{
    Communicator team;
    WorkScheduler scheduler(team, [](const Message&) -> Message { throw std::runtime_error("disk full"); });
    scheduler.submit({}, [](const Message&) {});
    EXPECT_THROW(scheduler.wait([] { return false; }), std::runtime_error);
}

}  // namespace
}  // namespace prismopt
