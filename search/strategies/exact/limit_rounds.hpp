#pragma once

/// Rounds of limits of an exact search: incumbents that are fixed before draws of their
/// own give them confidence limits.

#include "search/components/bound_layers.hpp"
#include "search/limits.hpp"
#include "search/strategies/exact/options.hpp"
#include "search/strategies/exact/points.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace prismopt {

/// Spends one half of the error probability of a search (docs/methods/exact-search.md). The incumbents of a
/// round are fixed when it opens. A look takes an upper and a lower limit of each; those whose upper limit is
/// infinite are looked at again with four times the draws, up to four times.
class LimitRounds {
public:
    /// The goal must outlive the rounds.
    explicit LimitRounds(const StudyGoal& goal) : goal_(goal) {}

    /// Opens a round for the points at these places, unless there are none; returns the requests of its first
    /// look: at `closer` rungs above the last.
    std::vector<AskedPoint> open(const std::vector<std::size_t>& places, const BoundLayers& feasible,
                                 int closer = 0);
    /// Requests of the next look of the round; none if it is over.
    std::vector<AskedPoint> next_check(const BoundLayers& feasible);
    /// Takes the answer for a place; adds its upper limit if it is finite.
    void receive(std::size_t place, const Evaluation& evaluation, Limits& limits);

    /// Number of rounds so far.
    int opened() const { return round_; }
    /// Returns the places among them that were incumbents in no round.
    std::vector<std::size_t> without_limits(std::vector<std::size_t> places) const;
    /// The best values that a point can have: its bounds, or its lower limits where these are larger.
    /// Lower limits serve the gaps only.
    std::vector<double> least_of(const Bound& point) const;

private:
    double miss() const;

    const StudyGoal& goal_;
    int round_ = 0;
    int check_ = 0;                     // of the current round
    int closer_ = 0;                    // rungs that the current round has more than others
    std::size_t size_ = 0;              // of the current round
    std::vector<std::size_t> waiting_;  // places whose upper limits the current round has still to find
    std::set<std::size_t> incumbents_;  // places, of all rounds
    std::map<std::uint64_t, std::vector<double>> low_;  // lower limits of incumbents, by index
};

}  // namespace prismopt
