#pragma once

/// How much faster or slower each GPU runs the same kernels, from traces without microbatches.

#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/trace.hpp"

#include <vector>

namespace prismopt {

/// Logarithms, by worker of the trace; not a number where it shares no kernels with others.
struct GpuEffects {
    std::vector<double> effects;  // over the median of all
    std::vector<double> errors;   // standard errors
    Component component;          // "gpu"
};

/// Each compute kernel's log duration is compared with the median GPU's mean of its kind and stage, weighted by the kind's duration;
/// what all share in one step is taken off. Errors from the steps' spread, or that of eighths of the trace where it has few steps.
/// Component: variance of the effects less that of their errors, with limits by chi-squared; present where the effects differ by more
/// than their errors explain (F test, 1 %).
GpuEffects gpu_effects(const Trace& trace);

}  // namespace prismopt
