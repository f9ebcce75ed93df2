#pragma once

/// Distribution of a job's step time from its traces: measured durations are resampled and run through the
/// step's graph. docs/methods/calibration.md.

#include "model/calibration/trace/compute_effects.hpp"
#include "model/calibration/trace/step_graph.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

struct PredictOptions {
    int draws = 4096;
    std::uint64_t seed = 1;
};

/// Returns ascending step times. One draw takes
/// - one measured step, for communication, launch gaps, operations without a microbatch, and its effect on
///   compute: its transfers and collectives vary together (one regime per step, as in PRISM, arXiv
///   2510.15596); and for the excluded workers;
/// - for each microbatch of each replica (or the whole replica) the residuals of some
///   replica in some measured step.
std::vector<double> predicted_steps(const Trace& trace, const StepGraph& graph,
                                    const ComputeEffects& of_compute, const PredictOptions& options = {});

}  // namespace prismopt
