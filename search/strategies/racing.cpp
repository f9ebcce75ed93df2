#include "search/strategies/racing.hpp"

#include "search/components/answers.hpp"

#include <algorithm>

namespace prismopt {
namespace {

}  // namespace

Racing::Racing(const Space& space, const StudyGoal& goal)
    : goal_(goal), ranges_(ranges_of(goal, space.size())), feasible_(goal.objectives),
      race_({.top_rung = goal.top_rung})
{
}

std::optional<std::vector<Request>> Racing::ask()
{
    if (!started_) {
        started_ = true;
        return std::vector<Request>(ranges_.begin(), ranges_.end());
    }
    if (swept_ < ranges_.size() || !awaited_.empty()) {
        return std::vector<Request>{};
    }
    std::vector<Request> requests = entrants();
    if (requests.empty()) {
        const std::vector<PointRequest> climbing = race_.next();
        requests.assign(climbing.begin(), climbing.end());
        awaited_.assign(climbing.begin(), climbing.end());
    }
    if (requests.empty()) {
        return std::nullopt;
    }
    return requests;
}

/// Whole fronts of lower bounds, the best first, until there are enough points.
std::vector<Request> Racing::entrants()
{
    std::vector<Request> requests;
    if (entered_) {
        return requests;
    }
    entered_ = true;
    const std::uint64_t most = goal_.max_evaluations > 0 ? goal_.max_evaluations : most_entrants;
    while (awaited_.size() < most) {
        const auto places = feasible_.next_places(most - awaited_.size(), {});
        if (places.empty()) {
            break;
        }
        for (const std::size_t place : places) {
            awaited_.push_back({feasible_.index(place), 1});
            requests.emplace_back(awaited_.back());
        }
    }
    return requests;
}

void Racing::tell(std::span<const Answer> answers)
{
    for (const Answer& answer : answers) {
        if (swept_ < ranges_.size()) {
            const Sweep& sweep = expected(answer, ranges_[swept_]);
            for (const Bound& bound : sweep.feasible) {
                feasible_.add(bound.index, usable(bound, goal_));
            }
            unreturned_ += sweep.unreturned;
            if (++swept_ == ranges_.size()) {
                feasible_.put_in_order();
            }
        } else {
            race_.add(expected(answer, awaited_));
        }
    }
}

Outcome Racing::outcome() const
{
    Outcome outcome;
    outcome.method = SearchMethod::halving;
    outcome.confidence = goal_.confidence;
    outcome.complete = entered_ && awaited_.empty() && race_.over();
    outcome.feasible = feasible_.size() + unreturned_;
    outcome.drawn = race_.size();
    outcome.on_front = race_.front().size();
    outcome.evaluated = race_.settled();
    outcome.open = outcome.feasible - outcome.evaluated;
    return outcome;
}

}  // namespace prismopt
