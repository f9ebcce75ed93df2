#pragma once

/// Ordered work over a team of ranks.

#include "optimizer/parallel/communicator.hpp"
#include "optimizer/parallel/stop.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace prismopt {

/// Hands out items on demand, returns results in the order of submission, whoever computed them and when.
///
/// Every rank has one, with the same `work`; rank 0 submits and asks, the others serve. A worker has two items or some more, so
/// it seldom waits for rank 0, which computes items itself in a small team: those that nobody has, then those that a worker has not begun.
/// One that the worker began in that moment is worked on twice, and the later result dropped.
class Crew {
public:
    using Work = std::function<Message(const Message&)>;
    using Stop = std::function<bool()>;

    /// What a rank did. The rest of its time went into messages and whatever its caller does.
    struct Account {
        std::uint64_t items = 0;
        double busy_s = 0.0;  // in `work`
        double idle_s = 0.0;  // waiting for an item or, on rank 0, for a result
    };

    /// `stop`: whether the run is to stop, asked several times a second, whatever a rank does; only rank 0's answer counts.
    Crew(Communicator& team, Work work, Stop stop = {});

    /// What an earlier run left of items: some are done already, wholly or in parts.
    struct Memory {
        std::function<std::optional<Message>(const Message& item)> missing;  // what is still to be worked on
        std::function<Message(const Message& item, const Message& result)>
            complete;  // the item's result, with that of the missing
    };
    /// Rank 0, before the first item.
    void remember(Memory memory) { memory_ = std::move(memory); }

    // Rank 0. What `work` throws here passes through `next`; the caller is to end the team with `abort`.
    void submit(Message item);
    Message next();  // result of the oldest item not yet returned; needs one outstanding. Throws Stopped where the run is to stop
    std::size_t outstanding() const { return outstanding_.size(); }
    void release();  // ends `serve` on the other ranks and drops what is outstanding; once

    /// The other ranks: works until released. What `work` throws is printed and ends the program on all ranks with code 1.
    void serve();

    /// Long work calls it in between. Throws Stopped where the result is not wanted any more: the run is to stop, or is released.
    void pause();

    /// By rank; of ranks other than this one on rank 0 only, as of their newest result, and after `release` to their end.
    const std::vector<Account>& accounts() const { return accounts_; }
    /// Of the time of all ranks since the crew began, by these accounts.
    double idle_share() const;

private:
    struct Outstanding {
        Message item;  // whole, where there is a memory
        std::optional<Message> result;
    };
    struct Parcel {
        std::uint64_t number = 0;
        Message content;
    };

    bool computes() const;  // rank 0
    /// Changes what a rank holds.
    template <class Change>
    void with_held(int rank, Change change);
    std::optional<Parcel> take_back();
    void finish(std::uint64_t number, Message result);
    Message compute(const Message& item);
    std::optional<Arrival> receive();
    bool stops() const { return stop_ && stop_(); }
    void work_until_released();
    void take_arrivals();
    void take(const Message& arrival);
    void hand_out();
    void keep(const Arrival& arrival);

    Communicator& team_;
    Work work_;
    Stop stop_;
    std::chrono::steady_clock::time_point paused_ = std::chrono::steady_clock::now();
    std::vector<Account> accounts_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    struct Held {
        Parcel parcel;
        bool taken_back = false;
    };
    std::set<std::pair<std::size_t, int>> load_;  // items held, rank: the least busy first
    std::vector<std::deque<Held>> held_;          // [rank - 1]: what a worker has and has not answered, as it was handed out
    std::uint64_t oldest_ = 0;                    // number of the item whose result `next` returns
    std::deque<Outstanding> outstanding_;         // oldest_, oldest_ + 1, ...
    std::deque<Parcel> waiting_;                  // which nobody has yet, in order
    Memory memory_;
    // The other ranks:
    std::deque<Parcel> items_;  // to be worked on
    bool released_ = false;
};

}  // namespace prismopt
