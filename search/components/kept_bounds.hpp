#pragma once

/// The best lower bounds of a range, in bounded memory, with a floor of the others.

#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prismopt {

/// Holds at most twice as many bounds as the range asks for. A cut keeps whole fronts of bounds and part of
/// the next one. The kept bounds depend on the range only, not on the rank that sweeps it.
class KeptBounds {
public:
    explicit KeptBounds(const SweepRange& range) : range_(range) {}

    /// Adds a bound; call in index order.
    void add(Bound bound);
    /// Counts a point that the study excludes, whatever the limits of the range are.
    void exclude() { ++excluded_; }
    /// Moves the kept bounds and the counts to a sweep.
    void move_to(Sweep& sweep);

private:
    void cut();

    const SweepRange range_;
    std::vector<Bound> kept_;  // in index order
    std::uint64_t excluded_ = 0;
    std::uint64_t unreturned_ = 0;
    std::vector<std::vector<double>> floor_;
};

}  // namespace prismopt
