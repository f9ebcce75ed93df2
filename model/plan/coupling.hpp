#pragma once

/// Groups of GPUs that wait for each other inside the ops of a plan.
///
/// Replicas of a stage synchronise once per step in the collectives of gradients
/// (model/step/sample/sampler.hpp). In addition:
///
///     plan                                     synchronised GPUs, and when              sets per stage
///     tp, cp                                   GPUs of a replica, at each collective    dp
///     expert groups wider than tp*cp           ep*etp / (tp*cp) replicas, at each       dp divided by that
///                                              exchange of tokens
///     embedding tables over table_shards       all replicas, at each exchange of sums   1
///     zero2, zero3 with dp_overlap             all replicas, after each backward pass   1
///     zero2, zero3 without                     all replicas, at the end of each layer   1
///
/// Replicas that synchronise inside ops form one set (Placement::coupled,
/// model/step/graph/coupled_distribution.hpp). A microbatch's factor is shared by the GPUs of a replica,
/// context-parallel ones included, and differs between replicas.
///
/// Limits: sharded pipelines are predicted 0.5 to 0.8 % too long; the members of a set share the
/// draws of their own collectives. Rules of FSDP, comparison with brute force and further
/// limits: docs/methods/coupling.md.

#include "model/plan/plan.hpp"

#include <compare>
#include <cstdint>

namespace prismopt {

/// Kinds of barriers inside a layer, by the widest group that synchronises there; each
/// kind contains the ones before it.
enum class Meeting : std::uint8_t { tensor, context, experts };

/// Number of members at each kind of barrier, in units of whole groups of the kind before.
struct BarrierWidths {
    int tensor = 1;   // GPUs of a tensor-parallel group
    int context = 1;  // tensor-parallel groups of a replica
    int experts = 1;  // replicas that an expert group spans
    int layer = 1;    // such sets that synchronise at the end of each layer,
    int pass = 1;     // and after the passes over a microbatch

    /// Number of replicas that synchronise inside ops.
    int replicas() const { return experts * layer * pass; }

    auto operator<=>(const BarrierWidths&) const = default;
};

/// Returns whether expert-parallel groups divide the GPUs of a stage: ep*etp divides tp*cp*dp.
bool expert_groups_divide(const ParallelPlan& plan);

/// Returns the barrier widths of a plan for which expert_groups_divide() holds; `replicas()` then divides dp.
BarrierWidths barrier_widths(const ParallelPlan& plan);

}  // namespace prismopt
