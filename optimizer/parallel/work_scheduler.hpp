#pragma once

/// Distribution of ordered work items over a team of ranks.

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

/// Assigns items to ranks on demand and returns results in the order of submission, whichever rank computed them.
///
/// Every rank has one, with the same `work`; rank 0 submits items and collects results, the other ranks serve. A worker holds two
/// or more items, so it seldom waits for rank 0. In a small team rank 0 also computes items: first unassigned ones, then those
/// that a worker has not started. An item that the worker starts at that moment is computed twice, and the later result is
/// dropped.
class WorkScheduler {
public:
    using Work = std::function<Message(const Message&)>;
    using Stop = std::function<bool()>;

    /// Time account of a rank. The rest of its time went into messages and its caller.
    struct Account {
        std::uint64_t items = 0;
        double busy_s = 0.0;  // in `work`
        double idle_s = 0.0;  // waiting for an item or, on rank 0, for a result
    };

    /// `stop`: whether the run is to stop; called several times per second on every rank, but only the answer of rank 0 counts.
    WorkScheduler(Communicator& team, Work work, Stop stop = {});

    /// Results of an earlier run: items that are complete or partly done.
    struct Memory {
        std::function<std::optional<Message>(const Message& item)> missing;  // the part that is still to be computed
        std::function<Message(const Message& item, const Message& result)>
            complete;  // the result of the whole item, from that of the missing part
    };
    /// Call on rank 0, before the first item.
    void remember(Memory memory) { memory_ = std::move(memory); }

    // Rank 0. Exceptions of `work` pass through `next`; the caller then ends the team with `abort`.
    void submit(Message item);
    Message next();  // result of the oldest outstanding item; there must be one. Throws Stopped if the run is to stop
    std::size_t outstanding() const { return outstanding_.size(); }
    void release();  // ends `serve` on the other ranks and drops outstanding items; call once

    /// The other ranks: computes items until released. An exception of `work` is printed and ends the program on all ranks with
    /// code 1.
    void serve();

    /// Called by long work. Throws Stopped if the result is no longer needed: the run is to stop, or the rank was released.
    void pause();

    /// Accounts by rank. Those of other ranks are known on rank 0 only: as of their latest result, and complete after `release`.
    const std::vector<Account>& accounts() const { return accounts_; }
    /// Idle share of the time of all ranks since the start, by these accounts.
    double idle_share() const;

private:
    struct Outstanding {
        Message item;  // the whole item, if there is a memory
        std::optional<Message> result;
    };
    struct Parcel {
        std::uint64_t number = 0;
        Message content;
    };

    bool computes() const;  // rank 0
    /// Changes the items that a rank holds.
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
    std::set<std::pair<std::size_t, int>> load_;  // (items held, rank), the least busy first
    std::vector<std::deque<Held>> held_;          // [rank - 1]: items of a worker without result, in the order of assignment
    std::uint64_t oldest_ = 0;                    // number of the item whose result `next` returns
    std::deque<Outstanding> outstanding_;         // oldest_, oldest_ + 1, ...
    std::deque<Parcel> waiting_;                  // not assigned yet, in order
    Memory memory_;
    // The other ranks:
    std::deque<Parcel> items_;  // to be computed
    bool released_ = false;
};

}  // namespace prismopt
