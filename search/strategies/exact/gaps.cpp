#include "search/strategies/exact/gaps.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <utility>

namespace prismopt {
namespace {

constexpr double no_bound = std::numeric_limits<double>::infinity();

void lower(std::vector<double>& least, std::span<const double> low)
{
    for (std::size_t k = 0; k < least.size(); ++k) {
        least[k] = std::min(least[k], low[k]);
    }
}

}  // namespace

std::vector<double> Gaps::begin_sweep(const Limits& limits)
{
    than_ = ideal_point(limits.sorted());
    for (double& limit : than_) {
        limit -= options_.gaps.sought * std::abs(limit);
    }
    floor_.assign(options_.goal.objectives, no_bound);
    return than_;
}

void Gaps::receive(const std::vector<Bound>& better, const std::vector<std::vector<double>>& floor)
{
    points_.insert(points_.end(), better.begin(), better.end());
    for (const std::vector<double>& low : floor) {
        lower(floor_, low);
    }
}

std::vector<Bound> Gaps::best_of_better() const
{
    std::vector<std::vector<double>> values;
    for (const Bound& bound : points_) {
        values.push_back(bound.objectives);
    }
    const std::vector<std::size_t> front = non_dominated(values);
    const std::size_t most = std::min(front.size(), options_.gaps.incumbents);
    std::vector<Bound> best;
    for (std::size_t i = 0; i < most; ++i) {
        best.push_back(points_[front[i * front.size() / most]]);
    }
    return best;
}

bool Gaps::open(const Gap& gap) const
{
    constexpr double rounding = 1e-9;  // of a gap
    return gap.relative() > options_.gaps.sought * (1.0 + rounding);
}

std::vector<Bound> Gaps::at_gap(std::size_t objective, const Gap& gap, const LimitRounds& rounds) const
{
    std::vector<std::pair<double, Bound>> open;
    for (const Bound& point : points_) {
        const double low = rounds.least_of(point)[objective];
        if (low < gap.limit * (1.0 - options_.gaps.sought)) {
            open.emplace_back(low, point);
        }
    }
    std::ranges::sort(open, {}, [](const auto& entry) { return std::pair(entry.first, entry.second.index); });
    const std::size_t most = std::max<std::size_t>(1, options_.gaps.incumbents / options_.goal.objectives);
    std::vector<Bound> chosen;
    for (std::size_t i = 0; i < std::min(open.size(), most); ++i) {
        chosen.push_back(open[i].second);
    }
    return chosen;
}

std::vector<std::size_t> Gaps::places_at_gaps(const std::vector<Gap>& gaps, Points& points,
                                              const LimitRounds& rounds) const
{
    std::set<std::size_t> places;
    for (std::size_t k = 0; k < gaps.size(); ++k) {
        if (!open(gaps[k])) {
            continue;
        }
        places.insert(points.limits.owner_of_least(k));
        const std::vector<std::size_t> more = points.places_of(at_gap(k, gaps[k], rounds));
        places.insert(more.begin(), more.end());
    }
    return {places.begin(), places.end()};
}

NextRound Gaps::next_round(Points& points, const Sweeps& sweeps, const LimitRounds& rounds,
                           const CandidateRace& race)
{
    NextRound next;
    if (rounds_ == 0) {
        next.places = rounds.without_limits(points.places_of(best_of_better()));
    }
    while (next.places.empty() && rounds_ < options_.gaps.rounds) {
        ++rounds_;
        next.closer = static_cast<int>(rounds_);
        next.places = places_at_gaps(gaps(points, sweeps, rounds, race), points, rounds);
    }
    return next;
}

std::vector<double> Gaps::least_of_better(std::vector<double> least, const LimitRounds& rounds) const
{
    lower(least, than_);
    for (const Bound& point : points_) {
        lower(least, rounds.least_of(point));
    }
    lower(least, floor_);
    return least;
}

std::vector<Gap> Gaps::gaps(const Points& points, const Sweeps& sweeps, const LimitRounds& rounds,
                            const CandidateRace& race) const
{
    std::vector<Gap> gaps;
    const std::vector<std::vector<double>> limits = points.limits.sorted();
    if (limits.empty() || (!swept_ && !sweeps.covered())) {
        return gaps;
    }
    const std::vector<double> best = ideal_point(limits);
    for (const double limit : best) {
        gaps.push_back({limit, -no_bound});
    }
    const auto raise = [&](const std::vector<double>& least) {
        for (std::size_t k = 0; k < least.size(); ++k) {
            gaps[k].bound = std::max(gaps[k].bound, least[k]);
        }
    };
    if (swept_) {
        raise(least_of_better(best, rounds));
    }
    if (sweeps.covered()) {
        std::vector<double> least = best;
        points.feasible.lower_to_least(least);
        race.lower_to_least(least, points.feasible);
        sweeps.incomplete_ranges().lower_to_least(least);
        raise(least);
    }
    return gaps;
}

}  // namespace prismopt
