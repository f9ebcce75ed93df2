#pragma once

/// GPUs that are always or sometimes slow, apart from the usual differences.

#include "model/calibration/fit/fit_distribution.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Returns the distribution of the GPUs (or nodes) that a job gets: the usual ones, with the slow ones as its slow mode, as often
/// as they occur here. `usual`, `slow`: logarithms relative to the mean of the usual ones.
DistributionFit distribution_with_slow(const std::vector<double>& usual, const std::vector<double>& slow,
                                       const std::string& source);

/// Returns advice for slow ones whose nodes are known. `what`: "GPU" or "node".
std::string slow_advice(const std::string& key, const std::string& what, std::size_t slow, std::size_t all, double excess);

/// A GPU that is slow in some steps only.
struct SometimesSlow {
    std::size_t index = 0;
    double share = 0.0;   // share of slow steps
    double excess = 0.0;  // mean of these relative to its other steps
};

/// Returns the GPUs that are slow now and then. `logs`: [GPU][step], relative to what all share in a step. Counts a GPU's steps
/// that are 5 % longer than its median step and longer than 99 of 100 of the others' steps; significantly more of them than by
/// chance (binomial, Holm's correction, 1 %) make it slow. Needs four GPUs and 20 steps.
std::vector<SometimesSlow> sometimes_slow(const std::vector<std::vector<double>>& logs);

}  // namespace prismopt
