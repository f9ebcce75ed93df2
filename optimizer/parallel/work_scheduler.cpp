#include "optimizer/parallel/work_scheduler.hpp"

#include "optimizer/program/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>

namespace prismopt {

namespace {

/// Two hide the way to rank 0 and back; more would leave the last items with few workers. While many wait,
/// more bridge the time in which rank 0 computes a long item and serves nobody.
constexpr std::size_t few_in_flight = 2;
constexpr std::size_t many_in_flight = 4;
constexpr std::size_t many_waiting = 8;  // for each rank

/// While rank 0 computes it serves nobody. With item times that vary by 30 %, each item it
/// computes costs every worker about 5 % of an item in waiting: in a team of more than about
/// twenty that is more than the item is worth.
constexpr int largest_team_where_rank_0_computes = 16;

/// Between two looks at messages and at the clock while a rank computes. Looking takes microseconds.
constexpr auto pause_interval = std::chrono::milliseconds(20);

/// Items travel with their number, results with it and with the account of who worked; an empty message is
/// the release, and what answers it has this number. An item's number with this bit asks for the item back;
/// the answer with it says that it was not begun.
constexpr auto last_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t taken_back_bit = std::uint64_t{1} << 63;

Message pack(std::uint64_t number, const Message& content)
{
    Message message(sizeof number + content.size());
    std::memcpy(message.data(), &number, sizeof number);
    std::copy(content.begin(), content.end(), message.begin() + sizeof number);
    return message;
}

Message pack_result(std::uint64_t number, const WorkScheduler::Account& account, const Message& content)
{
    Message message(sizeof number + sizeof account + content.size());
    std::memcpy(message.data(), &number, sizeof number);
    std::memcpy(message.data() + sizeof number, &account, sizeof account);
    std::copy(content.begin(), content.end(), message.begin() + sizeof number + sizeof account);
    return message;
}

struct ResultParcel {
    std::uint64_t number = 0;
    WorkScheduler::Account account;
    Message content;
};

ResultParcel unpack_result(const Message& message)
{
    ResultParcel parcel;
    assert(message.size() >= sizeof parcel.number + sizeof parcel.account);
    std::memcpy(&parcel.number, message.data(), sizeof parcel.number);
    std::memcpy(&parcel.account, message.data() + sizeof parcel.number, sizeof parcel.account);
    parcel.content.assign(message.begin() + sizeof parcel.number + sizeof parcel.account, message.end());
    return parcel;
}

/// Adds the seconds of its life to a counter.
class Stopwatch {
public:
    explicit Stopwatch(double& total_s) : total_s_(total_s) {}
    ~Stopwatch() { total_s_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    using Clock = std::chrono::steady_clock;
    double& total_s_;
    Clock::time_point start_ = Clock::now();
};

}  // namespace

WorkScheduler::WorkScheduler(Communicator& team, Work work, Stop stop, Kind kind)
    : team_(team), work_(std::move(work)), stop_(std::move(stop)), kind_(std::move(kind)),
      accounts_(team.size()), held_(team.size() - 1)
{
    for (int worker = 1; worker < team.size(); ++worker) {
        load_.emplace(0, worker);
    }
}

void WorkScheduler::submit(Message item, Done done, Urgency urgency)
{
    assert(team_.rank() == 0);
    outstanding_.emplace(submitted_, std::move(done));
    waiting_.emplace(std::pair(urgency, submitted_), std::move(item));
    ++submitted_;
    assign_items();
}

void WorkScheduler::wait(const std::function<bool()>& enough)
{
    assert(team_.rank() == 0);
    while (true) {
        receive_arrivals();
        if (stops()) {
            throw Stopped("the run stops");
        }
        if (enough()) {
            return;
        }
        assert(!outstanding_.empty());
        if (auto own = own_item()) {
            finish(own->number, compute(own->content));
        } else if (const auto arrival = receive()) {
            keep(*arrival);
        }
    }
}

WorkScheduler::Parcel WorkScheduler::pop_waiting()
{
    auto first = waiting_.extract(waiting_.begin());
    return {first.key().second, std::move(first.mapped())};
}

/// What rank 0 computes next, if it computes and there is something.
std::optional<WorkScheduler::Parcel> WorkScheduler::own_item()
{
    if (!computes()) {
        return std::nullopt;
    }
    return waiting_.empty() ? reclaim() : pop_waiting();
}

void WorkScheduler::release()
{
    assert(team_.rank() == 0);
    waiting_.clear();
    for (int worker = 1; worker < team_.size(); ++worker) {
        team_.send(worker, {});
    }
    for (int missing = team_.size() - 1; missing > 0;) {
        const auto arrival = team_.receive();
        const ResultParcel parcel = unpack_result(arrival.second);
        accounts_[arrival.first] = parcel.account;
        missing -= parcel.number == last_number ? 1 : 0;
    }
    outstanding_.clear();
    accounts_.front().wall_s = wall_s();
}

double WorkScheduler::wall_s() const
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double WorkScheduler::idle_share() const
{
    double idle_s = 0.0;
    for (const Account& account : accounts_) {
        idle_s += account.idle_s;
    }
    return idle_s / (wall_s() * static_cast<double>(accounts_.size()));
}

void WorkScheduler::serve()
{
    assert(team_.rank() != 0);
    try {
        work_until_released();
    } catch (const std::bad_alloc&) {  // the program knows what to say
        throw;
    } catch (const std::exception& error) {
        print_error(fmt::format("rank {}: {}", team_.rank(), error.what()));
        team_.abort(1);
    }
}

void WorkScheduler::work_until_released()
{
    while (!released_) {
        // Everything that has arrived comes first, so that a release is obeyed before the next item.
        if (const auto arrival = items_.empty() ? receive() : team_.try_receive()) {
            receive_arrival(arrival->second);
            continue;
        }
        if (items_.empty()) {
            continue;
        }
        const Parcel parcel = std::move(items_.front());
        items_.pop_front();
        try {
            const Message result = compute(parcel.content);
            team_.send(0, pack_result(parcel.number, accounts_[team_.rank()], result));
        } catch (const Stopped&) {  // released
        }
    }
    accounts_[team_.rank()].wall_s = wall_s();
    team_.send(0, pack_result(last_number, accounts_[team_.rank()], {}));
}

/// On ranks other than 0: an item, the wish to have one back, or the release.
void WorkScheduler::receive_arrival(const Message& arrival)
{
    if (arrival.empty()) {
        released_ = true;
        return;
    }
    Parcel parcel;
    assert(arrival.size() >= sizeof parcel.number);
    std::memcpy(&parcel.number, arrival.data(), sizeof parcel.number);
    parcel.content.assign(arrival.begin() + sizeof parcel.number, arrival.end());
    if ((parcel.number & taken_back_bit) == 0) {
        items_.push_back(std::move(parcel));
    } else if (std::erase_if(items_, [&](const Parcel& item) {
                   return (item.number | taken_back_bit) == parcel.number;
               }) > 0) {
        team_.send(0, pack_result(parcel.number, accounts_[team_.rank()], {}));
    }
}

void WorkScheduler::receive_arrivals()
{
    while (auto arrival = team_.try_receive()) {
        if (team_.rank() == 0) {
            keep(*arrival);
        } else {
            receive_arrival(arrival->second);
        }
    }
}

void WorkScheduler::pause()
{
    const auto now = std::chrono::steady_clock::now();
    if (now - paused_ < pause_interval) {
        return;
    }
    paused_ = now;
    receive_arrivals();
    if (stops() || released_) {
        throw Stopped("the run stops");
    }
}

Message WorkScheduler::compute(const Message& item)
{
    Account& account = accounts_[team_.rank()];
    const Stopwatch busy(account.busy_s);
    const Stopwatch of_kind(account.by_kind_s[kind_ ? kind_(item) : 0]);
    ++account.items;
    return work_(item);
}

/// Nothing where the run is to stop.
std::optional<Arrival> WorkScheduler::receive()
{
    const Stopwatch idle(accounts_[team_.rank()].idle_s);
    return team_.receive([this] { return stops(); });
}

template <class Change>
void WorkScheduler::with_held(int rank, Change change)
{
    std::deque<Held>& held = held_[static_cast<std::size_t>(rank) - 1];
    load_.erase({held.size(), rank});
    change(held);
    load_.emplace(held.size(), rank);
}

bool WorkScheduler::computes() const { return team_.size() <= largest_team_where_rank_0_computes; }

/// Gives waiting items to the workers with the fewest. Where rank 0 computes, it keeps one
/// item before anyone gets a second.
void WorkScheduler::assign_items()
{
    const std::size_t kept = computes() ? 1 : 0;
    while (!waiting_.empty() && !held_.empty()) {
        const bool plenty = kept == 1 && waiting_.size() > many_waiting * accounts_.size();
        const std::size_t most_in_flight = plenty ? many_in_flight : few_in_flight;
        const auto [items, least] = *load_.begin();
        if (items >= most_in_flight || (items > 0 && waiting_.size() <= kept)) {
            return;
        }
        Parcel parcel = pop_waiting();
        team_.send(least, pack(parcel.number, parcel.content));
        with_held(least, [&parcel](std::deque<Held>& held) { held.push_back({std::move(parcel)}); });
    }
}

/// The last item of the worker that has the most, unless it is the one that the worker is at.
std::optional<WorkScheduler::Parcel> WorkScheduler::reclaim()
{
    const auto taken = [](const Held& held) { return held.taken_back; };  // the last ones
    const auto left = [&](const std::deque<Held>& held) {
        return std::find_if(held.begin(), held.end(), taken) - held.begin();
    };
    const auto most = std::max_element(held_.begin(), held_.end(),
                                       [&](const auto& a, const auto& b) { return left(a) < left(b); });
    if (most == held_.end() || left(*most) < 2) {
        return std::nullopt;
    }
    Held& held = (*most)[static_cast<std::size_t>(left(*most)) - 1];
    held.taken_back = true;
    team_.send(static_cast<int>(most - held_.begin()) + 1, pack(held.parcel.number | taken_back_bit, {}));
    return Parcel{held.parcel.number, std::move(held.parcel.content)};
}

/// Takes the first result of an item that was worked on twice.
void WorkScheduler::finish(std::uint64_t number, Message result)
{
    if (auto item = outstanding_.extract(number)) {
        item.mapped()(std::move(result));
    }
}

/// Files a worker's result and gives the worker something new.
void WorkScheduler::keep(const Arrival& arrival)
{
    ResultParcel parcel = unpack_result(arrival.second);
    accounts_[arrival.first] = parcel.account;
    const std::uint64_t number = parcel.number & ~taken_back_bit;
    with_held(arrival.first, [number](std::deque<Held>& held) {
        std::erase_if(held, [number](const Held& item) { return item.parcel.number == number; });
    });
    if (parcel.number == number) {
        finish(number, std::move(parcel.content));
    }
    assign_items();
}

}  // namespace prismopt
