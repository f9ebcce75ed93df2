/// Gaps of an exact search: how much better than the best upper limit of an objective a point can be, and how it learns that before
/// an explored space is swept for the front.

#include "search/archive.hpp"
#include "search/strategies/exact/exact.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace prismopt {

/// Returns the least values that a point can have: the larger of its bound and of its lower limits, if it was an incumbent.
std::vector<double> Exact::least_of(const Bound& point) const
{
    std::vector<double> least = point.objectives;
    const auto low = low_.find(point.index);
    for (std::size_t k = 0; low != low_.end() && k < least.size(); ++k) least[k] = std::max(least[k], low->second[k]);
    return least;
}

/// Returns the gaps that limits and bounds leave. Points that limits exclude are no better than these limits in any objective.
std::vector<Gap> Exact::gaps() const
{
    std::vector<Gap> gaps;
    const std::vector<std::vector<double>> limits = limits_.sorted();
    if (limits.empty() || (!better_.swept && !swept_whole_)) return gaps;
    const std::vector<double> best = ideal_point(limits);
    for (const double limit : best) gaps.push_back({limit, -infinity});
    const auto raise = [&](const std::vector<double>& least) {
        for (std::size_t k = 0; k < least.size(); ++k) gaps[k].bound = std::max(gaps[k].bound, least[k]);
    };
    const auto lower = [](std::vector<double>& least, std::span<const double> low) {
        for (std::size_t k = 0; k < least.size(); ++k) least[k] = std::min(least[k], low[k]);
    };
    if (better_.swept) {
        std::vector<double> least = best;
        lower(least, better_.than);
        for (const Bound& point : better_.points) lower(least, least_of(point));
        lower(least, better_.floor);
        raise(least);
    }
    if (swept_whole_) {
        std::vector<double> least = best;
        feasible_.lower_to_least(least);
        for (const Candidate& candidate : candidates_) {
            lower(least, candidate.low.empty() ? feasible_.bound(candidate.place) : std::span<const double>(candidate.low));
        }
        for (const LeftOut& part : withheld_) {
            for (const std::vector<double>& low : part.floor) lower(least, low);
        }
        raise(least);
    }
    return gaps;
}

/// Takes the next step that narrows the gaps of an explored space. Limits of the points with the best bounds come first; then a
/// sweep for better points; then limits of the best of these; then more draws for the points that keep a gap open.
void Exact::seek_better()
{
    if (better_.done || options_.max_evaluations > 0) return;
    if (round_ == 0) return open_round(best_of_each_objective());
    if (!better_.swept) return sweep_for_better();
    if (better_.rounds == 0) open_round(best_of_better());
    while (!busy() && better_.rounds < options_.gap_rounds) open_round(places_at_gaps(), static_cast<int>(++better_.rounds));
    better_.done = !busy();
}

std::vector<std::size_t> Exact::best_of_each_objective() const
{
    std::vector<std::size_t> order(feasible_.size());
    std::iota(order.begin(), order.end(), 0);
    const std::size_t most = std::min(order.size(), std::max<std::size_t>(1, options_.most_better / options_.objectives));
    std::set<std::size_t> best;
    for (std::size_t k = 0; k < options_.objectives; ++k) {
        const auto by_bound = [&](std::size_t place) { return std::pair(feasible_.bound(place)[k], place); };
        std::ranges::sort(order, {}, by_bound);
        best.insert(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most));
    }
    return {best.begin(), best.end()};
}

/// Asks for the points that are better, by the gap sought, than the best limit of some objective.
void Exact::sweep_for_better()
{
    const std::vector<std::vector<double>> limits = limits_.sorted();
    better_.done = limits.empty();
    if (better_.done) return;
    better_.than = ideal_point(limits);
    for (double& limit : better_.than) limit -= options_.gap_sought * std::abs(limit);
    better_.floor.assign(options_.objectives, infinity);
    CurrentSweep sweep{.purpose = SweepPurpose::better, .ranges = options_.ranges, .limits = {better_.than}};
    for (SweepRange& range : sweep.ranges) {
        range.keep = std::max<std::uint64_t>(1, options_.kept_better / sweep.ranges.size());
        range.again = true;
    }
    begin_sweep(std::move(sweep));
}

/// Returns the non-dominated points of the sweep for better points that have no limits yet.
std::vector<std::size_t> Exact::best_of_better()
{
    std::vector<std::vector<double>> values;
    for (const Bound& bound : better_.points) values.push_back(bound.objectives);
    const std::vector<std::size_t> front = non_dominated(values);
    const std::size_t most = std::min(front.size(), options_.most_better);
    std::vector<Bound> best;
    for (std::size_t i = 0; i < most; ++i) best.push_back(better_.points[front[i * front.size() / most]]);  // spread
    std::vector<std::size_t> places = places_of(best);
    std::erase_if(places, [this](std::size_t place) { return with_limits_.contains(place); });
    return places;
}

/// For each objective whose gap exceeds `gap_sought`: returns the owner of the least upper limit, and the points whose least values
/// keep the gap open.
std::vector<std::size_t> Exact::places_at_gaps()
{
    constexpr double rounding = 1e-9;  // of a gap
    std::set<std::size_t> places;
    const std::vector<Gap> gaps = this->gaps();
    const std::size_t most = std::max<std::size_t>(1, options_.most_better / options_.objectives);
    for (std::size_t k = 0; k < gaps.size(); ++k) {
        if (gaps[k].relative() <= options_.gap_sought * (1.0 + rounding)) continue;
        places.insert(limits_.owner_of_least(k));
        std::vector<std::pair<double, Bound>> open;
        for (const Bound& point : better_.points) {
            const std::vector<double> low = least_of(point);
            if (low[k] < gaps[k].limit * (1.0 - options_.gap_sought)) open.emplace_back(low[k], point);
        }
        std::ranges::sort(open, {}, [](const auto& entry) { return std::pair(entry.first, entry.second.index); });
        std::vector<Bound> chosen;
        for (std::size_t i = 0; i < std::min(open.size(), most); ++i) chosen.push_back(open[i].second);
        const std::vector<std::size_t> more = places_of(chosen);
        places.insert(more.begin(), more.end());
    }
    return {places.begin(), places.end()};
}

/// Returns the places of points, and adds those that are new. Their bounds are tight.
std::vector<std::size_t> Exact::places_of(std::span<const Bound> points)
{
    std::map<std::uint64_t, std::size_t> known;
    for (std::size_t place = 0; place < feasible_.size(); ++place) known[feasible_.index(place)] = place;
    std::vector<std::size_t> places;
    for (const Bound& point : points) {
        if (const auto found = known.find(point.index); found != known.end()) {
            places.push_back(found->second);
        } else {
            feasible_.add(point.index, point.objectives);
            tight_.insert(point.index);
        }
    }
    feasible_.put_in_order();
    for (std::size_t place = known.size(); place < feasible_.size(); ++place) places.push_back(place);
    return places;
}

void Exact::take_better(const Sweep& sweep)
{
    for (const Bound& feasible : sweep.feasible) better_.points.push_back({feasible.index, checked_bounds(feasible)});
    for (const std::vector<double>& low : sweep.floor) {
        for (std::size_t k = 0; k < low.size(); ++k) better_.floor[k] = std::min(better_.floor[k], low[k]);
    }
}

}  // namespace prismopt
