#pragma once

/// Place of a shift in observations.

#include "model/run/changes/step_noise.hpp"

#include <cstddef>
#include <vector>

namespace prismopt {

/// The likeliest place of a shift, with 95 % limits.
struct ChangePlace {
    std::size_t index = 0;
    std::size_t low = 0;
    std::size_t high = 0;
};

/// Compares the innovations of deviations from the level before with the response of the
/// autoregression to a shift at each place, by the ratio of likelihoods (Willsky and Jones, IEEE
/// Trans. Autom. Control 21 (1976) 108-112).
ChangePlace likeliest_shift(const std::vector<double>& deviations, const Autoregression& noise);

/// Two segments of a series, and their medians.
struct Split {
    std::size_t first = 0;  // of the second segment
    double before = 0.0;
    double after = 0.0;
};

/// The split with the least sum of squares about the means of both segments, of at least `least` values each,
/// where values are clipped to the distance `clip` from the median of all.
Split best_split(const std::vector<double>& values, std::size_t least, double clip);

/// Whether three quarters of the values on each side of the split are nearer to the median of their own side:
/// two levels in succession, rather than two that alternate. One side may be empty.
bool separates(const std::vector<double>& values, const Split& split);

}  // namespace prismopt
