#pragma once

/// Feasible points in non-dominated fronts ("layers") of their lower bounds.

#include "search/limits.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Points in order have a *place*, which stays theirs: by the lexicographic order of the bounds that were
/// added together, after those ordered before.
class BoundLayers {
public:
    explicit BoundLayers(std::size_t objectives) : objectives_(objectives) {}

    void add(std::uint64_t index, std::span<const double> bound);
    void put_in_order();

    std::size_t size() const { return index_.size(); }
    std::uint64_t index(std::size_t place) const { return index_[place]; }
    std::span<const double> bound(std::size_t place) const;

    /// Takes up to `most` places that no limit excludes from one layer: first from the non-dominated front of
    /// the remaining bounds, in index order. Empty if none is left.
    std::vector<std::size_t> next_places(std::size_t most, const Limits& limits);

    /// Removes the points that the limits exclude; returns the number of those
    /// that remain, besides those taken.
    std::size_t exclude(const Limits& limits);

    /// Places of the points that are not taken or excluded, in the order of their bounds.
    const std::vector<std::size_t>& remaining() const { return alive_; }

    /// Lowers each objective to the least bound of the points that are neither taken nor excluded.
    void lower_to_least(std::vector<double>& least) const;

    /// Replaces the bounds of remaining points by tighter ones, in index order. Those of `looked_at`
    /// (ascending) without one are excluded.
    void tighten(std::span<const std::uint64_t> looked_at, std::span<const Bound> tighter);

    /// Number of points that the limits given to `next_places` and `exclude` excluded.
    std::uint64_t excluded() const { return excluded_; }

private:
    bool lower(std::size_t a, std::size_t b) const;
    bool peel(const Limits& limits);
    /// Keeps the alive points for which keep(place) holds and that no limit excludes.
    template <class Keep>
    void filter(const Limits& limits, Keep&& keep);

    std::size_t objectives_;
    std::vector<std::uint64_t> index_;
    std::size_t ordered_ = 0;         // places
    std::vector<double> bounds_;      // place * objectives + objective
    std::vector<std::size_t> alive_;  // places by bound: not taken, excluded or in the layer
    std::vector<std::size_t> layer_;  // places by index
    std::size_t layer_done_ = 0;
    std::uint64_t layer_tested_ = 0;  // newest limit against which the layer was tested
    std::uint64_t excluded_ = 0;
};

}  // namespace prismopt
