#pragma once

/// GPUs that are slow for good, or now and then, apart from how the others differ.

#include "model/calibration/fit/fit_law.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// The law of which GPUs (or nodes) one gets: how the usual ones differ, and the slow ones as its rare slow mode, as often as they are
/// here. `usual`, `slow`: logarithms over the usual ones' mean.
LawFit law_with_slow(const std::vector<double>& usual, const std::vector<double>& slow, const std::string& source);

/// What to do about slow ones whose nodes are known. `what`: "GPU" or "node".
std::string slow_advice(const std::string& key, const std::string& what, std::size_t slow, std::size_t all, double excess);

/// A GPU that takes longer in some steps only.
struct SometimesSlow {
    std::size_t index = 0;
    double share = 0.0;   // of the steps
    double excess = 0.0;  // mean of these over its other steps
};

/// `logs`: [GPU][step], each step over what all share. Counts a GPU's steps that are 5 % longer than its median step, and longer than 99 of
/// 100 of the others' are; more of them than chance has (binomial, after Holm's correction at 1 %) make it slow now and then.
/// Of four GPUs and 20 steps on.
std::vector<SometimesSlow> sometimes_slow(const std::vector<std::vector<double>>& logs);

}  // namespace prismopt
