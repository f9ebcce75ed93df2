#pragma once

/// Gaps of an exact search: how much better than the best upper limit of an objective a point can be, and how
/// the search learns that before an explored space is swept for the front.

#include "search/strategies/exact/candidate_race.hpp"
#include "search/strategies/exact/limit_rounds.hpp"
#include "search/strategies/exact/options.hpp"
#include "search/strategies/exact/points.hpp"
#include "search/strategies/exact/sweeps.hpp"

#include <cstddef>
#include <vector>

namespace prismopt {

/// Incumbents of a round of limits, which has as many rungs more than others.
struct NextRound {
    std::vector<std::size_t> places;
    int closer = 0;
};

/// Results of a sweep for points that are better than all incumbents, and the gaps that they and
/// the search for the front leave.
class Gaps {
public:
    /// The options must outlive the gaps.
    explicit Gaps(const ExactOptions& options) : options_(options) {}

    /// Begins the sweep for better points, if there are limits; returns the point than which others are
    /// better if they are so by the gap sought in some objective.
    std::vector<double> begin_sweep(const Limits& limits);
    void receive(const std::vector<Bound>& better, const std::vector<std::vector<double>>& floor);
    void end_sweep() { swept_ = true; }
    bool swept() const { return swept_; }

    /// The non-dominated points of the sweep for better points, spread over them if they are many.
    std::vector<Bound> best_of_better() const;
    /// Those points of the sweep for better points whose least values keep the gap of an
    /// objective open: the least of them.
    std::vector<Bound> at_gap(std::size_t objective, const Gap& gap, const LimitRounds& rounds) const;
    /// Whether a gap is larger than the one sought.
    bool open(const Gap& gap) const;

    /// The next round after the sweep, if there is one: first for the best of the better points, then with
    /// more draws each for the owner of the least upper limit of an objective and the points that keep its
    /// gap open, while it is larger than sought.
    NextRound next_round(Points& points, const Sweeps& sweeps, const LimitRounds& rounds,
                         const CandidateRace& race);

    /// The gaps that limits and bounds leave; none as long as they are not known. Points that limits exclude
    /// are no better than these limits in any objective.
    std::vector<Gap> gaps(const Points& points, const Sweeps& sweeps, const LimitRounds& rounds,
                          const CandidateRace& race) const;

private:
    std::vector<std::size_t> places_at_gaps(const std::vector<Gap>& gaps, Points& points,
                                            const LimitRounds& rounds) const;
    std::vector<double> least_of_better(std::vector<double> least, const LimitRounds& rounds) const;

    const ExactOptions& options_;
    std::vector<double> than_;   // no point that the sweep excluded is better than this in any objective
    std::vector<double> floor_;  // nor one that it did not return than this
    std::vector<Bound> points_;  // returned
    bool swept_ = false;
    std::size_t rounds_ = 0;  // with more draws
};

}  // namespace prismopt
