#pragma once

/// Pipelines and cases of the schedule study.

#include "model/base/estimate.hpp"
#include "model/step/compile/plan_compiler.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A schedule in the comparison.
struct StudiedSchedule {
    std::string label;
    ParallelPlan plan;
};
std::vector<StudiedSchedule> studied_schedules();

/// A case: one value is changed, the others keep these defaults.
struct StudiedCase {
    double residual_cv = 0.05;  // of each op, lognormal
    Seconds latency{5e-6};      // of a message between stages, beside its time on the link
    double slow_factor = 1.0;   // by which one stage's ops are longer
};
inline constexpr int slowed_stage = 3;

struct StudiedStep {
    Estimate p50, p95, p99;
    double mean = 0.0;
    std::vector<double> draws;
};

/// The network, machine and number of microbatches of the study.
class ScheduleStudy {
public:
    ScheduleStudy();

    /// Draws have the same random numbers for every schedule.
    StudiedStep step(const ParallelPlan& plan, const StudiedCase& changed);
    /// Activations of the fullest stage.
    double activation_bytes(const ParallelPlan& plan);
    /// Time of the work of a stage without waiting, which is the step time of a pipeline without bubbles.
    double work_s();

private:
    CompiledPlan compiled(const ParallelPlan& plan);

    Workload workload_;
    Phase phase_;
    Cluster cluster_;
    NoiseTables noise_;
};

}  // namespace prismopt
