#pragma once

/// Who waits for whom inside the ops of a plan: its coupling class.
///
/// All replicas of a stage meet in the collectives of their gradients, once a step (model/step/sample/sampler.hpp). Besides:
///
///     plan                                     meet                                     sets of them, by stage
///     tp, cp                                   GPUs of a replica, at each collective    dp
///     expert groups wider than tp*cp           ep*etp / (tp*cp) replicas, at each       dp over that
///                                              exchange of tokens
///     zero2, zero3 with dp_overlap             all replicas, after each backward pass   1
///     zero2, zero3 without                     all replicas, at the end of each layer   1
///
/// Replicas that meet inside ops are one set (Placement::coupled, model/step/graph/coupled_law.hpp). A microbatch's factor is shared by the
/// GPUs of a replica, context parallel ones among them, and is another in each replica.
///
/// Sharding with overlap (FSDP) gathers a layer while the layer before is computed: a replica may run ahead of the slowest by what of
/// a layer the gather does not fill, and all wait for the reductions at the end of a backward pass (Zhao et al., arXiv 2304.11277,
/// sections 3.3 and 3.4). So the set is taken to meet once in the two passes over a microbatch. Against a simulation of these rules
/// with gathers of half a forward layer (tests/support/brute_force_job.hpp), one stage, 16 and 128 replicas of 4 to 32 layers, layers of
/// cv 1.2 to 3 %: within 0.05 % of the mean step. Lockstep by layer would be up to 2.7 % too long where nothing but kernels
/// varies, free replicas 0.9 % too short, and 23 % where microbatches vary by 15 %. Leaves out:
/// - in a pipeline forward passes fill the stages without waiting, and a lead of half a layer saves some of the rest: 0.5 to 0.8 % too
///   long at p = 4, m = 8, 4 layers a stage, stage factors of 3 % (tests/model/plan/coupling_test.cpp);
/// - where nobody waits for a backward pass's reductions, leads carry over: too long by up to 0.6 % at 32 layers, and by up to 5 % at
///   4 layers whose microbatches vary by 15 %;
/// - ZeRO-2, and hybrid sharding between its groups, meet in backward passes only, as is taken for all;
/// - the members of a set share the draws of their own collectives and transfers.
///
/// A layer's tensor parallel groups of a context parallel one meet only where keys and values are exchanged, replicas of an expert
/// group only at its exchanges. Expert groups inside sharded replicas: both.

#include "model/plan/plan.hpp"

#include <compare>
#include <cstdint>

namespace prismopt {

/// Who meets at a barrier inside a layer: each kind holds the ones before it.
enum class Meeting : std::uint8_t { tensor, context, experts };

/// Members at each kind of barrier, each made of whole groups of the kind before.
struct BarrierWidths {
    int tensor = 1;   // GPUs of a tensor parallel group
    int context = 1;  // tensor parallel groups of a replica
    int experts = 1;  // replicas that an expert group spans
    int layer = 1;    // sets of those that meet at the end of each layer,
    int pass = 1;     // and after the passes over a microbatch

    /// Replicas that meet inside ops.
    int replicas() const { return experts * layer * pass; }

    auto operator<=>(const BarrierWidths&) const = default;
};

/// Whether expert groups divide the GPUs of a stage: ep*etp divides tp*cp*dp.
bool expert_groups_divide(const ParallelPlan& plan);

/// Of a plan whose expert_groups_divide(): then `replicas()` divides dp.
BarrierWidths barrier_widths(const ParallelPlan& plan);

}  // namespace prismopt
