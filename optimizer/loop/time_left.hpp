#pragma once

/// Remaining time of a phase of a search, extrapolated from recent progress.

#include <cstdint>
#include <deque>
#include <optional>

namespace prismopt {

class TimeLeft {
public:
    /// Nothing without recent progress, or with so little that the pace carries no information about the
    /// rest. `now_s` must not decrease.
    std::optional<double> seconds(double now_s, std::uint64_t left);

private:
    struct Seen {
        double at_s = 0.0;
        std::uint64_t left = 0;
    };
    std::deque<Seen> seen_;  // oldest first
};

}  // namespace prismopt
