#pragma once

/// The feasible points by their lower bounds, handed out layer by layer.

#include "search/limits.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Points have a *place* once they are in order: their position in the lexicographic order of the bounds that were added together,
/// behind those that were in order before.
class BoundLayers {
public:
    explicit BoundLayers(std::size_t objectives) : objectives_(objectives) {}

    void add(std::uint64_t index, std::span<const double> bound);
    void put_in_order();

    std::size_t size() const { return index_.size(); }
    std::uint64_t index(std::size_t place) const { return index_[place]; }
    std::span<const double> bound(std::size_t place) const;

    /// Up to `most` places that have not been handed out and that no limit excludes, from one layer: first those whose bound
    /// no other bound dominates, in index order. Empty: there are none left.
    std::vector<std::size_t> take(std::size_t most, const Limits& limits);

    /// Points that the limits given to `take` excluded.
    std::uint64_t excluded() const { return excluded_; }

private:
    bool peel(const Limits& limits);

    std::size_t objectives_;
    std::vector<std::uint64_t> index_;
    std::size_t ordered_ = 0;         // places
    std::vector<double> bounds_;      // place * objectives + objective
    std::vector<std::size_t> alive_;  // places by bound: neither handed out nor excluded nor in the layer
    std::vector<std::size_t> layer_;  // places by index
    std::size_t layer_done_ = 0;
    std::uint64_t layer_tested_ = 0;  // the newest limit that the layer was tested against
    std::uint64_t excluded_ = 0;
};

}  // namespace prismopt
