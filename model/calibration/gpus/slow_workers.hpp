#pragma once

/// Slow workers of a trace: GPUs that are always or sometimes slow, and stages that are long.

#include "model/calibration/gpus/slow_gpus.hpp"
#include "model/calibration/trace/step_effects.hpp"
#include "model/calibration/trace/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// A GPU or stage that is significantly slower than its peers.
struct SlowUnit {
    std::string name;
    double excess = 0.0;       // 0.1: 10 % slower
    double probability = 0.0;  // p value, with Holm's correction for multiple tests
};

/// Compute times of workers as logarithms, [worker of the trace]; not a number where nothing is known.
struct WorkerTimes {
    std::vector<double> effects;
    std::vector<double> errors;  // standard errors
};

/// The workers of a trace, as texts name them.
struct NamedWorkers {
    std::vector<TraceWorker> workers;
    bool have_stages = false;  // a worker is a stage of a replica, rather than a rank
};
std::string gpu_name(const NamedWorkers& named, std::size_t worker);

/// Workers with known times, relative to the median of their stage, which a slow one does not move.
struct WorkerPeers {
    std::vector<double> values;
    std::vector<double> errors;
    std::vector<std::size_t> workers;  // of the trace
    std::vector<int> stages;
};
WorkerPeers peers_of(const WorkerTimes& times, const std::vector<TraceWorker>& workers);

/// A GPU that is slow in some steps.
struct ThrottlingGpu {
    std::string gpu;
    double share = 0.0;   // of its steps
    double excess = 0.0;  // mean slowdown in these
};
/// GPUs that throttle in some steps.
struct ThrottlingWorkers {
    std::vector<std::size_t> workers;  // of the trace
    SlowMode steps;                    // their slow steps among the steps of all GPUs
    std::vector<ThrottlingGpu> gpus;   // the same workers
};
ThrottlingWorkers throttling_workers(const StepEffects& steps, const NamedWorkers& named);

/// Returns the workers, ascending, to exclude from what the others vary by: the always slow ones and
/// `throttling`, as long as each stage keeps a worker and half of all stay; otherwise none.
std::vector<std::int32_t> workers_to_exclude(const WorkerPeers& peers,
                                             const std::vector<std::size_t>& throttling);

/// Always slow GPUs, and the distribution over GPUs with them as its slow mode.
struct SlowGpus {
    std::vector<SlowUnit> named;
    DistributionFit fit;
    SlowShare share;
};
/// Fits the distribution of the usual GPUs if some are always slow. `source`: of its values.
std::optional<SlowGpus> slow_gpus(const WorkerPeers& peers, const NamedWorkers& named,
                                  const std::string& source);

/// Returns the stages whose operations of a microbatch are longer than those of the median stage, by kind. Of
/// a stage's workers the median counts: one slow GPU is no slow stage.
std::vector<SlowUnit> long_stages(const Trace& trace);

}  // namespace prismopt
