#pragma once

/// Settings of Megatron Core that follow from a plan, for its rules and for the exports to
/// Megatron-LM and Megatron-Bridge.

#include "io/trainers/trainer.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Whether the plan needs --use-tp-pp-dp-mapping; without it, Megatron puts stages outermost.
bool replicas_outermost(const PlannedPhase& of);

/// Consecutive microbatches of a chunk with schedule = interleaved.
int interleaved_group(const ParallelPlan& plan, const Phase& phase);

/// Layers that each chunk recomputes with recompute = full; 0: all; negative: they do not
/// divide evenly among the chunks.
int recomputed_per_chunk(const ParallelPlan& plan);

/// Modules that recompute = selective recomputes: --recompute-modules.
std::vector<std::string> recomputed_modules(const ParallelPlan& plan);

/// --cp-comm-type: how context-parallel GPUs exchange.
std::string context_exchange_name(const ParallelPlan& plan);

/// "rope", "learned_absolute" or "none", derived from the network.
std::string position_embedding(const Workload& workload);

/// Whether tokens are dispatched with DeepEP: the plan has it, or leaves it to a software
/// stack that has it, and ep > 1.
bool uses_deepep(const ParallelPlan& plan, const Cluster& cluster);
/// --moe-token-dispatcher-type
std::string token_dispatcher(const ParallelPlan& plan, const Cluster& cluster);

}  // namespace prismopt
