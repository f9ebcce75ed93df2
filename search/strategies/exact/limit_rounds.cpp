#include "search/strategies/exact/limit_rounds.hpp"

#include "model/base/powers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace prismopt {
namespace {

/// Looks at the limits of a round: each has four times the draws of the one before.
constexpr int most_checks = 4;

double pow4(double x) { return square(square(x)); }

}  // namespace

std::vector<AskedPoint> LimitRounds::open(const std::vector<std::size_t>& places, const BoundLayers& feasible,
                                          int closer)
{
    if (places.empty()) {
        return {};
    }
    ++round_;
    check_ = 0;
    closer_ = closer;
    size_ = places.size();
    waiting_ = places;
    incumbents_.insert(places.begin(), places.end());
    return next_check(feasible);
}

std::vector<AskedPoint> LimitRounds::next_check(const BoundLayers& feasible)
{
    if (waiting_.empty() || check_ == most_checks) {
        return {};
    }
    ++check_;
    std::vector<AskedPoint> asked;
    for (const std::size_t place : waiting_) {
        const PointRequest request{.index = feasible.index(place),
                                   .rung = goal_.top_rung - 1 + check_ + closer_,
                                   .source = {Purpose::limits, round_},
                                   .miss = miss()};
        asked.push_back({request, place});
    }
    return asked;
}

/// Look k of round j may fail with a share 36 / (pi^4 j^2 k^2) of the half of the error that rounds have:
/// over all rounds and looks these sum to one. Each objective has an upper and a lower limit.
double LimitRounds::miss() const
{
    const double checks = square(static_cast<double>(check_) * round_) * pow4(std::numbers::pi) / 36.0;
    return 0.5 * (1.0 - goal_.confidence) / checks / static_cast<double>(2 * size_ * goal_.quantities());
}

void LimitRounds::receive(std::size_t place, const Evaluation& evaluation, Limits& limits)
{
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::vector<double>& low = low_.try_emplace(evaluation.index, goal_.objectives, -infinite).first->second;
    if (evaluation.keeping == Keeping::never) {
        low.assign(goal_.objectives, infinite);
        std::erase(waiting_, place);
        return;
    }
    std::vector<double> high;
    for (std::size_t k = 0; k < goal_.objectives; ++k) {
        const Estimate& estimate = evaluation.objectives[k];
        low[k] = std::max(low[k], estimate.simultaneous_low);
        high.push_back(estimate.simultaneous_high);
    }
    const bool finite =
        std::all_of(high.begin(), high.end(), [](double limit) { return std::isfinite(limit); });
    if (!finite || evaluation.keeping != Keeping::surely) {
        return;
    }
    std::erase(waiting_, place);
    limits.add(place, high);
}

std::vector<std::size_t> LimitRounds::without_limits(std::vector<std::size_t> places) const
{
    std::erase_if(places, [this](std::size_t place) { return incumbents_.contains(place); });
    return places;
}

std::vector<double> LimitRounds::least_of(const Bound& point) const
{
    std::vector<double> least = point.objectives;
    const auto low = low_.find(point.index);
    if (low == low_.end()) {
        return least;
    }
    for (std::size_t k = 0; k < least.size(); ++k) {
        least[k] = std::max(least[k], low->second[k]);
    }
    return least;
}

}  // namespace prismopt
