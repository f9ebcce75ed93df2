#pragma once

/// Completion of a training run: its duration and, if the scenario has a start date, the date.

#include "io/results/results.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>

namespace prismopt {

struct Completion {
    std::string_view quantile;  // "p50"
    double seconds = 0.0;       // NaN: unknown
    std::string date;           // empty: the scenario has no start date
};

/// Completions at p50, p90 and p99.
std::array<Completion, 3> completions(const TimeDistribution& training, const std::optional<std::chrono::sys_days>& start);

}  // namespace prismopt
