#pragma once

/// One plan in one step of 64 fleets, around the ops: which replicas are simulated op by op, with which factors, and what becomes
/// of the others. See model/step/sample/sampler.hpp. "Replica" in the names below is a set of coupled ones (Placement::coupled), which is
/// one replica in most plans; a member is one of a set.

#include "model/step/graph/critical_paths.hpp"
#include "model/step/sample/block_step.hpp"
#include "model/step/sample/coupled_set.hpp"
#include "model/step/sample/lane_kernels.hpp"
#include "model/step/sample/op_window.hpp"
#include "model/step/sample/replica_residuals.hpp"

#include <optional>
#include <vector>

namespace prismopt {

/// What does not change between draws of a plan.
struct BoundPlan {
    /// The graph must outlive it, and be compiled for sampling.
    BoundPlan(const ExecutionGraph& bound, int replicas_simulated);

    int nodes() const;
    int replicas() const { return graph.placement.replicas / graph.placement.coupled; }
    bool coupled() const { return graph.placement.coupled > 1; }
    /// Rows of 64 draws that a PlanStep keeps of the factors of coupled replicas.
    std::size_t coupled_rows() const;
    bool ranks_replicas() const { return !paths.empty(); }

    const ExecutionGraph& graph;
    int simulated;                    // replicas
    bool group_varies;                // persistent factor of its tensor parallel groups
    bool exchanges;                   // gradients or parameters, between replicas or within one
    std::vector<CriticalPath> paths;  // empty when all replicas are simulated
    std::vector<OpSpread> spread;     // [part * passes + pass]
    bool communicates = false;        // some op has collectives inside
    // The one standard law of all ops that take time, or null:
    const StandardLaw* compute_law = nullptr;
    const StandardLaw* communication_law = nullptr;
};

/// What a plan needs of a BlockStep.
LotExtent extent_of(const BoundPlan& plan);

class PlanStep {
public:
    PlanStep(const BoundPlan& plan, const NoiseTables& noise);
    PlanStep(const PlanStep&) = delete;
    PlanStep& operator=(const PlanStep&) = delete;

    /// `factors`: scratch that plans may share, contents do not matter.
    void begin(const BlockStep& at, std::vector<Floats>& factors);
    /// The k-th simulated replica: from the start of its step ... (its ops run through pipeline()) ... to its end.
    /// `microbatch`: its factors where all replicas are simulated, from which plans do not differ; empty when the law is constant.
    /// `slots`: memory for the ends of ops, Program::slots rows that are the plan's until end_replica().
    void begin_replica(const BlockStep& at, int k, const std::vector<Floats>& microbatch, Floats* slots);
    PipelineRun& pipeline() { return run_; }
    void end_replica(int k);
    /// Step times.
    Floats end(const BlockStep& at);

    const BoundPlan& plan() const { return plan_; }
    /// Replicas that go through the ops.
    int simulated() const { return simulated_; }
    /// Of the replica that ended last: when a stage has its gradients.
    const Floats& stage_end(int stage) const
    {
        return exchanges() ? gradients_end_[stage] : run_.slot[graph_.program->last[stage]];
    }
    /// Seconds of the optimizer.
    const Floats& optimizer() const { return optimizer_; }

private:
    bool exchanges() const { return plan_.exchanges; }
    Floats& factor(std::vector<Floats>& factors, int member, int stage) const
    {
        return factors[static_cast<std::size_t>(member) * stages_ + stage];
    }
    Floats& factor_of_group(std::vector<Floats>& factors, int group) const;
    void take_factors(const BlockStep& at, std::vector<Floats>& factors);
    void take_persistent(const BlockStep& at, std::vector<Floats>& factors);
    void spread_over_groups(std::vector<Floats>& factors, int node, const Floats* drawn, const Floats& compute);
    void keep_optimizer_time(std::vector<Floats>& factors);
    void take_collectives(const BlockStep& at);
    void rank_replicas(const BlockStep& at, std::vector<Floats>& factors);
    const Floats* mean_factors(const BlockStep& at, int replica, const Floats* members);
    void add_shared(const BlockStep& at, const CriticalPath& path, Floats& length) const;
    Floats last_end();
    void wait_for_others(const BlockStep& at);

    const BoundPlan& plan_;
    const ExecutionGraph& graph_;
    int simulated_;  // replicas
    int stages_;
    int replicas_;
    int members_;  // of all replicas
    float slowest_optimizer_s_;

    PipelineRun run_;  // points into this object: it stays where it is
    Floats slowest_;   // of the replicas so far
    Floats optimizer_;
    Floats widest_;                      // largest factor of the drawn nodes that a group spans
    float slowest_known_ = 0.0F;         // the same of those that are known
    std::vector<Floats> gathered_;       // [part]: time at which its parameters are there
    std::vector<Floats> reduce_;         // [part]: duration of its gradient collective
    std::vector<Floats> chosen_factor_;  // [simulated * stages + stage], of coupled replicas [member of those * stages + stage]
    std::vector<Ints> chosen_;           // [simulated]: replica, by lane
    std::vector<Floats> chosen_path_;    // [simulated]
    std::vector<Floats> path_;           // [replica]
    std::vector<Floats> shared_;         // [path]: the part of its length that is the same in all replicas
    std::vector<Floats> stage_factor_;   // [stage]: mean over microbatches, of the replica at hand
    std::vector<Floats> gradients_end_;  // [stage]
    std::vector<Floats> microbatch_;     // [microbatch]: of the replica at hand, where plans choose theirs
    std::optional<CoupledSet> set_;      // at hand
    std::vector<ReplicaResidual> residuals_;  // [simulated * lanes + lane]
};

}  // namespace prismopt
