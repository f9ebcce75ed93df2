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

/// Which draws: 64 fleets in their step `step`, and what all plans share in them.
class BlockStep {
public:
    BlockStep(const NoiseTables& noise, const SamplerOptions& options, int first_fleet, int step);

    /// Four words for an event of all replicas, or of one replica (a lane).
    void draw_shared(std::uint32_t step, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const;
    void draw(const Words& step_replica, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const;
    /// The same for an event that is stratified over the block.
    void draw_strata(const Words& step_replica, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const;

    const NoiseTables& noise;
    const SamplerOptions& options;
    std::uint32_t step;
    Words fleet;
    Words block;           // the same number in all lanes
    Floats compute;        // step-common regime of compute, times the factor of the whole fleet
    Floats communication;  // step-common regime of communication
};

/// What does not change between draws of a plan.
struct BoundPlan {
    BoundPlan(const ExecutionGraph& graph, const NoiseTables& noise, int replicas_simulated);

    const ExecutionGraph& graph;
    int simulated;                    // replicas
    std::vector<CriticalPath> paths;  // empty when all replicas are simulated
    std::vector<OpSpread> spread;     // [part * 2 + pass]
};

class PlanStep {
public:
    explicit PlanStep(const BoundPlan& plan, const NoiseTables& noise);

    /// `factors`: scratch that plans may share, contents do not matter.
    void begin(const BlockStep& at, std::vector<Floats>& factors);
    /// The k-th simulated replica: from the start of its step ... (its ops run through pipeline()) ... to its end.
    void begin_replica(const BlockStep& at, int k);
    PipelineRun pipeline(const BlockStep& at);
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
    void draw_persistent(const BlockStep& at, std::vector<Floats>& factors);
    void spread_over_groups(std::vector<Floats>& factors, int node, const Floats& node_factor);
    void keep_optimizer_time(std::vector<Floats>& factors);
    void draw_stage_factors(const BlockStep& at, std::vector<Floats>& factors);
    void draw_collectives(const BlockStep& at);
    void rank_replicas(const BlockStep& at, std::vector<Floats>& factors);
    const Floats* with_mean_microbatch(const BlockStep& at, const Floats* factors, int replica);
    void add_shared(const BlockStep& at, const CriticalPath& path, Floats& length) const;
    void wait_for_others(const BlockStep& at);

    const BoundPlan& plan_;
    const ExecutionGraph& graph_;
    int stages_;
    int replicas_;

    std::array<Words, 4> words_;
    Floats slowest_;  // of the replicas so far
    Floats optimizer_;
    Floats widest_;                           // largest factor of the nodes that a group spans
    std::vector<Floats> gathered_;            // [part]: time at which its parameters are there
    std::vector<Floats> reduce_;              // [part]: duration of its gradient collective
    std::vector<Floats> chosen_factor_;       // [simulated * stages + stage]
    std::vector<Ints> chosen_;                // [simulated]: replica, by lane
    std::vector<Floats> chosen_path_;         // [simulated]
    std::vector<Floats> path_;                // [replica]
    std::vector<Floats> shared_;              // [path]: the part of its length that is the same in all replicas
    std::vector<Floats> stage_factor_;        // [stage]: of the replica at hand
    std::vector<Floats> stage_end_;           // [stage]
    std::vector<Floats> gradients_end_;       // [stage]
    std::vector<Floats> slot_;                // [slot]
    std::vector<Floats> microbatch_;          // [microbatch]; empty when the law is constant
    std::vector<ReplicaResidual> residuals_;  // [simulated * lanes + lane]
};

}  // namespace prismopt
