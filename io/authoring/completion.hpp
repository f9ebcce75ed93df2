#pragma once

/// When the training of a plan is done: after how long, and on which day where the scenario says when it begins.

#include "io/results/results.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>

namespace prismopt {

struct Completion {
    std::string_view quantile;  // "p50"
    double seconds = 0.0;       // NaN: not known
    std::string date;           // empty: the scenario does not say when it starts
};

/// At p50, p90 and p99.
std::array<Completion, 3> completions(const TimeDistribution& training, const std::optional<std::chrono::sys_days>& start);

}  // namespace prismopt
