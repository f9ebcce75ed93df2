#pragma once

/// Detection of GPUs that are always or sometimes slow.

#include "model/calibration/fit/fit_distribution.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Share of permanently slow GPUs or nodes among those measured, and their slowdown,
/// for others that a job may get.
struct SlowShare {
    std::string key;  // "gpu" or "node"
    std::size_t slow = 0;
    std::size_t all = 0;
    // 95 % interval of the share: Jeffreys' (Brown, Cai, DasGupta, Stat. Sci. 16 (2001) 101-133)
    double low = 0.0;
    double high = 0.0;
    double excess = 0.0;  // mean slowdown of the slow ones

    double share() const { return static_cast<double>(slow) / static_cast<double>(all); }
};
SlowShare slow_share(const std::string& key, std::size_t slow, std::size_t all, double excess);

/// Returns the distribution over GPUs (or nodes): that of the usual ones, with the slow ones
/// as its slow mode, in proportion to their number here. `usual`, `slow`: logarithms relative
/// to the mean of the usual ones.
DistributionFit distribution_with_slow(const std::vector<double>& usual, const std::vector<double>& slow,
                                       const std::string& source);

/// A GPU that is slow in some steps only.
struct SometimesSlow {
    std::size_t index = 0;
    double share = 0.0;   // share of slow steps
    double excess = 0.0;  // mean of these relative to its other steps
};

/// Returns the GPUs that are sometimes slow. `logs`: [GPU][step], relative to the common effect of the step.
/// Counts the steps of a GPU that are 5 % longer than its median step and longer than 99 of 100 steps of the
/// others. The GPU is slow if there are significantly more of them than by chance (binomial, Holm's
/// correction, 1 %). Needs four GPUs and 20 steps.
std::vector<SometimesSlow> sometimes_slow(const std::vector<std::vector<double>>& logs);

}  // namespace prismopt
