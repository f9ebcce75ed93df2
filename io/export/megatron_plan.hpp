#pragma once

/// Rules and settings of Megatron Core, shared by the exports to Megatron-LM and Megatron-Bridge.

#include "io/export/launch.hpp"
#include "io/export/trainer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Whether the plan needs --use-tp-pp-dp-mapping; without it, Megatron puts stages outermost.
bool replicas_outermost(const TrainedPlan& of);

/// Consecutive microbatches of a chunk with schedule = interleaved.
int interleaved_group(const ParallelPlan& plan, const Phase& phase);

/// Division of the layers among stages.
struct MegatronLayers {
    bool account_for_ends = false;  // embedding and loss head count as a layer each; the split is even
    std::string layout;             // else the value of --pipeline-model-parallel-layout; empty: the split is even
};
MegatronLayers megatron_layers(const std::vector<Chunk>& chunks, int predictions);

/// Layers that each chunk recomputes with recompute = full; 0: all; negative: they do not divide evenly among the chunks.
int recomputed_per_chunk(const ParallelPlan& plan);

/// Modules that recompute = selective recomputes: --recompute-modules.
std::vector<std::string> recomputed_modules(const ParallelPlan& plan, const Workload& workload);
/// Whether the model recomputes tensors that none of these modules recomputes.
bool keeps_more_than_judged(const ParallelPlan& plan, const Workload& workload);

/// "rope", "learned_absolute" or "none", derived from the network.
std::string position_embedding(const Workload& workload);

/// Whether tokens are dispatched with DeepEP: the plan has it, or leaves it to a software stack that has it, and ep > 1.
bool uses_deepep(const ParallelPlan& plan, const Cluster& cluster);
/// --moe-token-dispatcher-type
std::string token_dispatcher(const ParallelPlan& plan, const Cluster& cluster);

/// Samples up to the end of the phase as Megatron counts them: it divides them by the batch of the phase to get the iterations of the
/// whole run. Empty if earlier phases, whose samples a checkpoint records, have consumed as many.
std::optional<long> samples_to_the_end(const Launch& launch);
/// Refusal for that case.
std::string too_few_samples(const Launch& launch);
/// Comment on how iterations are counted in a later phase; empty for the first.
std::string later_phase_line(const Launch& launch);

}  // namespace prismopt
