#pragma once

/// Output of `predict` for one plan.

#include "io/report/network_size.hpp"
#include "io/scenario/figure_origin.hpp"
#include "model/predictor.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/nodes/assign_nodes.hpp"
#include "optimizer/preview/single_changes.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct WrittenAssignment {
    std::string path;
    AssignedNodes assigned;
};

/// Use of a pipeline stage in the first phase.
struct StageUse {
    std::vector<Chunk> chunks;  // that the stage holds, in order
    double forward_s = 0.0;     // per microbatch, at mean times
    double backward_s = 0.0;
    MemoryUse memory;
};
std::vector<StageUse> stages_of(const CompiledPlan& compiled);

/// 95 % prediction interval of the measured peak memory, in bytes.
struct MemoryInterval {
    double low = 0.0;
    double high = 0.0;
    std::string basis = {};  // what it rests on
};
MemoryInterval memory_interval(const MemoryUse& predicted, const Cluster& cluster);

struct PlanPrediction {
    ParallelPlan plan;
    Prediction prediction;
    ModelInterval model;                  // error of the mean model
    std::vector<PhasePrediction> phases;  // empty if there is only one
    bool nodes_known = false;
    std::optional<WrittenAssignment> positions;
    std::string tokens = {};    // of the run, and its steps
    std::string mixtures = {};  // measured runs behind the model interval of a mixture of experts; empty: not applicable
    std::string price = {};     // of a GPU-hour, with its source
    FigureOrigin price_origin = FigureOrigin::unknown;
    FigureOrigin power_origin = FigureOrigin::unknown;
    SpaceSettings space = {};   // for which designs are written
    std::string hardware = {};  // values of the [[knob]]s; empty: none
    int listed_nodes = 0;       // nodes of the cluster with known factors
    int cluster_nodes = 0;
    int idle_nodes = 0;            // nodes of the cluster that neither work nor are spares
    std::string energy_note = {};  // on power that energy excludes; empty: none
    std::string placement = {};    // note on where process groups lie; empty: none
    std::vector<StageUse> stages = {};
    NetworkSize network = {};
    WorkloadTask task = WorkloadTask::training;
    std::string layout = {};  // of the chunks of the pipeline, in the notation of Megatron Core
    MemoryInterval memory_interval = {};
    std::vector<std::string> memory_assumes = {};  // what no key of the scenario chooses
    int gpus_per_node = 1;
    // Of an infeasible plan, whose prediction is what it would take with enough memory, if that is what it lacks:
    double usable_bytes = 0.0;
    std::vector<SingleChange> changes = {};
};

nlohmann::ordered_json to_json(const PlanPrediction& of);
/// Whether the text has a table with one line per stage.
enum class StageTable { off, on };
void print_text(const PlanPrediction& of, StageTable table);

}  // namespace prismopt
