#include "search/strategies/exact/candidate_race.hpp"

#include "search/archive.hpp"
#include "search/strategies/exact/incumbents.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace prismopt {
namespace {

/// A leader gets limits of its own if the nearest upper limit is at least this many times as far from its
/// values as its lower limits: closer ones save too few draws.
constexpr double worth_lowering = 4.0;

}  // namespace

void CandidateRace::divide_error(std::size_t known, std::uint64_t withheld, const BoundLayers& feasible)
{
    const auto limits_of_each =
        static_cast<double>(static_cast<std::size_t>(goal_.top_rung) * goal_.quantities());
    const double half = 0.5 * (1.0 - goal_.confidence) / limits_of_each;
    const double of_known = withheld > 0 ? 0.5 : 1.0;
    share_.first_places = feasible.size();
    share_.miss = of_known * half / static_cast<double>(std::max<std::size_t>(1, known));
    share_.miss_withheld = 0.5 * half / static_cast<double>(std::max<std::uint64_t>(1, withheld));
}

/// Whether a candidate is settled, possibly by limits that are newer than its last test.
bool CandidateRace::settled(std::size_t c, const Limits& limits)
{
    Candidate& candidate = candidates_[c];
    if (candidate.settled) {
        return true;
    }
    candidate.settled = limits.rule_out(candidate.place, candidate.low, candidate.tested);
    candidate.tested = limits.newest();
    if (candidate.settled) {
        ++settled_;
    }
    return candidate.settled;
}

std::vector<AskedPoint> CandidateRace::requests(const std::vector<std::size_t>& candidates,
                                                const BoundLayers& feasible) const
{
    std::vector<AskedPoint> asked;
    for (const std::size_t c : candidates) {
        const Candidate& candidate = candidates_[c];
        const double miss = candidate.place < share_.first_places ? share_.miss : share_.miss_withheld;
        const PointRequest request{
            .index = feasible.index(candidate.place), .rung = candidate.rung + 1, .miss = miss};
        asked.push_back({request, c});
    }
    return asked;
}

std::vector<AskedPoint> CandidateRace::leaders(const Points& points)
{
    std::vector<std::size_t> chosen;
    for (const std::size_t leader : leaders_) {
        if (chosen.size() < batches_.most && !settled(leader, points.limits)) {
            chosen.push_back(leader);
        }
    }
    return requests(chosen, points.feasible);
}

std::vector<std::size_t> CandidateRace::leaders_worth_limits(const Points& points)
{
    const Limits& limits = points.limits;
    Limits values;
    std::set<std::size_t> lower;
    for (const std::size_t leader : leaders_) {
        const Candidate& candidate = candidates_[leader];
        if (candidate.rung < goal_.top_rung) {
            continue;
        }
        values.add(candidate.place, candidate.value);
        Limits own;
        own.add(candidate.place, candidate.value);
        if (own.newest() == 0) {
            continue;  // not finite
        }
        const double worth = worth_lowering * own.nearest(candidate.low).excess;
        if (limits.newest() == 0 || limits.nearest(candidate.value).excess > worth) {
            lower.insert(candidate.place);
        }
    }
    std::vector<std::span<const double>> unsettled;
    for (const std::size_t c : racing_) {
        if (!settled(c, limits)) {
            unsettled.emplace_back(candidates_[c].low);
        }
    }
    std::vector<std::size_t> places = owners_of_many(values, unsettled);
    std::erase_if(places, [&](std::size_t place) { return !lower.contains(place); });
    return places;
}

std::vector<AskedPoint> CandidateRace::new_candidates(Points& points)
{
    std::vector<std::size_t> chosen;
    const bool many = candidates_.size() > batches_.most;
    std::size_t most = std::clamp(candidates_.size(), batches_.most, batches_.most_of_many);
    std::size_t fewest = many ? most : batches_.fewest;
    if (goal_.max_evaluations > 0) {
        most = std::min<std::uint64_t>(most, goal_.max_evaluations - drawn_);
    }
    fewest = std::min(fewest, most);
    while (chosen.size() < fewest) {
        const std::vector<std::size_t> places =
            points.feasible.next_places(most - chosen.size(), points.limits);
        if (places.empty()) {
            break;
        }
        for (const std::size_t place : places) {
            chosen.push_back(candidates_.size());
            candidates_.push_back({.place = place, .value = {}, .low = {}});
        }
    }
    racing_.insert(racing_.end(), chosen.begin(), chosen.end());
    return requests(chosen, points.feasible);
}

