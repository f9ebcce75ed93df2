#pragma once

/// One plan in one step of 64 fleets, apart from its ops: the replicas that are simulated op by op,
/// their factors, and the residuals of the others. See model/step/sample/sampler.hpp. "Replica" in the
/// names below is a set of coupled replicas (Placement::coupled), which is one replica in most plans; a
/// member is one replica of a set.

#include "model/step/graph/critical_paths.hpp"
#include "model/step/sample/block_step.hpp"
#include "model/step/sample/coupled_set.hpp"
#include "model/step/sample/lane_kernels.hpp"
#include "model/step/sample/length_rows.hpp"
#include "model/step/sample/op_window.hpp"
#include "model/step/sample/replica_residuals.hpp"

#include <optional>
#include <vector>

namespace prismopt {

/// Data of a plan that does not change between draws, which threads share.
struct BoundPlan {
    /// The graph must outlive this object and be compiled for sampling.
    BoundPlan(const ExecutionGraph& bound, int replicas_simulated);

    int nodes() const;
    int replicas() const { return graph.placement.replicas / graph.placement.coupled; }
    bool coupled() const { return graph.placement.coupled > 1; }
    /// Returns the rows of 64 draws that a PlanStep keeps for the factors of
    /// coupled replicas, and of lengths.
    std::size_t coupled_rows() const;
    bool ranks_replicas() const { return !paths.empty(); }
    /// Whether microbatches differ in the lengths of their samples.
    bool lengths_vary() const { return graph.lengths != nullptr; }

    const ExecutionGraph& graph;
    int simulated;                    // replicas
    bool group_varies;                // persistent factor of its tensor-parallel groups varies
    bool exchanges;                   // gradients or parameters, between replicas or within one
    std::vector<CriticalPath> paths;  // empty if all replicas are simulated
    std::vector<OpSpread> spread;     // [part * passes + pass]
    bool communicates = false;        // some op has collectives inside
    // The common standard distribution of all ops that take time, or null:
    const StandardDistribution* compute_distribution = nullptr;
    const StandardDistribution* communication_distribution = nullptr;
};

/// Returns the extents that a plan needs of a BlockStep.
LotExtent extent_of(const BoundPlan& plan);

/// Collectives between replicas in a step, by lane.
struct StepCollectives {
    std::vector<Floats> gathered;       // [part]: time at which its parameters are gathered
    std::vector<Floats> reduce;         // [part]: duration of its gradient collective
    std::vector<Floats> gradients_end;  // [stage]: of the current replica
};

/// The replicas that are simulated op by op.
struct ChosenReplicas {
    // [simulated * stages + stage]; of coupled replicas [member * stages + stage]
    std::vector<Floats> factor;
    std::vector<Ints> replica;  // [simulated]: by lane
    std::vector<Floats> path;   // [simulated]: length of its longest critical path
};

/// Critical paths by which replicas are chosen and the others are estimated.
struct RankedReplicas {
    std::vector<Floats> path;                // [replica]: length of the longest
    std::vector<Floats> shared;              // [path]: the part of its length common to all replicas
    std::vector<Floats> stage_factor;        // [stage]: mean over microbatches, of the current replica
    std::vector<ReplicaResidual> residuals;  // [simulated * lanes + lane]
};

/// Factors of the microbatches of the current replica.
struct MicrobatchFactors {
    std::vector<Floats> drawn;  // [power * microbatches + microbatch], if the plan ranks replicas
    std::vector<std::uint32_t> first_of_power;  // [part * passes + pass]; empty if all passes have the same
    std::optional<LengthRows> lengths;          // if they vary and replicas are not coupled
    std::vector<Floats> with_lengths;  // [stage * microbatches + microbatch]: persistent factors included
};

/// A plan's state in one step of 64 fleets, on one thread.
class PlanStep {
public:
    /// The plan must outlive this object.
    PlanStep(const BoundPlan& plan, const NoiseTables& noise);
    PlanStep(const PlanStep&) = delete;
    PlanStep& operator=(const PlanStep&) = delete;

    /// Begins a step. `factors`: scratch that plans may share; its contents do not matter.
    void begin(const BlockStep& at, std::vector<Floats>& factors);
    /// Begins the k-th simulated replica; its ops then run through pipeline(), until end_replica().
    /// `microbatch`: its factors, [power * microbatches + microbatch], if all replicas are simulated, the
    /// same in all plans; empty if the factor is constant. `slots`: memory for the ends of ops,
    /// Program::slots rows that belong to the plan until end_replica().
    void begin_replica(const BlockStep& at, int k, const std::vector<Floats>& microbatch, Floats* slots);
    PipelineRun& pipeline() { return run_; }
    void end_replica(int k);
    /// Ends the step and returns the step times.
    Floats end(const BlockStep& at);

    const BoundPlan& plan() const { return plan_; }
    /// Returns the number of replicas simulated op by op.
    int simulated() const { return simulated_; }
    /// Returns the time at which a stage has its gradients, for the replica that ended last.
    const Floats& stage_end(int stage) const
    {
        return exchanges() ? collectives_.gradients_end[stage] : run_.slot[graph_.program->last[stage]];
    }
    /// Returns the seconds of the optimizer.
    const Floats& optimizer() const { return optimizer_; }

private:
    bool exchanges() const { return plan_.exchanges; }
    Floats& factor(std::vector<Floats>& factors, int member, int stage) const
    {
        return factors[static_cast<std::size_t>(member) * stages_ + stage];
    }
    Floats& factor_of_group(std::vector<Floats>& factors, int group) const;
    void set_factors(const BlockStep& at, std::vector<Floats>& factors);
    void set_persistent(const BlockStep& at, std::vector<Floats>& factors);
    void multiply_nodes(const BlockStep& at, std::vector<Floats>& factors);
    void multiply_spanned_nodes(const BlockStep& at, std::vector<Floats>& factors);
    const Floats* drawn_factor(const BlockStep& at, int node) const;
    void set_optimizer_time(std::vector<Floats>& factors);
    void time_collectives(const BlockStep& at);
    void rank_replicas(const BlockStep& at, std::vector<Floats>& factors);
    const Floats* mean_factors(const BlockStep& at, int replica, const Floats* members);
    void multiply_lengths(const BlockStep& at, int k);
    bool factors_vary(const BlockStep& at) const { return at.factors_vary || plan_.lengths_vary(); }
    void add_shared(const BlockStep& at, const CriticalPath& path, Floats& length) const;
    Floats last_end();
    void wait_for_others(const BlockStep& at);

    const BoundPlan& plan_;
    const ExecutionGraph& graph_;
    int simulated_;  // replicas
    int stages_;
    int replicas_;
    int members_;  // number of members of all replicas
    float slowest_optimizer_s_;

    PipelineRun run_;  // points into this object, which must not move
    Floats slowest_;   // end of the slowest replica so far
    Floats optimizer_;
    StepCollectives collectives_;
    ChosenReplicas chosen_;
    RankedReplicas ranked_;
    MicrobatchFactors microbatch_;
    std::optional<CoupledSet> set_;  // the current set
};

}  // namespace prismopt
