#include "tests/optimizer/mpi/team.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>
#include <vector>

namespace prismopt {
namespace {

/// 5 MB that differ by `mark`; far more than MPI sends before the receiver answers.
Message large_message(int mark)
{
    Message message(5'000'000);
    for (std::size_t i = 0; i < message.size(); ++i) {
        message[i] = static_cast<std::byte>(i * 31 + i / 1000 + static_cast<std::size_t>(mark));
    }
    return message;
}

double cpu_time_s()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(Communicator, BroadcastsFromRank0)
{
    for (const int mark : {1, 2}) {
        EXPECT_TRUE(team().broadcast(team().rank() == 0 ? large_message(mark) : Message{}) ==
                    large_message(mark));
    }
    EXPECT_TRUE(team().broadcast(team().rank() == 0 ? Message{} : large_message(1)).empty());
}

TEST(Communicator, EchoesMessagesOfAnySize)
{
    team().broadcast({});
    for (const std::size_t bytes : {0, 1, 4096, 65536, 1000000}) {
        if (team().rank() == 0) {
            for (int worker = 1; worker < team().size(); ++worker) {
                team().send(worker, Message(bytes, std::byte(worker)));
            }
            for (int worker = 1; worker < team().size(); ++worker) {
                const Arrival arrival = team().receive();
                EXPECT_TRUE(arrival.second == Message(bytes, std::byte(arrival.first)));
            }
        } else {
            const Arrival arrival = team().receive();
            EXPECT_EQ(arrival.first, 0);
            team().send(0, arrival.second);
        }
    }
}

TEST(Communicator, SendsLargeMessagesBothWaysAtOnceAndInOrder)
{
    team().broadcast({});
    const int workers = team().size() - 1;
    if (team().rank() != 0) {
        team().send(0, large_message(team().rank()));
        team().send(0, message_of(team().rank()));
        EXPECT_TRUE(team().receive().second == large_message(0));
        EXPECT_EQ(value_of<int>(team().receive().second), 99);
        return;
    }
    for (int worker = 1; worker <= workers; ++worker) {
        team().send(worker, large_message(0));
        team().send(worker, message_of(99));
    }
    std::vector<int> from(team().size(), 0);
    for (int i = 0; i < 2 * workers; ++i) {
        const Arrival arrival = team().receive();
        const bool first = from[arrival.first]++ == 0;
        EXPECT_TRUE(arrival.second == (first ? large_message(arrival.first) : message_of(arrival.first)));
    }
}

/// Seconds of processor time that this rank spends in `wait`, which rank 0 ends after half a second.
template <class Wait, class End>
double waiting_cost_s(Wait wait, End end)
{
    team().broadcast({});
    if (team().rank() == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        end();
        return 0.0;
    }
    const double before_s = cpu_time_s();
    wait();
    return cpu_time_s() - before_s;
}

TEST(Communicator, WaitingRanksSleep)
{
    if (team().size() == 1) {
        GTEST_SKIP() << "nobody waits";
    }
    const auto send_to_all = [] {
        for (int worker = 1; worker < team().size(); ++worker) {
            team().send(worker, {});
        }
    };
    const auto broadcast = [] { team().broadcast({}); };
    EXPECT_LT(waiting_cost_s([] { team().receive(); }, send_to_all), 0.15);
    EXPECT_LT(waiting_cost_s(broadcast, broadcast), 0.15);
}

}  // namespace
}  // namespace prismopt
