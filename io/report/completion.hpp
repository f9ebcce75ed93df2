#pragma once

/// Completion of a training run: its duration and, if the scenario has a start date, the date.

#include "io/results/results.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

struct CompletionTime {
    double seconds = 0.0;  // NaN: unknown
    std::string date;      // empty: the scenario has no start date
};

struct Completion {
    std::string_view quantile;  // "p50"
    CompletionTime exact;       // assuming the model is exact
    CompletionTime with_error;  // given the model error

    /// With the model error where it is known.
    const CompletionTime& known() const;
};

/// Completions at p50, p90 and p99.
std::array<Completion, 3> completions(const PlanResults& results,
                                      const std::optional<std::chrono::sys_days>& start);

}  // namespace prismopt
