#pragma once

/// The best of a range's bounds, in bounded memory, and what is known of the others.

#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prismopt {

/// Holds twice as many bounds as the range asks for, at most. The best are whole layers of bounds and part of the next one, of what
/// has come since the last cut and what that left. What is kept depends on the range alone, not on who sweeps it.
class KeptBounds {
public:
    explicit KeptBounds(const SweepRange& range) : range_(range) {}

    /// In index order.
    void add(Bound bound);
    /// Hands over what was kept and counted.
    void move_to(Sweep& sweep);

private:
    void cut();

    const SweepRange range_;
    std::vector<Bound> kept_;  // in index order
    std::uint64_t excluded_ = 0;
    std::uint64_t left_out_ = 0;
    std::vector<std::vector<double>> floor_;
};

}  // namespace prismopt
