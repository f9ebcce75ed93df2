#pragma once

/// Decomposition of the compute durations of microbatches into effects. docs/methods/calibration.md.

#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/microbatch_exponents.hpp"
#include "model/calibration/trace/step_graph.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// Decomposition of the log durations of microbatch operations:
///
///     log duration = mean of the kind and stage + effect of the worker for that kind
///     + effect of the step + residual
///
/// Effects are shrunk to their estimated variance, because a mean of few noisy values has additional
/// variance. The residuals of a microbatch are resampled together, because a long sequence is long in each
/// stage, forward and backward; so are those of all microbatches of a replica in a step, if they are
/// significantly correlated, as when a stage is slow for all of them.
struct ComputeEffects {
    std::vector<int> slots;    // compute operations with a microbatch, of the graph
    std::vector<float> place;  // [slot] mean and worker's effect
    std::vector<float> step;   // [step] effect
    std::vector<float> rest;   // [slot * steps + step] residual
    bool replicas_together = false;
    // Logarithms to which the distributions of the effects are fitted:
    // [worker of the trace], for those that compute; relative to the stage's mean
    std::vector<double> worker_effects;
    std::vector<double> worker_errors;  // their standard errors
    std::vector<double> step_means;     // [step], not shrunk
    // of each microbatch, replica and step, scaled to the component's variance
    std::vector<double> microbatch_effects;
    std::vector<double> residuals;              // of each operation
    std::vector<MicrobatchExponent> exponents;  // by kind and stage; empty: all one
    std::vector<Component> components;          // with these exponents
};
/// Decomposes the compute durations of a trace, without those of some workers (ascending).
ComputeEffects compute_effects(const Trace& trace, const StepGraph& graph,
                               const std::vector<std::int32_t>& excluded = {});

}  // namespace prismopt
