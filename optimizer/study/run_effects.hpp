#pragma once

/// Training times of one plan over checkpoint intervals and spare nodes, and with one property of failures,
/// restarts, checkpoints, spares or steps changed at a time. All use the same draws of steps and failures,
/// which reduces the noise of differences.

#include "io/html/run_effects.hpp"
#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"

namespace prismopt {

/// The plan must be feasible. Skips changes under which the run never ends or is impossible.
RunEffects run_effects(const Problem& problem, const ParallelPlan& plan, const Rung& rung,
                       const SamplerOptions& sampler);

}  // namespace prismopt
