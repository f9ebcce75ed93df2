#pragma once

/// Predictions for the whole run besides its time: checkpoints, losses, spares, deadline, energy.

#include "model/predictor.hpp"
#include "model/run/histories.hpp"

#include <optional>
#include <span>

namespace prismopt {

/// Returns the number of GPUs of the waiting spare nodes; 0 for enough_spares.
int spare_gpus(const FailureModel& model, const Cluster& cluster);

/// What GPUs do in a run.
struct TrainedWork {
    double gpu_s = 0.0;  // in which they compute
    // energy of that beyond waiting, at the boards, if the accelerator's energy follows its work
    double work_j = 0.0;
};

/// Returns the energy, in joules, of GPUs held for `held_gpu_s`, in which they train for a part and else wait
/// (for nodes, restarts and checkpoints, or as spares).
double energy(const Problem& problem, double held_gpu_s, const TrainedWork& trained);

/// Returns the power of the building, in watts, while so many GPUs train and others wait.
double power_in_training(const Problem& problem, double gpus, double waiting_gpus);

/// Returns the power of the building, in watts, for the whole cluster while so many of its
/// GPUs train. It grows with them.
double cluster_power_in_training(const Problem& problem, double gpus, double waiting_gpus);

/// Returns what electricity costs in a run of `seconds` on `held_gpus`, in USD: GPUs train for a part and
/// wait for the rest. It grows with each of them. Zero if the price of GPUs includes it.
double electricity_usd(const Problem& problem, double held_gpus, const TrainedWork& trained, double seconds);

/// Returns the reason why the run, or a part of it, does not end with these failures and checkpoints; or
/// nothing. A run shorter than the interval between checkpoints writes none.
std::optional<Infeasible> run_problem(const FailureModel& model, double productive_s);

/// Returns the outlook of a run. `result` must have GPUs, training time and ETTR. Rates and intervals are
/// those of the run's first part. `work_j`: of the run without failures, see TrainedWork.
RunOutlook outlook(const Problem& problem, std::span<const RunSegment> segments, const Histories& histories,
                   const Prediction& result, double work_j, const Confidence& confidence);

}  // namespace prismopt
