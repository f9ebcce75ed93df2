#pragma once

/// Job: what is trained or run, on which cluster.

#include "model/hardware/hardware.hpp"
#include "model/hardware/memory_limit.hpp"
#include "model/hardware/power.hpp"
#include "model/network/workload.hpp"
#include "model/plan/phase.hpp"
#include "model/promise.hpp"
#include "model/run/reliability.hpp"

#include <vector>

namespace prismopt {

/// A job without the plan by which it runs. A Scenario is a job with what a search needs, a Problem one
/// with its distributions as tables (predictor.hpp), a Variant one of the study's choices, a
/// MeasuredRun one that was measured; a Launch has one. A Setting (step/compile/plan_compiler.hpp)
/// refers to what a plan needs of one phase.
struct Job {
    Workload workload{};          // with its task: what a step is
    std::vector<Phase> phases{};  // at least one
    Cluster cluster{};            // with its software
    Reliability reliability{};
    Power power{};
    Seconds deadline{};  // of the training time; zero: none
    Promise promise{};   // which training time is asked for
    // of the quantiles of step and training times that the objectives need besides p50, p95 and p99
    std::vector<int> percents{};
    MemoryLimit memory_limit{};
};

/// A plan as it is in one phase of a job. All three belong to the caller, and must outlive it.
struct PlannedPhase {
    const ParallelPlan& plan;
    const Phase& phase;
    const Job& job;
};

}  // namespace prismopt
