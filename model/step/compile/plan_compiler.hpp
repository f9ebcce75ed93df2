#pragma once

/// Compiles a plan into the graph of its step, and its memory.

#include "model/distribution/chain_distribution.hpp"
#include "model/distribution/noise_tables.hpp"
#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"
#include "model/network/workload.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/given_orders.hpp"
#include "model/schedule/program.hpp"
#include "model/step/compile/memory.hpp"
#include "model/step/graph/execution_graph.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace prismopt {

/// A compiled plan: its graph, the layers of each chunk, and its memory.
struct CompiledPlan {
    ExecutionGraph graph;
    std::vector<Chunk> chunks;      // in network order
    std::vector<MemoryUse> stages;  // [stage]
    MemoryUse memory;               // of the stage with the largest use
    double held_for_weights = 1.0;  // share of a layer's activations held after the gradient of its input for that of its weights
};

/// As memory headroom: any plan fits.
inline constexpr double no_memory_limit = -1e3;

/// Input of the compilation of plans, fixed for a study and a phase: one phase of a Problem, or a measured run.
struct Setting {
    const Workload& workload;
    const Phase& phase;
    const Cluster& cluster;
    const NoiseTables& noise;
    double memory_headroom = 0.0;                        // share of the accelerator's memory that must stay free
    std::shared_ptr<const PartOrders> orders = nullptr;  // task orders for all plans, instead of those of their schedules
};

/// Purpose of a compiled graph. The noise-free step needs means only, which take a tenth of the time. For bounds, the means of
/// compute contain the waiting inside tensor-parallel groups, as those of draws do.
enum class CompileFor { noise_free_step, bounds, sampling };

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

    /// Returns the compiled schedule; nothing if it is infeasible.
    std::shared_ptr<const Program> program(const ScheduleShape& shape) const;

    /// Returns a lower bound of the noise-free step of this plan with whatever sharding, overlap of data parallelism and order of
    /// dimensions, in seconds: that of its busiest stage, without transfers between stages, collectives of data parallelism and
    /// the optimizer. Nothing if it is not known: with balanced splits, given orders, known nodes, or schedules that are not
    /// defined. The plan need not fit into memory.
    std::optional<double> least_step(const ParallelPlan& plan);

    const Setting& setting() const { return setting_; }

private:
    const LayerCosts& costs(const LayerShape& shape);

    Setting setting_;
    Network network_;
    std::map<LayerShape, LayerCosts> costs_;
    ChainDistributions chains_;
    ActivationPeaks peaks_;

    struct LeastStep {
        ScheduleShape schedule;
        LayerShape layer;
        LayerSplit split = LayerSplit::layers;
        std::optional<double> seconds;
    };
    std::array<LeastStep, 4> least_steps_;  // the last ones: plans that differ in nothing else follow each other in a space
    std::size_t oldest_ = 0;
    std::map<int, double> least_factors_;  // of tensor-parallel groups, by degree
    double least_factor(int degree);
    std::optional<double> busiest_stage_of(const ParallelPlan& plan, const ScheduleShape& shape, const LayerShape& layer);
};

}  // namespace prismopt
