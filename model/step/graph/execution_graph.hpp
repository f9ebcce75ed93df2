#pragma once

/// Graph of one replica's training step, as run by the sampler: ops with distributions of their durations.

#include "model/distribution/quantile_table.hpp"
#include "model/hardware/hardware.hpp"
#include "model/plan/placement.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/program.hpp"
#include "model/step/graph/coupled_distribution.hpp"
#include "model/step/graph/exchange.hpp"
#include "model/step/graph/length_factors.hpp"
#include "model/step/graph/op_distribution.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace prismopt {

/// Graph of a plan. Parts are indexed by stage * v + chunk.
struct ExecutionGraph {
    std::shared_ptr<const Program> program;
    Placement placement;
    DataParallelOverlap dp_overlap = DataParallelOverlap::on;
    std::vector<OpDistribution> distribution;  // [part * passes + pass]
    // indexed by DurationDistribution::shape; empty if compiled for means only
    std::vector<std::shared_ptr<const StandardDistribution>> shapes;
    // [part]: its first layer slot (0: embedding), used in random keys
    std::vector<std::uint16_t> first_slot;
    std::vector<Exchange> reduction;  // [part]: of its gradients; none with one replica
    std::vector<Exchange> gathering;  // [part]: of its parameters
    std::vector<float> optimizer_s;   // [stage]
    // of each step, its share of the exchange between buildings that use local updates; not drawn
    float outer_s = 0.0F;
    // [stage]: lead of its next step over that of the first stage; empty: all begin together
    std::vector<float> ahead_s;
    int exchange_tier = 0;  // network tier that gradients cross, if tiers have regimes
    QuantileTable group;    // persistent factor of a tensor-parallel group
    // of the work between two barriers: with the degree, it determines `group` of drawn nodes
    double segment_cv = 0.0;
    // factors of the job's nodes in placement order, or Cluster::drawn_node; empty: all are drawn
    std::vector<float> node;
    double group_mean = 1.0;
    // [set of coupled replicas]: of its noise-free step over the slowest set's; empty: none
    std::vector<float> lead_s;
    CoupledDistribution coupled;                   // if replicas are coupled
    std::shared_ptr<const LengthFactors> lengths;  // of microbatches; null: all are equal
    std::vector<LengthShares> length_shares;       // [stage]; if they differ

    int stages() const { return program->shape.stages; }
    int chunks() const { return program->shape.chunks; }
    int passes() const { return program->passes; }
    std::size_t distribution_at(int stage_chunk, Pass pass) const
    {
        return static_cast<std::size_t>(stage_chunk) * passes() + static_cast<std::size_t>(pass);
    }
    const OpDistribution& distribution_of(const ProgramOp& op) const { return distribution[op.distribution]; }
    bool drawn(std::size_t place) const
    {
        return node.empty() || node[place] == static_cast<float>(Cluster::drawn_node);
    }
    /// Whether the replica's step takes longest without noise and with equal nodes.
    bool is_slowest(int replica) const
    {
        return lead_s.empty() || lead_s[replica / placement.coupled] == 0.0F;
    }
    /// Number of such replicas.
    int slowest_replicas() const;
    /// Returns a lower bound of the mean factor of a stage of a replica, from its slowest
    /// known node and its drawn ones.
    double mean_factor(int replica, int stage) const;
};

}  // namespace prismopt
