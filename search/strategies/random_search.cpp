#include "search/strategies/random_search.hpp"

#include "search/components/answers.hpp"

#include <algorithm>

namespace prismopt {
namespace {

constexpr std::size_t batch = 256;             // tuples looked at at once
constexpr std::size_t tries_of_one = 200'000;  // for one of them; beyond that the space is taken as exhausted
constexpr std::uint64_t usual_random_evaluations = 4096;  // without a limit by the user

}  // namespace

RandomSearch::RandomSearch(const Space& space, const StudyGoal& goal)
    : space_(space), goal_(goal), moves_(space), random_(goal.seed, 0), race_({.top_rung = goal.top_rung})
{
    if (goal_.max_evaluations == 0) {
        goal_.max_evaluations = usual_random_evaluations;
    }
}

std::vector<SweepRange> RandomSearch::propose()
{
    std::vector<SweepRange> ranges;
    while (ranges.size() < batch && !exhausted_) {
        std::size_t left = tries_of_one;
        for (; left > 0; --left) {
            const Point point = moves_.any(random_);
            if (!space_.allows_all(point)) {
                continue;
            }
            const std::uint64_t index = space_.index(point);
            if (!known_.insert(index).second) {
                continue;
            }
            ranges.push_back({index, index + 1});
            break;
        }
        exhausted_ = left == 0 || known_.size() == space_.size();
    }
    return ranges;
}

std::optional<std::vector<Request>> RandomSearch::ask()
{
    if (!swept_.empty() || !awaited_.empty()) {
        return std::vector<Request>{};
    }
    std::vector<Request> requests;
    if (!feasible_.empty()) {
        const std::uint64_t most = std::min<std::uint64_t>(feasible_.size(), goal_.max_evaluations - drawn_);
        awaited_.assign(feasible_.begin(), feasible_.begin() + static_cast<std::ptrdiff_t>(most));
        feasible_.clear();
        drawn_ += most;
    } else if (drawn_ < goal_.max_evaluations && !exhausted_) {
        const std::vector<SweepRange> ranges = propose();
        swept_.assign(ranges.begin(), ranges.end());
        requests.assign(ranges.begin(), ranges.end());
        if (!requests.empty()) {
            return requests;
        }
    }
    if (awaited_.empty()) {
        const std::vector<PointRequest> climbing = race_.next();
        awaited_.assign(climbing.begin(), climbing.end());
    }
    if (awaited_.empty()) {
        return std::nullopt;
    }
    requests.assign(awaited_.begin(), awaited_.end());
    return requests;
}

void RandomSearch::tell(std::span<const Answer> answers)
{
    for (const Answer& answer : answers) {
        if (swept_.empty()) {
            race_.add(expected(answer, awaited_));
            continue;
        }
        for (const Bound& bound : expected(answer, swept_.front()).feasible) {
            feasible_.push_back({bound.index, 1});
            ++found_;
        }
        swept_.pop_front();
    }
}

Outcome RandomSearch::outcome() const
{
    Outcome outcome;
    outcome.method = SearchMethod::random;
    outcome.confidence = goal_.confidence;
    outcome.complete = race_.over();
    outcome.end = exhausted_ ? SearchEnd::nothing_new : SearchEnd::none;
    outcome.checked = known_.size();
    outcome.feasible = found_;
    outcome.drawn = drawn_;
    outcome.on_front = race_.front().size();
    outcome.evaluated = race_.settled();
    outcome.open = found_ - outcome.evaluated;
    return outcome;
}

}  // namespace prismopt
