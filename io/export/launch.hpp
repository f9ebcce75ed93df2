#pragma once

/// Exports a plan to training programs: arguments, configurations, job scripts. What a program cannot run is
/// refused with the reason; nothing is approximated.

#include "io/scenario/choices.hpp"
#include "io/trainers/trainer.hpp"
#include "model/hardware/hardware.hpp"
#include "model/network/workload.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/given_orders.hpp"

#include <string>
#include <variant>
#include <vector>

namespace prismopt {

/// Input of an export: a plan in one phase of a study.
struct Launch {
    std::string study;
    std::string point;    // of the results file; empty: of none
    std::string design;   // the plan, in the syntax of --design
    std::string program;  // name and version of this program
    Job job;
    ParallelPlan plan;  // in the phase
    Phase phase;
    int phase_number = 1;                // from 1
    int phases = 1;                      // of the run
    std::vector<Phase> before = {};      // earlier phases
    long samples = 0;                    // of the run
    int longest_sequence = 0;            // of the run
    int host_gpus = 0;                   // per host, as Slurm counts nodes; 0: as the innermost tier
    std::vector<StudyChoice> choices;    // of the scenario
    ChosenValues chosen;                 // those of the plan
    std::string price;                   // per GPU-hour, with its source; empty: unknown
    std::vector<Chunk> chunks;           // layers of each, in the order of the network
    ChunkOrders orders;                  // task order of each stage
    bool provisional = false;            // the search was stopped before it confirmed its front
    double fit_probability = 1.0;        // with which the plan fits into memory
    double step_s = 0.0;                 // median step time; 0: unknown
    double checkpoint_interval_s = 0.0;  // productive time between checkpoints; 0: unknown
    std::string stem = "plan";           // prefix of the names of further files
};

inline PlannedPhase trained(const Launch& launch) { return {launch.plan, launch.phase, launch.job}; }

struct ExportFile {
    std::string name;  // of an additional file; empty: the main file
    std::string text;
};

/// Reasons why a target cannot run a plan, each with a remedy.
using Refusals = std::vector<std::string>;
using Exported = std::variant<std::vector<ExportFile>, Refusals>;

struct ExportTarget {
    const char* name;
    const char* is;
    const char* extension;  // of its main file
    Exported (*make)(const Launch&);
};
const std::vector<ExportTarget>& export_targets();

Exported megatron_arguments(const Launch& launch);
Exported bridge_overrides(const Launch& launch);
Exported torchtitan_config(const Launch& launch);
Exported torchtitan_recipe(const Launch& launch);
Exported slurm_script(const Launch& launch);
Exported launch_json(const Launch& launch);

/// Steps from the start of the run to the end of the phase, as counted by programs
/// that continue from a checkpoint.
long steps_to_the_end(const Launch& launch);

/// Placeholder of a value that the user must give; no program accepts it.
inline constexpr const char* fill_in = "FILL_IN";

/// Steps between checkpoints; 0: unknown.
long steps_between_checkpoints(const Launch& launch);

/// A text of the scenario as it may stand in a comment or a job script: one line without control characters.
std::string one_line(const std::string& text);

/// Comment lines on the exported plan: its study, the version of the target and, where there
/// is a choice, hardware and nodes.
std::string stamp(const Launch& launch, const std::string& version, const std::string& source);

}  // namespace prismopt
