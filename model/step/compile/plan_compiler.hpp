#pragma once

/// Compiles a plan into the graph of its step, and its memory.

#include "model/distribution/chain_distribution.hpp"
#include "model/distribution/noise_tables.hpp"
#include "model/hardware/hardware.hpp"
#include "model/hardware/memory_limit.hpp"
#include "model/network/layer_cost.hpp"
#include "model/network/workload.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/given_orders.hpp"
#include "model/schedule/program.hpp"
#include "model/step/compile/memory.hpp"
#include "model/step/compile/placed_plan.hpp"
#include "model/step/graph/execution_graph.hpp"
#include "model/step/graph/slowest_group.hpp"

#include <boost/container/small_vector.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace prismopt {

/// A compiled plan: its graph, the layers of each chunk, and its memory.
struct CompiledPlan {
    ExecutionGraph graph;
    std::vector<Chunk> chunks;      // in network order
    std::vector<MemoryUse> stages;  // [stage]
    MemoryUse memory;               // of the stage with the largest use
    // share of a layer's activations held after the gradient of its input for that of its weights
    double held_for_weights = 1.0;
};

/// Input of the compilation of plans, fixed for a study and a phase: one phase
/// of a Problem, or a measured run. It refers to them, so they must outlive it and every compiler with it;
/// threads may share them, as compilation only reads them.
struct Setting {
    const Workload& workload;
    const Phase& phase;
    const Cluster& cluster;
    const NoiseTables& noise;
    MemoryLimit memory_limit = {};
    // task orders for all plans, instead of those of their schedules
    std::shared_ptr<const ChunkOrders> orders = nullptr;
};

/// The setting in which any plan fits.
inline Setting without_memory_limit(Setting setting)
{
    setting.memory_limit = without_limit(setting.memory_limit);
    return setting;
}

/// Purpose of a compiled graph. The noise-free step needs means only, which take a tenth of the time.
/// For bounds, the means of compute contain the waiting inside tensor-parallel groups, as those of draws
/// do, and the program is shortened.
enum class CompileFor { noise_free_step, bounds, sampling };

/// Compiles plans for one setting. Caches what plans share (layer costs, composed distributions,
/// programs); use one compiler per thread.
class PlanCompiler {
public:
    /// The members that `setting` refers to must outlive the compiler.
    explicit PlanCompiler(const Setting& setting)
        : setting_(setting),
          capacity_(memory_capacity(setting.memory_limit, setting.cluster.accelerator.memory)),
          network_(network_of(setting.workload)), places_(setting.cluster),
          chains_(setting.noise.residual, setting.noise.node_probability, setting.noise.operation,
                  setting.noise.expert_imbalance)
    {
    }

    /// Returns the compiled plan, or the reason why it is infeasible. Throws std::out_of_range for a
    /// tensor-parallel degree without tables.
    std::variant<CompiledPlan, Infeasible> compile(const ParallelPlan& plan,
                                                   CompileFor purpose = CompileFor::sampling);

    /// Returns the graph, for the noise-free step, of a plan that another compiler has compiled for a cluster
    /// that differs in constants only: with its schedule and its layers.
    ExecutionGraph graph_of(const CompiledPlan& compiled, const ParallelPlan& plan);

    /// Returns the compiled schedule for bounds; nothing if it is infeasible.
    std::shared_ptr<const Program> program(const ScheduleShape& shape) const;

    /// Returns a lower bound of the noise-free step of this plan with whatever sharding and overlap of data
    /// parallelism, in seconds: that of its busiest stage, without transfers between stages, collectives of
    /// data parallelism and the optimizer. Nothing if it is not known: with balanced splits, given orders,
    /// known nodes, or schedules that are not defined. The plan need not fit into memory.
    std::optional<double> least_step(const ParallelPlan& plan);

    /// Returns the same from durations that do not vary. Without recompute and offload, it is also a
    /// lower bound for this plan with them: they add to the duration of each pass. (They may take
    /// from the waits for the host, which are part of its compute, so this does not hold for
    /// least_step(), which scales compute.)
    std::optional<double> least_constant_step(const ParallelPlan& plan);

    /// Returns lower bounds of the mean step of a fleet, from the slowest of the groups of the busiest
    /// stages: of its mean and its quantiles over fleets. For whatever sharding and so on, as
    /// least_step(). Nothing where that has nothing, if groups do not vary, or if passes run in pairs.
    /// `probabilities`: the same in each call.
    std::optional<LeastStep> least_step_of_groups(const ParallelPlan& plan,
                                                  std::span<const double> probabilities);

    /// Returns the persistent factor of groups of this degree. Valid until the next call.
    const GroupFactor& group_of(int degree, double segment_cv);

    /// Returns a lower bound of the memory of the fullest GPU, in bytes: that of the first or the
    /// last stage, with the fewest microbatches that its schedule holds. It does not depend on how
    /// anything overlaps. Nothing if it is not known: with balanced splits or given orders, and where
    /// layers do not fill the chunks.
    std::optional<double> least_memory(const ParallelPlan& plan);

