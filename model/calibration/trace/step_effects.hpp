#pragma once

/// Effects shared by the compute kernels of one step, from traces without microbatches.

#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/trace.hpp"

#include <vector>

namespace prismopt {

/// Effects by the model
///
///     log duration = mean of the kind, worker and position + effect of the step + effect
///     of the worker in it + residual
///
/// Each kernel is weighted by its time, so the effects are those of the compute time of a step. An effect of
/// one kind in a step enters by the kind's share of time.
struct StepEffects {
    std::vector<std::int32_t> steps;
    std::vector<double> effects;  // [step], logarithms about their mean
    // [worker of the trace][step]; empty if the worker has no kernels in some step
    std::vector<std::vector<double>> workers;
    std::vector<Component> components;  // step, stage (a worker in a step), residual
};

/// Estimates the effects from a trace sorted by start. The variance of steps is separated from that of
/// workers in steps if this exceeds that of kernels (F test, 1 %), otherwise from that of kernels. Steps
/// without all workers are excluded.
StepEffects step_effects(const Trace& trace);

}  // namespace prismopt
