#pragma once

/// Quantities that a search may minimise or a report may show, one row each.

#include "model/prediction.hpp"

#include <span>
#include <string_view>

namespace prismopt {

/// What is known of a design before any draw: sound lower bounds of means.
struct NoiseFree {
    double step_s = 0.0;      // noise-free step with mean durations: at most the mean of the step time
    double training_s = 0.0;  // mean training time at that step time
    double cost_usd = 0.0;    // GPUs * price * training_s
    double memory_bytes = 0.0;
    double gpus = 0.0;
    double energy_j = 0.0;  // at training_s
    double carbon_kg = 0.0;
};

struct Objective {
    std::string_view name;  // in scenarios and files
    std::string_view units;
    std::string_view long_name;
    Estimate (*value)(const Prediction&);
    double (*bound)(const NoiseFree&);  // nullptr: has none, cannot be pruned
    /// The bound is a mean's. It holds for a quantile only where that is not below the mean: this probability; 0: no quantile.
    double quantile = 0.0;
    bool of_mean = false;  // its limits are those of a mean
};

/// All objectives. The list is written out in objective.cpp.
std::span<const Objective> objectives();
/// The objective of that name, or nullptr.
const Objective* find_objective(std::string_view name);

}  // namespace prismopt
