#pragma once

/// What a search knows of the points of a cell: lower bounds of the best, draws of
/// some, and a bound of all others.

#include "search/outcome.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace prismopt {

/// Points of one task on one alternative, by their only objective.
class Cell {
public:
    /// Adds points of some tuples by their bounds, and a bound of all other points of these tuples.
    void add(const std::vector<Bound>& points, double others);
    /// Forgets the bound of other points: all tuples are swept again.
    void sweep_again() { others_ = none; }
    /// Takes the draws of a point that was added. Throws std::runtime_error if it was not.
    void draw(const Evaluation& evaluation);
    /// Takes limits of a drawn point from other draws; its value stays.
    void limit(const Evaluation& evaluation);

    /// Undrawn points that may be better than the best drawn one by more than a gap, the best bounds first.
    /// The gap does not count while few are drawn.
    std::vector<std::uint64_t> open(std::size_t most) const;
    /// Whether points that were not added may be so, too.
    bool hides() const { return others_ < goal(); }
    bool settled() const { return !hides() && open(1).empty(); }

    /// The least value of all points; infinite if none is feasible.
    Known least() const;
    CellOutcome outcome() const;
    double bound(std::uint64_t point) const { return bounds_.at(point); }
    /// Above what bound a point cannot be better than what is known.
    double high() const { return high_; }
    std::size_t drawn() const { return drawn_.size(); }

private:
    static constexpr double none = std::numeric_limits<double>::infinity();
    double goal() const;

    std::map<std::uint64_t, double> bounds_;              // of all points that were added
    std::set<std::pair<double, std::uint64_t>> undrawn_;  // by bound
    std::map<std::uint64_t, Estimate> drawn_;
    double others_ = none;
    double high_ = none;
};

}  // namespace prismopt
