#pragma once

/// What a prediction says of the whole run beside its time: checkpoints, losses, spares, deadline, energy.

#include "model/predictor.hpp"
#include "model/run/histories.hpp"

#include <optional>

namespace prismopt {

/// GPUs of the nodes that wait; none of enough_spares.
int spare_gpus(const FailureModel& model, const Cluster& cluster);

/// Checkpoints that do not suit the run.
std::optional<Infeasible> run_problem(const RunPart& part, const ParallelPlan& plan, const Problem& problem, double productive_s);

/// `result` has GPUs and training time. Of the first part of the run: rates and intervals.
RunOutlook outlook(const Problem& problem, const FailureModel& model, const Histories& histories, const Prediction& result,
                   const Confidence& confidence);

}  // namespace prismopt
