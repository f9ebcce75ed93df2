#include "optimizer/parallel/work_scheduler.hpp"

#include "tests/optimizer/mpi/team.hpp"
#include "tests/support/ordered_items.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

namespace prismopt {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Scattered values below 2^32, the same everywhere (Knuth's multiplicative hash).
std::uint32_t scattered(int index) { return static_cast<std::uint32_t>(index) * 2654435761u; }

Message echo(const Message& item) { return item; }

Message sleepy(const Message& item)
{
    std::this_thread::sleep_for(std::chrono::microseconds(scattered(value_of<int>(item)) % 4000));
    return item;
}

Message rounded(const Message& item) { return message_of(std::sin(value_of<int>(item)) / 3.0); }

/// Rank 0 submits `items` indices with at most `ahead` outstanding and hands each
/// result to `use`; the others serve.
template <class Use>
std::vector<WorkScheduler::Account> run_scheduler(const WorkScheduler::Work& work, int items, int ahead,
                                                  Use use)
{
    team().broadcast({});
    WorkScheduler scheduler(team(), work);
    if (team().rank() != 0) {
        scheduler.serve();
        return {};
    }
    OrderedItems ordered(scheduler);
    int submitted = 0;
    for (int asked = 0; asked < items; ++asked) {
        while (submitted < items && submitted < asked + ahead) {
            ordered.submit(message_of(submitted++));
        }
        EXPECT_LE(scheduler.outstanding(), static_cast<std::size_t>(submitted - asked));
        use(asked, ordered.next());
    }
    EXPECT_EQ(scheduler.outstanding(), 0U);
    scheduler.release();
    return scheduler.accounts();
}

TEST(WorkScheduler, ReturnsManyTinyItemsInOrder)
{
    constexpr int items = 10'000;
    const auto start = Clock::now();
    run_scheduler(echo, items, items,
                  [](int index, const Message& result) { ASSERT_EQ(value_of<int>(result), index); });
    if (team().rank() == 0) {
        std::printf("%d ranks: %.0f empty items a second\n", team().size(), items / seconds_since(start));
    }
}

TEST(WorkScheduler, KeepsTheOrderOfItemsOfAnyDuration)
{
    for (const int ahead : {1, 3, 100}) {
        run_scheduler(sleepy, 100, ahead,
                      [](int index, const Message& result) { ASSERT_EQ(value_of<int>(result), index); });
    }
}

TEST(WorkScheduler, SumsAsOneRankDoes)
{
    constexpr int items = 2'000;
    double serial = 0.0;
    for (int i = 0; i < items; ++i) {
        serial += value_of<double>(rounded(message_of(i)));
    }
    double sum = 0.0;
    run_scheduler(rounded, items, 64,
                  [&sum](int, const Message& result) { sum += value_of<double>(result); });
    if (team().rank() == 0) {
        EXPECT_EQ(sum, serial);  // bit for bit
    }
}

/// Each item is followed by an urgent one, submitted where its result is taken.
TEST(WorkScheduler, ResultsMaySubmitUrgentItems)
{
    team().broadcast({});
    WorkScheduler scheduler(team(), sleepy);
    if (team().rank() != 0) {
        scheduler.serve();
        return;
    }
    constexpr int items = 400;
    std::vector<int> arrived;
    for (int i = 0; i < items; ++i) {
        scheduler.submit(message_of(i), [&](const Message& first) {
            const auto follow = [&arrived](const Message& second) {
                arrived.push_back(value_of<int>(second));
            };
            scheduler.submit(message_of(items + value_of<int>(first)), follow,
                             WorkScheduler::Urgency::urgent);
        });
    }
    scheduler.wait([&] { return arrived.size() == items; });
    std::sort(arrived.begin(), arrived.end());
    for (int i = 0; i < items; ++i) {
        EXPECT_EQ(arrived[static_cast<std::size_t>(i)], items + i);
    }
    scheduler.release();
}

TEST(WorkScheduler, SharesTheWorkAndAccountsForIt)
{
    constexpr int items = 200;
    const auto start = Clock::now();
    const auto accounts = run_scheduler(sleepy, items, items, [](int, const Message&) {});
    if (team().rank() != 0) {
        return;
    }
    const double wall_s = seconds_since(start);
    ASSERT_EQ(accounts.size(), static_cast<std::size_t>(team().size()));
    std::uint64_t sum = 0;
    for (std::size_t rank = 0; rank < accounts.size(); ++rank) {
        const WorkScheduler::Account& account = accounts[rank];
        const bool coordinates = rank == 0 && team().size() > 16;
        EXPECT_EQ(account.items == 0, coordinates) << "rank " << rank;
        EXPECT_EQ(account.busy_s > 0.0, account.items > 0) << "rank " << rank;
        EXPECT_LE(account.busy_s + account.idle_s, wall_s) << "rank " << rank;
        sum += account.items;
    }
    // Items that rank 0 took back in the moment in which their workers began are counted
    // twice: they are among the last.
    EXPECT_GE(sum, static_cast<std::uint64_t>(items));
    EXPECT_LE(sum, static_cast<std::uint64_t>(items) + 4U);
}

/// What a worker has not begun when rank 0 has nothing to do, rank 0 does, where it computes.
TEST(WorkScheduler, TakesBackWhatWorkersHaveNotBegun)
{
    if (team().size() > 16) {
        GTEST_SKIP() << "rank 0 coordinates";
    }
    team().broadcast({});
    const auto slow_on_workers = [](const Message& item) {
        std::this_thread::sleep_for(std::chrono::milliseconds(team().rank() == 0 ? 1 : 400));
        return item;
    };
    WorkScheduler scheduler(team(), slow_on_workers);
    if (team().rank() != 0) {
        scheduler.serve();
        return;
    }
    OrderedItems ordered(scheduler);
    const int items = 2 * team().size();
    for (int i = 0; i < items; ++i) {
        ordered.submit(message_of(i));
    }
    for (int i = 0; i < items; ++i) {
        EXPECT_EQ(value_of<int>(ordered.next()), i);
    }
    scheduler.release();
    for (std::size_t rank = 1; rank < scheduler.accounts().size(); ++rank) {
        // Without taking back they would do their second ones, too.
        EXPECT_EQ(scheduler.accounts()[rank].items, 1U) << rank;
    }
}

TEST(WorkScheduler, ReleaseDropsWhatIsOutstanding)
{
    team().broadcast({});
    const auto slow = [](const Message& item) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return item;
    };
    WorkScheduler scheduler(team(), slow);
    if (team().rank() != 0) {
        scheduler.serve();
        return;
    }
    for (int i = 0; i < 10 * team().size(); ++i) {
        scheduler.submit(message_of(i), [](const Message&) { FAIL() << "dropped"; });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    scheduler.release();
    EXPECT_EQ(scheduler.outstanding(), 0u);
    for (const WorkScheduler::Account& account : scheduler.accounts()) {
        EXPECT_LE(account.items, 1u);  // the item that a worker has begun, not the second it holds
    }
}

/// Works for half a minute, unless it is given up.
void work_long(WorkScheduler& scheduler)
{
    const auto start = Clock::now();
    while (seconds_since(start) < 30.0) {
        scheduler.pause();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// Every rank gives up what it is at, and nobody waits for more than a moment.
void expect_prompt_end(const WorkScheduler::Stop& stop, const std::function<void()>& while_working)
{
    team().broadcast({});
    std::optional<WorkScheduler> made;
    WorkScheduler& scheduler = made.emplace(
        team(),
        [&](const Message& item) {
            while_working();
            work_long(*made);
            return item;
        },
        stop);
    const auto start = Clock::now();
    if (team().rank() != 0) {
        scheduler.serve();
    } else {
        for (int i = 0; i < 3 * team().size(); ++i) {
            scheduler.submit(message_of(i), [](const Message&) {});
        }
        EXPECT_THROW(scheduler.wait([] { return false; }), Stopped);
        scheduler.release();
    }
    EXPECT_LT(seconds_since(start), 3.0);
}

TEST(WorkScheduler, GivesUpLongItemsWhenItIsToStop)
{
    const auto start = Clock::now();
    expect_prompt_end([&] { return team().rank() == 0 && seconds_since(start) > 0.3; }, [] {});
}

/// The signal of any rank stops all of them.
TEST(WorkScheduler, StopsByASignalToAnyRank)
{
    catch_stop_signals();
    const StopRequest request(std::nullopt, team());
    const int last = team().size() - 1;
    expect_prompt_end([&] { return request.reason().has_value(); },
                      [&] {
                          if (team().rank() == last) {
                              std::raise(SIGUSR1);
                          }
                      });
    if (team().rank() == 0) {
        EXPECT_EQ(request.reason(), "SIGUSR1");
    }
}

TEST(WorkScheduler, CarriesLargeItemsAndResults)
{
    team().broadcast({});
    WorkScheduler scheduler(team(), [](const Message& item) { return Message(item.rbegin(), item.rend()); });
    if (team().rank() != 0) {
        scheduler.serve();
        return;
    }
    OrderedItems ordered(scheduler);
    Message item(2'000'000);
    for (std::size_t i = 0; i < item.size(); ++i) {
        item[i] = static_cast<std::byte>(i / 7);
    }
    for (int i = 0; i < 12; ++i) {
        item[0] = std::byte(i);
        ordered.submit(item);
    }
    for (int i = 0; i < 12; ++i) {
        item[0] = std::byte(i);
        EXPECT_TRUE(ordered.next() == Message(item.rbegin(), item.rend()));
    }
    scheduler.release();
}

}  // namespace
}  // namespace prismopt
