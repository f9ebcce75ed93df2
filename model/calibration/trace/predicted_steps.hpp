#pragma once

/// The distribution of a job's step time from its traces: durations drawn from what was measured, put through the step's graph.

#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/step_graph.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// What persists, what is shared by a step, and what is left, of the operations of microbatches.
///
/// log duration = mean of the kind and stage + effect of the worker for that kind + effect of the step + rest.
/// Effects are shrunk to the variance that is theirs: a mean of few noisy values varies by itself. The rests of a
/// microbatch stay together, as long sequences are long in each stage, forward and backward; those of all microbatches of a replica in
/// one step too, where they are alike beyond chance, as when a stage is slow for all of them.
struct ComputeParts {
    std::vector<int> slots;    // compute operations with a microbatch, of the graph
    std::vector<float> place;  // [of slots] mean and worker's effect
    std::vector<float> step;   // [step]
    std::vector<float> rest;   // [of slots * steps + step]
    bool replicas_together = false;
    // What the laws of the effects are fitted to, logarithms:
    std::vector<double> worker_effects;      // by worker of the trace, of those that compute; of its stage's mean
    std::vector<double> worker_errors;       // their standard errors
    std::vector<double> step_means;          // [step], not shrunk
    std::vector<double> microbatch_effects;  // of each microbatch, replica and step, stretched to the component's variance
    std::vector<double> residuals;           // what is left of each operation
    std::vector<Component> components;
};
ComputeParts compute_parts(const Trace& trace, const StepGraph& graph);

struct PredictOptions {
    int draws = 4096;
    std::uint64_t seed = 1;
};

/// Rising step times. One draw takes
/// - one measured step, for the communication, the launch gaps and what else has no microbatch: its transfers and collectives vary
///   together (one regime a step, as PRISM, arXiv 2510.15596, has it), and for its effect on computing;
/// - for each microbatch of each replica (or the whole replica) the rests of that of some replica in some measured step.
std::vector<double> predicted_steps(const Trace& trace, const StepGraph& graph, const ComputeParts& parts,
                                    const PredictOptions& options = {});

}  // namespace prismopt
