#pragma once

/// Distribution of ordered work items over a team of ranks.

#include "optimizer/parallel/communicator.hpp"
#include "optimizer/parallel/stop.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace prismopt {

/// Assigns items to ranks on demand and hands each result to who submitted the item, in the
/// order in which results arrive.
///
/// Every rank has one, with the same `work`; rank 0 submits items and waits for results, the other ranks
/// serve. A worker holds two or more items, so it seldom waits for rank 0. In a small team rank 0 also
/// computes items: first unassigned ones, then those that a worker has not started. An item that the worker
/// starts at that moment is computed twice, and the later result is dropped.
class WorkScheduler {
public:
    using Work = std::function<Message(const Message&)>;
    using Stop = std::function<bool()>;
    /// Takes the result of an item, on rank 0. May submit further items.
    using Done = std::function<void(Message result)>;
    /// Urgent items go before all that wait.
    enum class Urgency { urgent, ordinary };

    /// Which kind of work an item is, below most_kinds.
    using Kind = std::function<std::size_t(const Message& item)>;
    static constexpr std::size_t most_kinds = 4;

    /// Time account of a rank. The remaining time was spent on messages and in the caller.
    struct Account {
        std::uint64_t items = 0;
        double busy_s = 0.0;                         // in `work`
        double idle_s = 0.0;                         // waiting for an item or, on rank 0, for a result
        double wall_s = 0.0;                         // since the start, as of its latest item
        std::array<double, most_kinds> by_kind_s{};  // of `busy_s`
    };

    /// `stop`: whether the run is to stop; called several times per second on every rank, but only the answer
    /// of rank 0 counts. `kind`: none: all items are of one kind. The team must outlive this object.
    WorkScheduler(Communicator& team, Work work, Stop stop = {}, Kind kind = {});

    // Rank 0. Exceptions of `work` and `done` pass through `wait`; the caller
    // then ends the team with `abort`.
    void submit(Message item, Done done, Urgency urgency = Urgency::ordinary);
    /// Works and serves until `enough`, which results must bring about. Throws Stopped if the run is to stop.
    void wait(const std::function<bool()>& enough);
    std::size_t outstanding() const { return outstanding_.size(); }
    void release();  // ends `serve` on the other ranks and drops outstanding items; call once

    /// The other ranks: computes items until released. An exception of `work` is printed and ends the program
    /// on all ranks with code 1, but for std::bad_alloc, which passes through.
    void serve();

    /// Called by long work. Throws Stopped if the result is no longer needed: the run is to
    /// stop, or the rank was released.
    void pause();

    /// Accounts by rank. Those of other ranks are known on rank 0 only: as of their latest
    /// result, and complete after `release`.
    const std::vector<Account>& accounts() const { return accounts_; }
    /// Idle share of the time of all ranks since the start, by these accounts.
    double idle_share() const;

private:
    struct Parcel {
        std::uint64_t number = 0;
        Message content;
    };

    bool computes() const;  // rank 0
    Parcel pop_waiting();
    std::optional<Parcel> own_item();
    /// Changes the items that a rank holds.
    template <class Change>
    void with_held(int rank, Change change);
    std::optional<Parcel> reclaim();
    void finish(std::uint64_t number, Message result);
    Message compute(const Message& item);
    double wall_s() const;
    std::optional<Arrival> receive();
    bool stops() const { return stop_ && stop_(); }
    void work_until_released();
    void receive_arrivals();
    void receive_arrival(const Message& arrival);
    void assign_items();
    void keep(const Arrival& arrival);

    Communicator& team_;
    Work work_;
    Stop stop_;
    Kind kind_;
    std::chrono::steady_clock::time_point paused_ = std::chrono::steady_clock::now();
    std::vector<Account> accounts_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    struct Held {
        Parcel parcel;
        bool taken_back = false;
    };
    std::set<std::pair<std::size_t, int>> load_;  // (items held, rank), the least busy first
    // [rank - 1]: items of a worker without result, in the order of assignment
    std::vector<std::deque<Held>> held_;
    std::uint64_t submitted_ = 0;                                   // items so far: the number of the next
    std::map<std::uint64_t, Done> outstanding_;                     // by number: who takes the result
    std::map<std::pair<Urgency, std::uint64_t>, Message> waiting_;  // not assigned yet, by number
    // The other ranks:
    std::deque<Parcel> items_;  // to be computed
    bool released_ = false;
};

}  // namespace prismopt
