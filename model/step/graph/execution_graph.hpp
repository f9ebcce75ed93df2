#pragma once

/// One replica's training step as a graph of ops with laws: what the sampler runs.

#include "model/distribution/chain_law.hpp"
#include "model/distribution/noise_tables.hpp"
#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"
#include "model/network/workload.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/placement.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/given_orders.hpp"
#include "model/schedule/program.hpp"
#include "model/step/graph/coupled_law.hpp"
#include "model/step/graph/exchange.hpp"
#include "model/step/graph/memory.hpp"
#include "model/step/graph/op_law.hpp"

#include <map>
#include <memory>
#include <variant>
#include <vector>

namespace prismopt {

/// Index by part of a stage: stage * v + chunk.
struct ExecutionGraph {
    std::shared_ptr<const Program> program;
    Placement placement;
    DataParallelOverlap dp_overlap = DataParallelOverlap::on;
    std::vector<OpLaw> law;                                  // [part * passes + pass]
    std::vector<std::shared_ptr<const StandardLaw>> shapes;  // that the laws name; none where only means were asked for
    std::vector<std::uint16_t> first_slot;  // [part]: its first layer slot (0: embedding) names it in random keys
    std::vector<Exchange> reduction;        // [part]: of its gradients; none with one replica
    std::vector<Exchange> gathering;        // [part]: of its parameters
    std::vector<float> optimizer_s;         // [stage]
    std::vector<float> ahead_s;  // [stage]: by which its next step begins before that of the first; empty: all begin together
    int exchange_tier = 0;       // of the network, that gradients cross, where tiers have regimes
    QuantileTable group;         // persistent factor of a tensor parallel group
    std::vector<float>
        node;  // factors of the job's nodes in the order of placement, or Cluster::drawn_node; empty: all are drawn
    double group_mean = 1.0;
    CoupledLaw coupled;  // where replicas are coupled

    int stages() const { return program->shape.stages; }
    int chunks() const { return program->shape.chunks; }
    int passes() const { return program->passes; }
    std::size_t law_at(int part, Pass pass) const
    {
        return static_cast<std::size_t>(part) * passes() + static_cast<std::size_t>(pass);
    }
    const OpLaw& law_of(const ProgramOp& op) const { return law[op.law]; }
    bool drawn(std::size_t place) const { return node.empty() || node[place] == static_cast<float>(Cluster::drawn_node); }
    /// Mean factor of what serves a stage of a replica, at least: of the slowest of its known nodes, and of those that are drawn.
    double mean_factor(int replica, int stage) const;
};

/// What a plan is made into: the graph, the layers of each chunk, and the memory it needs.
struct CompiledPlan {
    ExecutionGraph graph;
    std::vector<Chunk> chunks;      // in the order of the network
    std::vector<MemoryUse> stages;  // [stage]
    MemoryUse memory;               // of the fullest
    double held_for_weights =
        1.0;  // share of a layer's activations that the gradient of its input leaves for that of its weights
};

/// Everything a plan is judged against, fixed for a study and a phase.
struct Setting {
    const Workload& workload;
    const Phase& phase;
    const Cluster& cluster;
    const NoiseTables& noise;
    double memory_headroom = 0.0;                        // share of the accelerator's memory that must stay free
    std::shared_ptr<const PartOrders> orders = nullptr;  // of all plans' tasks, instead of those of their schedule
};

/// What a graph is compiled for: its run without noise needs means only, which takes a tenth of the time.
enum class CompileFor { noise_free_step, sampling };

/// Compiles plans for one setting. Keeps what plans share (layer costs, composed laws, programs); use one in each thread.
class PlanCompiler {
public:
    /// The setting's parts must outlive the compiler.
    explicit PlanCompiler(const Setting& setting)
        : setting_(setting), network_(network_of(setting.workload)),
          chains_(setting.noise.residual, setting.noise.node_probability, setting.noise.operation, setting.noise.expert_imbalance)
    {
    }

    /// The plan compiled, or why it cannot work. Throws std::out_of_range for a tensor parallel degree without tables.
    std::variant<CompiledPlan, Infeasible> compile(const ParallelPlan& plan, CompileFor purpose = CompileFor::sampling);

    const Setting& setting() const { return setting_; }

private:
    const LayerCosts& costs(const ParallelPlan& plan);

    Setting setting_;
    Network network_;
    std::map<LayerShape, LayerCosts> costs_;
    ChainLaws chains_;
};

}  // namespace prismopt
