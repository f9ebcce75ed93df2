#pragma once

/// Where the time of a search went.

#include "io/results/results.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Seconds of all ranks together, but for the first two.
struct Performance {
    double wall_s = 0.0;    // of the clock
    double rank_0_s = 0.0;  // of rank 0: strategy, posterior, messages, files
    double total_s = 0.0;   // the clock's time of all ranks
    double busy_s = 0.0;
    double idle_s = 0.0;
    std::array<double, rank_activities.size()> activity_s{};  // of `busy_s`, [rank_activities]

    /// Share of the time of all ranks that was work.
    double efficiency() const { return busy_s / total_s; }
};

/// Of the last leg of a search; nothing if it is not known (files before schema 1.15).
std::optional<Performance> performance_of(const Results& results);

/// In lines with their shares; none if it is not known.
std::vector<std::string> performance_lines(const Results& results);

}  // namespace prismopt
