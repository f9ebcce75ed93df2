#pragma once

/// A plan in the terms of the programs that train: arguments, configurations, job scripts. What a program cannot run is refused
/// with the reason; nothing is approximated.

#include "io/export/trainer.hpp"
#include "model/hardware/hardware.hpp"
#include "model/knob.hpp"
#include "model/network/workload.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/given_orders.hpp"

#include <string>
#include <variant>
#include <vector>

namespace prismopt {

/// What is to be launched: a plan in one phase of a study.
struct Launch {
    std::string study;
    std::string point;    // of the results file
    std::string design;   // the plan as --design takes it
    std::string program;  // that writes this
    ParallelPlan plan;
    Workload workload;
    Phase phase;
    int phase_number = 1;            // from 1
    int phases = 1;                  // of the run
    std::vector<Phase> before = {};  // phases that come before it
    int longest_sequence = 0;        // of the run
    Cluster cluster;
    int host_gpus = 0;                   // of one host, as Slurm has nodes; 0: as the cluster's innermost tier
    std::vector<Knob> knobs;             // of the scenario
    std::vector<double> knob_values;     // SI, [knob]: those of the cluster
    std::string price;                   // of a GPU-hour, and where it is from; empty: not known
    std::vector<Chunk> chunks;           // layers of each, in the order of the network
    PartOrders orders;                   // in which each stage runs its tasks
    bool provisional = false;            // the search was stopped before it had confirmed its front
    double step_s = 0.0;                 // median step time; 0: not known
    double checkpoint_interval_s = 0.0;  // productive time between checkpoints; 0: not known
    std::string stem = "plan";           // which names of further files begin with
};

inline TrainedPlan trained(const Launch& launch) { return {launch.plan, launch.workload, launch.phase, launch.cluster}; }

struct ExportFile {
    std::string name;  // of a file beside the main one; empty: the main file
    std::string text;
};

/// Why a target cannot run a plan, each with what to try.
using Refusals = std::vector<std::string>;
using Exported = std::variant<std::vector<ExportFile>, Refusals>;

struct ExportTarget {
    const char* name;
    const char* is;
    Exported (*make)(const Launch&);
};
const std::vector<ExportTarget>& export_targets();

Exported megatron_arguments(const Launch& launch);
Exported bridge_overrides(const Launch& launch);
Exported torchtitan_config(const Launch& launch);
Exported torchtitan_recipe(const Launch& launch);
Exported slurm_script(const Launch& launch);
Exported launch_json(const Launch& launch);

/// Steps from the first of the run to the last of the phase, as programs count them that go on from a checkpoint.
long steps_to_the_end(const Launch& launch);

/// What stands for a value that the user must give: no program takes it.
inline constexpr const char* fill_in = "FILL_IN";

/// Steps between checkpoints; 0: not known.
long steps_between_checkpoints(const Launch& launch);

/// Lines that say what was exported from where, for which version of the target, and for which hardware and nodes where
/// there is a choice.
std::string stamp(const Launch& launch, const std::string& version, const std::string& source);

}  // namespace prismopt
