#pragma once

/// One replica's training step as a graph of ops with laws: what the sampler runs.

#include "model/hardware.hpp"
#include "model/layer_cost.hpp"
#include "model/layout.hpp"
#include "model/noise_tables.hpp"
#include "model/plan.hpp"
#include "model/prediction.hpp"
#include "model/program.hpp"
#include "model/workload.hpp"

#include <map>
#include <memory>
#include <tuple>
#include <variant>
#include <vector>

namespace prismopt {

/// Law of an op's duration in one step:
///   compute_s * [group, node, site, stage, microbatch, common compute factors] * (1 + compute_cv * Z)
///   + communication_s * [common communication factor] * (1 + communication_cv * Z')
/// with Z, Z' from standard laws; before it a transfer from the neighbouring stage, transfer_s * [common] * [p2p factor].
struct OpLaw {
    float compute_s = 0.0F;
    float compute_cv = 0.0F;
    float communication_s = 0.0F;
    float communication_cv = 0.0F;
    float transfer_s = 0.0F;
    int compute_law = 0;         // index into NoiseTables::standard
    int communication_law = 0;
};

/// Where the tensor parallel groups of a job sit: group of (replica, stage) starts at GPU tp * (replica * replica_stride +
/// stage * stage_stride).
struct Placement {
    int tp = 1;
    int stages = 1;
    int replicas = 1;
    int stage_stride = 1;      // in groups
    int replica_stride = 1;
    int gpus_per_node = 8;

    int group(int replica, int stage) const { return replica * replica_stride + stage * stage_stride; }
    int gpu(int replica, int stage) const { return tp * group(replica, stage); }
};
Placement place(const ParallelPlan& plan, const Cluster& cluster);

/// Index by part of a stage: stage * v + chunk.
struct ExecutionGraph {
    std::shared_ptr<const Program> program;
    Placement placement;
    DataParallelOverlap dp_overlap = DataParallelOverlap::on;
    std::vector<OpLaw> law;                 // [part * 2 + pass]
    std::vector<std::uint16_t> first_slot;  // [part]: its first layer slot (0: embedding) names it in random keys
    std::vector<float> reduce_scatter_s;    // [part]: of its gradients (an all-reduce without sharding); 0 with one replica
    std::vector<float> all_gather_s;        // [part]: of its parameters
    std::vector<float> optimizer_s;         // [stage]
    QuantileTable group;                    // persistent factor of a tensor parallel group
    double group_mean = 1.0;

    int stages() const { return program->shape.stages; }
    int chunks() const { return program->shape.chunks; }
    int part(const ProgramOp& op) const { return op.stage * chunks() + op.chunk; }
    const OpLaw& law_of(const ProgramOp& op) const { return law[2 * part(op) + static_cast<int>(op.pass)]; }
};

/// What a plan is made into: the graph, and the memory it needs.
struct CompiledPlan {
    ExecutionGraph graph;
    MemoryUse memory;
};

/// Everything a plan is judged against, fixed for a study and a phase.
struct Setting {
    const Workload& workload;
    const Phase& phase;
    const Cluster& cluster;
    const NoiseTables& noise;
    double memory_headroom = 0.0;   // share of the accelerator's memory that must stay free
};

/// Compiles plans for one setting. Keeps what plans share (layer costs, programs); use one in each thread.
class PlanCompiler {
public:
    /// The setting's parts must outlive the compiler.
    explicit PlanCompiler(const Setting& setting) : setting_(setting) {}

    /// The plan compiled, or why it cannot work. Throws std::out_of_range for a tensor parallel degree without tables.
    std::variant<CompiledPlan, Infeasible> compile(const ParallelPlan& plan);

    const Setting& setting() const { return setting_; }

private:
    const LayerCosts& costs(const ParallelPlan& plan);

    Setting setting_;
    std::map<std::tuple<int, int, Recompute, bool>, LayerCosts> costs_;   // by tp, microbatch, recompute, sequence parallel
};

/// The step with every duration at its mean. By Jensen's inequality (the step is convex in its durations, and factors are
/// independent) at most the mean of the step time.
struct NoiseFreeStep {
    double step_s = 0.0;
    StepShares shares;
};
NoiseFreeStep noise_free_step(const ExecutionGraph& graph);

/// A path through the graph: its length is the sum of what lies on it.
struct CriticalPath {
    float communication_s = 0.0F;       // transfers and collectives inside ops
    std::vector<float> compute_s;       // [stage], at factor one
    int gathered_part = -1;             // waits for this part's parameters at the start; -1: does not
    std::vector<int> reduced_parts;     // gradient collectives at the end
};

/// Paths that are critical when one stage is slow. The longest of them bounds a replica's step from below and stands in for it
/// when replicas are compared.
std::vector<CriticalPath> critical_paths(const ExecutionGraph& graph);

}  // namespace prismopt
