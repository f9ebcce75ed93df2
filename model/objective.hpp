#pragma once

/// Objectives: quantities that a search can minimise or a report can show, one row each.

#include "model/prediction.hpp"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace prismopt {

/// Lower bounds of a design's means, known before any draw.
struct NoiseFree {
    double step_s = 0.0;      // noise-free step time: at most the mean step time
    double training_s = 0.0;  // mean training time at that step time
    double cost_usd = 0.0;    // GPUs * price * training_s, and electricity
    double memory_bytes = 0.0;
    double gpus = 0.0;
    double energy_j = 0.0;  // at training_s
    double carbon_kg = 0.0;
    // Of quantiles over fleets, where these are not below the mean:
    double training_p95_s = 0.0;
    double training_p99_s = 0.0;
    double cost_p99_usd = 0.0;
    double deviation = 1.0;                       // Problem::deviation
    double promised_s = 0.0;                      // training time that can be promised; 0: no bound
    std::array<double, 2> promise_quantiles_s{};  // training time, [Problem::promise_quantiles]
    double training_asked_s = 0.0;                // quantile at the least of Job::percents above the median
    double power_w = 0.0;                         // in training, with spares
    double cluster_power_w = 0.0;                 // with all other GPUs
    double held_gpus = 0.0;                       // with those of spare nodes
    // the plan is known to be feasible; otherwise `memory_bytes` is a lower bound as well
    bool compiled = false;
};

/// What an objective is proportional to: the time of a step alone, that and the number
/// of steps of the run, or neither.
enum class ScalesWith { nothing, step, run };

struct Objective {
    std::string name;  // in scenarios and files
    ScalesWith scales;
    std::string_view units;
    std::string long_name;
    std::function<Estimate(const Prediction&)> value;
    double (*bound)(const NoiseFree&);  // nullptr: no lower bound
    /// Probability of the quantile, or 0 for other objectives. The bound is a bound of the mean, so it holds
    /// for quantiles that are not below the mean.
    double quantile = 0.0;
    bool of_power = false;  // proportional to the power of the hardware
    bool share = false;     // between 0 and 1
    int percent = 0;        // of Job::percents, which the value needs; 0: none
};

/// Returns all objectives but the quantiles of other probabilities. The list is in objective.cpp.
std::span<const Objective> objectives();
/// Returns the objective of that name, also training_time_pNN and step_time_pNN
/// for NN from 1 to 99; or nullptr.
const Objective* find_objective(std::string_view name);
/// Whether the objective of that name is proportional to the time of a step; one that is unknown here is not.
bool follows_step(std::string_view name);
/// Whether it is proportional to the tokens of the run, too.
bool follows_tokens(std::string_view name);

}  // namespace prismopt
