#pragma once

/// Training times of one plan over checkpoint intervals and spare nodes, and with one property of failures, restarts, checkpoints, spares or
/// steps changed at a time. All by the same draws of steps and of failures, so that differences are not blurred.

#include "io/html/run_study.hpp"
#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"

namespace prismopt {

/// The plan must be feasible. Changes under which the run never ends, or cannot be, are left out.
RunStudy run_study(const Problem& problem, const ParallelPlan& plan, const Rung& rung, const SamplerOptions& sampler);

}  // namespace prismopt
