#pragma once

/// Graph of one replica's training step, as run by the sampler: ops with distributions of their durations.

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

/// Graph of a plan. Parts are indexed by stage * v + chunk.
struct ExecutionGraph {
    std::shared_ptr<const Program> program;
    Placement placement;
    DataParallelOverlap dp_overlap = DataParallelOverlap::on;
    std::vector<OpLaw> law;                                  // [part * passes + pass]
    std::vector<std::shared_ptr<const StandardLaw>> shapes;  // indexed by DurationLaw::shape; empty if compiled for means only
    std::vector<std::uint16_t> first_slot;                   // [part]: its first layer slot (0: embedding), used in random keys
    std::vector<Exchange> reduction;                         // [part]: of its gradients; none with one replica
    std::vector<Exchange> gathering;                         // [part]: of its parameters
    std::vector<float> optimizer_s;                          // [stage]
    std::vector<float> ahead_s;  // [stage]: lead of its next step over that of the first stage; empty: all begin together
    int exchange_tier = 0;       // network tier that gradients cross, if tiers have regimes
    QuantileTable group;         // persistent factor of a tensor-parallel group
    std::vector<float> node;     // factors of the job's nodes in placement order, or Cluster::drawn_node; empty: all are drawn
    double group_mean = 1.0;
    CoupledLaw coupled;  // if replicas are coupled

    int stages() const { return program->shape.stages; }
    int chunks() const { return program->shape.chunks; }
    int passes() const { return program->passes; }
    std::size_t law_at(int part, Pass pass) const
    {
        return static_cast<std::size_t>(part) * passes() + static_cast<std::size_t>(pass);
    }
    const OpLaw& law_of(const ProgramOp& op) const { return law[op.law]; }
    bool drawn(std::size_t place) const { return node.empty() || node[place] == static_cast<float>(Cluster::drawn_node); }
    /// Returns a lower bound of the mean factor of a stage of a replica, from its slowest known node and its drawn ones.
    double mean_factor(int replica, int stage) const;
};

/// A compiled plan: its graph, the layers of each chunk, and its memory.
struct CompiledPlan {
    ExecutionGraph graph;
    std::vector<Chunk> chunks;      // in network order
    std::vector<MemoryUse> stages;  // [stage]
    MemoryUse memory;               // of the stage with the largest use
    double held_for_weights = 1.0;  // share of a layer's activations held after the gradient of its input for that of its weights
};

/// Everything that plans are compiled against, fixed for a study and a phase.
struct Setting {
    const Workload& workload;
    const Phase& phase;
    const Cluster& cluster;
    const NoiseTables& noise;
    double memory_headroom = 0.0;                        // share of the accelerator's memory that must stay free
    std::shared_ptr<const PartOrders> orders = nullptr;  // task orders for all plans, instead of those of their schedules
};

/// Purpose of a compiled graph. The noise-free step needs means only, which take a tenth of the time.
enum class CompileFor { noise_free_step, sampling };

/// Compiles plans for one setting. Caches what plans share (layer costs, composed distributions, programs); use one compiler per
/// thread.
class PlanCompiler {
public:
    /// The members that `setting` refers to must outlive the compiler.
    explicit PlanCompiler(const Setting& setting)
        : setting_(setting), network_(network_of(setting.workload)),
          chains_(setting.noise.residual, setting.noise.node_probability, setting.noise.operation, setting.noise.expert_imbalance)
    {
    }

    /// Returns the compiled plan, or the reason why it is infeasible. Throws std::out_of_range for a tensor-parallel degree
    /// without tables.
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