std::vector<AskedPoint> CandidateRace::rivals(const Points& points)
{
    std::vector<std::size_t> chosen;
    const std::size_t most = std::clamp(racing_.size(), batches_.most, batches_.most_of_many);
    while (chosen.empty()) {
        if (rivals_done_ == racing_.size()) {
            std::erase_if(racing_, [&](std::size_t c) { return settled(c, points.limits); });
            rivals_done_ = 0;
            if (racing_.empty()) {
                break;
            }
        }
        while (chosen.size() < most && rivals_done_ < racing_.size()) {
            const std::size_t rival = racing_[rivals_done_++];
            if (!settled(rival, points.limits)) {
                chosen.push_back(rival);
            }
        }
    }
    return requests(chosen, points.feasible);
}

void CandidateRace::receive(std::size_t c, const Evaluation& evaluation, const BoundLayers& feasible)
{
    Candidate& candidate = candidates_[c];
    candidate.value.clear();
    candidate.low.clear();
    for (std::size_t k = 0; k < goal_.objectives; ++k) {
        const Estimate& estimate = evaluation.objectives[k];
        candidate.value.push_back(estimate.value);
        // A bound that is violated must not raise the lower limit above what was seen.
        const double low = std::max(estimate.simultaneous_low, feasible.bound(candidate.place)[k]);
        candidate.low.push_back(std::min(low, estimate.simultaneous_high));
    }
    if (candidate.rung == 0) {
        ++drawn_;
    }
    candidate.rung = evaluation.rung;
    candidate.tested = 0;
    candidate.keeping = evaluation.keeping;
    candidate.settled = candidate.rung >= goal_.top_rung || candidate.keeping == Keeping::never;
    if (candidate.settled) {
        ++settled_;
    }
    note_leader(c);
}

void CandidateRace::note_leader(std::size_t c)
{
    const std::vector<double>& value = candidates_[c].value;
    std::erase(leaders_, c);
    if (!keeps(candidates_[c].keeping)) {
        return;
    }
    for (const std::size_t leader : leaders_) {
        if (dominates(candidates_[leader].value, value)) {
            return;
        }
    }
    std::erase_if(leaders_, [&](std::size_t leader) { return dominates(value, candidates_[leader].value); });
    leaders_.push_back(c);
}

void CandidateRace::lower_to_least(std::vector<double>& least, const BoundLayers& feasible) const
{
    for (const Candidate& candidate : candidates_) {
        if (candidate.keeping == Keeping::never) {
            continue;
        }
        std::span<const double> low = candidate.low;
        if (candidate.rung == 0) {
            low = feasible.bound(candidate.place);
        }
        for (std::size_t k = 0; k < least.size(); ++k) {
            least[k] = std::min(least[k], low[k]);
        }
    }
}

std::vector<std::uint64_t> CandidateRace::front(const BoundLayers& feasible) const
{
    std::vector<std::uint64_t> indices;
    std::vector<std::vector<double>> values;
    for (const Candidate& candidate : candidates_) {
        if (candidate.rung < goal_.top_rung || !keeps(candidate.keeping)) {
            continue;
        }
        indices.push_back(feasible.index(candidate.place));
        values.push_back(candidate.value);
    }
    std::vector<std::uint64_t> front;
    std::vector<std::vector<double>> best;
    for (const std::size_t position : non_dominated(values)) {
        front.push_back(indices[position]);
        best.push_back(values[position]);
    }
    for (const Candidate& candidate : candidates_) {
        if (candidate.rung < goal_.top_rung || candidate.keeping != Keeping::not_by_value) {
            continue;
        }
        if (!excludes(best, candidate.value)) {
            front.push_back(feasible.index(candidate.place));
        }
    }
    std::sort(front.begin(), front.end());
    return front;
}

}  // namespace prismopt
