#pragma once

/// One plan in one step of 64 fleets, around the ops: factors of the GPUs, nodes, stages and microbatches, collectives between
/// replicas, which replicas are simulated op by op, and what becomes of the others. See model/step/sampler.hpp.

#include "model/step/critical_paths.hpp"
#include "model/step/lane_kernels.hpp"
#include "model/step/op_window.hpp"
#include "model/step/replica_residuals.hpp"
#include "model/step/sampler.hpp"

#include <array>
#include <vector>

namespace prismopt {

/// How many of each thing the plans of a lot have at most; and the keys that they share.
struct LotExtent {
    int stages = 1;
    int replicas = 1;
    int nodes = 1;
    int microbatches = 1;
    bool ranks_replicas = false;            // some plan does not simulate all of its replicas
    std::vector<std::uint16_t> first_slot;  // [part]
};

/// 64 fleets in one of their steps: all that plans share but for the ops' own draws. Made once for a lot.
class BlockStep {
public:
    BlockStep(const NoiseTables& noise, const SamplerOptions& options, LotExtent extent);

    /// The block of fleets from `first_fleet`, in their step `step`.
    void begin(int first_fleet, int step);

    const Floats& stage_factor(int replica, int stage) const
    {
        return stage_[static_cast<std::size_t>(replica) * extent_.stages + stage];
    }

    /// Factors of the microbatches of one replica, or of another replica in each lane. `out`: [microbatch].
    void draw_microbatches(std::uint32_t replica, std::vector<Floats>& out) const;
    void draw_microbatches(const Ints& replica, std::vector<Floats>& out) const;
    /// Four words for an event of one replica, or of all.
    void draw(std::uint32_t step_replica, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const;

    const NoiseTables& noise;
    const SamplerOptions& options;
    std::uint32_t step = 0;
    Words fleet;
    FleetPhilox philox;
    Floats compute;                       // step-common regime of compute, times the factor of the whole fleet
    Floats communication;                 // step-common regime of communication
    std::vector<Words> group_words;       // [group]: of the persistent factor of a tensor parallel group
    std::vector<Floats> node;             // [node]: its persistent factor
    std::vector<Floats> mean_microbatch;  // [replica]; empty when no plan ranks replicas, or the law is constant
    std::vector<Floats> reduce_scatter;   // [part]: factor of the collective, times the communication regime
    std::vector<Floats> all_gather;       // [part]

private:
    /// The same for an event that is stratified over the block.
    void draw_strata(std::uint32_t step_replica, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const;
    void draw_strata(const Words& step_replica, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const;
    template <class Draw>
    void look_up_microbatches(std::vector<Floats>& out, Draw&& draw) const;
    void draw_common();
    void draw_persistent();
    void draw_stages();
    void draw_mean_microbatches();
    void draw_collectives();

    LotExtent extent_;
    std::uint32_t block_ = 0;
    std::vector<Floats> stage_;  // [replica * stages + stage]; empty when the law is constant
};

/// What does not change between draws of a plan.
struct BoundPlan {
    /// The graph must outlive it, and be compiled for sampling.
    BoundPlan(const ExecutionGraph& graph, int replicas_simulated);

    int nodes() const;
    bool ranks_replicas() const { return !paths.empty(); }

    const ExecutionGraph& graph;
    int simulated;                    // replicas
    std::vector<CriticalPath> paths;  // empty when all replicas are simulated
    std::vector<OpSpread> spread;     // [part * 2 + pass]
};

class PlanStep {
public:
    PlanStep(const BoundPlan& plan, const NoiseTables& noise);
    PlanStep(const PlanStep&) = delete;
    PlanStep& operator=(const PlanStep&) = delete;

    /// `factors`: scratch that plans may share, contents do not matter.
    void begin(const BlockStep& at, std::vector<Floats>& factors);
    /// The k-th simulated replica: from the start of its step ... (its ops run through pipeline()) ... to its end.
    /// `microbatch`: its factors where all replicas are simulated, from which plans do not differ; empty when the law is constant.
    void begin_replica(const BlockStep& at, int k, const std::vector<Floats>& microbatch);
    PipelineRun& pipeline() { return run_; }
    void end_replica(int k);
    /// Step times.
    Floats end(const BlockStep& at);

    const BoundPlan& plan() const { return plan_; }

private:
    Floats& factor(std::vector<Floats>& factors, int replica, int stage) const
    {
        return factors[static_cast<std::size_t>(replica) * stages_ + stage];
    }
    Floats& factor_of_group(std::vector<Floats>& factors, int group) const;
    void take_persistent(const BlockStep& at, std::vector<Floats>& factors);
    void spread_over_groups(std::vector<Floats>& factors, int node, const Floats& node_factor);
    void keep_optimizer_time(std::vector<Floats>& factors);
    void take_collectives(const BlockStep& at);
    void rank_replicas(const BlockStep& at, std::vector<Floats>& factors);
    void add_shared(const BlockStep& at, const CriticalPath& path, Floats& length) const;
    void wait_for_others(const BlockStep& at);

    const BoundPlan& plan_;
    const ExecutionGraph& graph_;
    int stages_;
    int replicas_;

    PipelineRun run_;  // points into this object: it stays where it is
    Floats slowest_;   // of the replicas so far
    Floats optimizer_;
    Floats widest_;                      // largest factor of the nodes that a group spans
    std::vector<Floats> gathered_;       // [part]: time at which its parameters are there
    std::vector<Floats> reduce_;         // [part]: duration of its gradient collective
    std::vector<Floats> chosen_factor_;  // [simulated * stages + stage]
    std::vector<Ints> chosen_;           // [simulated]: replica, by lane
    std::vector<Floats> chosen_path_;    // [simulated]
    std::vector<Floats> path_;           // [replica]
    std::vector<Floats> shared_;         // [path]: the part of its length that is the same in all replicas
    std::vector<Floats> stage_factor_;   // [stage]: of the replica at hand
    std::vector<Floats> stage_end_;      // [stage]
    std::vector<Floats> gradients_end_;  // [stage]
    std::vector<Floats> slot_;           // [slot]
    std::vector<Floats> microbatch_;     // [microbatch]: of the replica at hand, where plans choose theirs
    Floats nothing_{};
    Floats nobody_;
    std::vector<ReplicaResidual> residuals_;  // [simulated * lanes + lane]
};

}  // namespace prismopt
