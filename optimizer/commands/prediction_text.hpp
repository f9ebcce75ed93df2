#pragma once

/// What `predict` says of one plan.

#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"
#include "model/step/graph/execution_graph.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/nodes/seat_nodes.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct SeatsWritten {
    std::string path;
    SeatedNodes seated;
};

/// A pipeline stage in the first phase.
struct StageUse {
    std::vector<Chunk> chunks;  // those that it holds, the first first
    double forward_s = 0.0;     // of a microbatch through them, at mean times
    double backward_s = 0.0;
    MemoryUse memory;
};
std::vector<StageUse> stages_of(const CompiledPlan& compiled);

struct PlanPrediction {
    ParallelPlan plan;
    Prediction prediction;
    ModelInterval model;                  // of the mean model
    std::vector<PhasePrediction> phases;  // where there are several
    bool nodes_known = false;
    std::optional<SeatsWritten> seats;
    std::string mixtures = {};  // what the model's interval rests on for a mixture of experts; empty: nothing to say
    std::string price = {};     // of a GPU-hour, and where it is from
    SpaceSettings space = {};   // that designs are written for
    std::string hardware = {};  // at what the scenario's knobs stand; empty: there is no choice
    int listed_nodes = 0;       // of the cluster, whose factors are known
    int cluster_nodes = 0;
    int idle_nodes = 0;  // of the cluster, neither at work nor spares
    std::vector<StageUse> stages = {};
    std::string layout = {};  // of the pipeline's chunks, as Megatron Core has it
};

nlohmann::json to_json(const PlanPrediction& of);
/// `table`: with a line for each stage.
enum class StageTable { off, on };
void print_text(const PlanPrediction& of, StageTable table);

}  // namespace prismopt