    /// Returns the energy of a step's work on all GPUs, beyond what they draw waiting; zero where an
    /// accelerator's energy does not follow its work.
    Joules step_energy(const ParallelPlan& plan);
    /// Returns a lower bound of it for any plan.
    Joules least_step_energy() const;

    /// Bytes per GPU that plans may use by their prediction.
    double capacity_bytes() const { return capacity_.si; }

    const Setting& setting() const { return setting_; }

    /// Returns the shape of layers for a plan, with the lengths of samples. Valid as long as the compiler.
    LayerShape shape_of(const ParallelPlan& plan);

private:
    /// Costs of the layers of one kind of replica, [stage] or one for all stages.
    using StageCosts = boost::container::small_vector<const LayerCosts*, 4>;
    StageCosts costs(const LayerShape& shape, const NumberedPlaces& places, const ReplicaKind& replica);
    /// What a plan's graph is made from.
    struct Prepared {
        PlacedPlan placed;
        std::shared_ptr<const Program> program;
        LayerShape layers;
        std::shared_ptr<const NumberedPlaces> places;
        StageCosts costs;       // of the first kind of replica; valid until room is made for others
        ParallelPlan building;  // plan_of_building()
    };
    Prepared prepared(const PlacedPlan& placed, std::shared_ptr<const Program> program);
    /// The graph of the slowest kind of replica.
    ExecutionGraph graph_of(const Prepared& prepared, const std::vector<Chunk>& chunks, CompileFor purpose);
    std::shared_ptr<const NumberedPlaces> places_for_bounds(const ParallelPlan& plan);
    std::size_t longest_communication(const LayerShape& shape, const NumberedPlaces& places);
    /// `groups`: index in places.groups.layers.
    const LayerCosts& costs(const LayerShape& shape, const NumberedPlaces& places, int groups);
    void make_room_for_costs(std::size_t count);

    Setting setting_;
    Bytes capacity_;
    Network network_;
    KnownPlaces places_;
    std::map<std::pair<LayerShape, int>, LayerCosts> costs_;  // by shape and number of groups
    std::map<LayerShape, Joules> energies_;                   // of a microbatch, by shape
    ChainDistributions chains_;
    ActivationPeaks peaks_;

    /// What the bound of a busiest stage depends on.
    struct WorkKey {
        ScheduleShape schedule;
        LayerShape layer;
        LayerSplit split = LayerSplit::layers;
        int replicas = 0;  // zero if it does not depend on them
        int groups = 0;    // NumberedPlaces::of_stages

        bool operator==(const WorkKey&) const = default;
    };
    /// Bounds of the last plans: those that differ in nothing else follow each other in a space.
    template <class Bound>
    class LastBounds {
    public:
        template <class Make>
        const std::optional<Bound>& of(const WorkKey& key, Make&& make);

    private:
        struct Known {
            WorkKey key;
            std::optional<Bound> bound;
        };
        std::array<Known, 4> known_;
        std::size_t oldest_ = 0;
    };
    LastBounds<double> least_steps_;
    LastBounds<double> least_constant_steps_;
    LastBounds<LeastStep> least_steps_of_groups_;
    /// Microbatches of one size, where samples differ in length.
    struct MicrobatchLengths {
        LengthMix mix;
        std::shared_ptr<const LengthFactors> factors;  // null until a graph needs them
    };
    MicrobatchLengths& lengths_of(int microbatch);
    std::shared_ptr<const LengthFactors> length_factors_of(int microbatch);
    std::map<int, MicrobatchLengths> lengths_;  // by sequences per microbatch

    std::map<std::pair<int, double>, GroupFactor> groups_;  // by degree and segment cv
    std::map<int, double> least_factors_;                   // of tensor-parallel groups, by degree
    double least_factor(int degree);
    /// A plan without sharding, and its shapes.
    struct PlainPlan {
        ParallelPlan plan;
        ScheduleShape shape;
        LayerShape layer;
        std::shared_ptr<const NumberedPlaces> places;
        std::size_t kind = 0;  // of replicas: that which communicates longest,
        int replicas = 1;      // and their number
        int groups = 0;        // NumberedPlaces::of_stages of that kind
    };
    StageCosts costs_of(const PlainPlan& plain);
    /// Nothing if the busiest stage of the plan is not known.
    std::optional<PlainPlan> plain(const ParallelPlan& plan);
    std::optional<LeastStep> slowest_groups_of(const PlainPlan& plain, std::span<const double> probabilities);
    /// Calls visit(place, compute, communication) for each pass of the plan's chunks, in seconds,
    /// with the compute of a pass compute_s(pass). False where its schedule is not defined, or its
    /// layers do not fill the chunks.
    template <class Compute, class Visit>
    bool for_passes(const PlainPlan& plain, Compute&& compute_s, Visit&& visit);
    template <class Compute>
    std::optional<double> busiest_stage_of(const PlainPlan& plain, Compute&& compute_s);
};

}  // namespace prismopt
