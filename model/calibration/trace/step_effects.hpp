#pragma once

/// What the computing kernels of one step have in common, from traces without microbatches.

#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/trace.hpp"

#include <vector>

namespace prismopt {

/// log duration = mean of the kind, worker and position + effect of the step + effect of the worker in it + rest, each kernel by its
/// time: the effects are of the time that a step computes. What one kind has of its own in a step is in them by the kind's time.
struct StepEffects {
    std::vector<std::int32_t> steps;
    std::vector<double> effects;  // [step], logarithms about their mean
    std::vector<std::vector<double>>
        workers;                        // [worker of the trace][step], of the worker in the step; empty: no kernels in some
    std::vector<Component> components;  // step, stage (a worker in a step), residual
};

/// Of a trace sorted by start. The spread of steps is told by that of workers in them where this is beyond that of kernels (F test, 1 %),
/// otherwise by the kernels'. Steps that are not of all workers tell nothing.
StepEffects step_effects(const Trace& trace);

}  // namespace prismopt
