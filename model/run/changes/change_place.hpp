#pragma once

/// Place and size of a shift among the innovations of a SlowLevel.

#include "model/run/changes/slow_level.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// An innovation, and the gain of the filter with which it was taken.
struct FilteredInnovation {
    double value = 0.0;
    double variance = 0.0;
    SlowLevel::Vector gain{};
};

/// The likeliest place of a shift, with 95 % limits.
struct ChangePlace {
    std::int64_t index = 0;
    std::int64_t low = 0;
    std::int64_t high = 0;
    double size = 0.0;
    double deviation = 0.0;   // standard error of the size
    double likelihood = 0.0;  // logarithm of its ratio to no change
};

/// Compares innovations with the response of the filter to a shift at each place from `first` on, by the ratio of likelihoods
/// (Willsky and Jones, IEEE Trans. Autom. Control 21 (1976) 108-112). `level`: the filter, for its movements. `scale`: standard
/// deviation of the innovations over the predicted one.
ChangePlace likeliest_shift(const std::vector<FilteredInnovation>& innovations, const SlowLevel& level, std::int64_t first,
                            double scale);

}  // namespace prismopt
