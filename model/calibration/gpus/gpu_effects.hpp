#pragma once

/// Effects of GPUs: how much faster or slower each runs the same kernels, from traces without microbatches.

#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/trace.hpp"

#include <vector>

namespace prismopt {

/// Effects of GPUs as logarithms, [worker of the trace]; not a number for workers
/// that share no kernels with others.
struct GpuEffects {
    std::vector<double> effects;  // relative to the median of all
    std::vector<double> errors;   // standard errors
    Component component;          // "gpu"
};

/// Estimates GPU effects. Each compute kernel's log duration is compared with the median GPU's mean of its
/// kind and stage, weighted by the kind's duration; the effect that all GPUs share in one step is
/// subtracted. Errors come from the spread of steps, or of eighths of the trace if it has few steps.
/// Component: as spread_of_effects().
GpuEffects gpu_effects(const Trace& trace);

}  // namespace prismopt
