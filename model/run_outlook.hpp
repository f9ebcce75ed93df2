#pragma once

/// What a prediction says of the whole run beside its time: checkpoints, losses, spares, deadline, energy.

#include "model/predictor.hpp"
#include "model/run/histories.hpp"

#include <optional>
#include <span>

namespace prismopt {

/// GPUs of the nodes that wait; none of enough_spares.
int spare_gpus(const FailureModel& model, const Cluster& cluster);

/// Joules of GPUs that are held for so long, waiting for a part of it: for nodes, restarts and checkpoints, or as spares.
double energy(const Problem& problem, double held_gpu_s, double waiting_gpu_s);

/// Checkpoints and failures with which the run, or a part of it, does not end. A run that is shorter than the interval between
/// checkpoints writes none.
std::optional<Infeasible> run_problem(const FailureModel& model, double productive_s);

/// `result` has GPUs, training time and ETTR. Of the first part of the run: rates and intervals.
RunOutlook outlook(const Problem& problem, std::span<const RunPart> parts, const Histories& histories, const Prediction& result,
                   const Confidence& confidence);

}  // namespace prismopt
