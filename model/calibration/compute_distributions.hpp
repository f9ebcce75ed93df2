#pragma once

/// Distributions of compute of a calibration: of passes of microbatches, or of kernels without microbatches.

#include "model/calibration/calibration.hpp"
#include "model/calibration/gpus/gpu_effects.hpp"
#include "model/calibration/trace/predicted_steps.hpp"
#include "model/calibration/trace/step_effects.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// Slow workers of a trace, and what the distribution over GPUs needs of all.
struct WorkerComparison {
    NamedWorkers named;
    WorkerPeers peers;
    ThrottlingWorkers throttling;
    std::vector<std::int32_t> excluded;
};
WorkerComparison compare_workers(const WorkerTimes& times, const StepEffects& steps,
                                 const NamedWorkers& named);

/// Adds the distributions of compute of a trace with microbatches.
void add_microbatch_distributions(const ComputeEffects& of_compute, const std::vector<std::int32_t>& steps,
                                  double step_s, const WorkerComparison& workers,
                                  const std::vector<OpKind>& kinds, Calibration& result);

/// Adds the distribution over GPUs of kernels without microbatches: what persists of
/// each GPU, over the same kernels.
void add_kernel_gpus(const GpuEffects& gpus, const WorkerComparison& workers, Calibration& result);

/// Adds the distributions of what the kernels of one step share, and those of one GPU in it.
void add_kernel_steps(const StepEffects& steps, double step_s, const SlowMode& slow_steps,
                      Calibration& result);

}  // namespace prismopt
