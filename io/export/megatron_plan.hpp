#pragma once

/// What Megatron Core can run, for those that launch it: Megatron-LM and Megatron-Bridge.

#include "io/export/launch.hpp"
#include "io/export/trainer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Whether it needs --use-tp-pp-dp-mapping: without, it has replicas inside and stages outermost.
bool replicas_outermost(const TrainedPlan& of);

/// Microbatches of a chunk in a row with schedule = interleaved.
int interleaved_group(const ParallelPlan& plan, const Phase& phase);

/// How the layers go to the stages.
struct MegatronLayers {
    bool account_for_ends = false;  // embedding and loss head count as a layer each, and all divides evenly
    std::string layout;             // else, as --pipeline-model-parallel-layout takes it; empty: all divides evenly
};
MegatronLayers megatron_layers(const std::vector<Chunk>& chunks);

/// Layers that each chunk recomputes with recompute = full; 0: all; negative: they do not divide.
int recomputed_per_chunk(const ParallelPlan& plan);

/// What recompute = selective recomputes: --recompute-modules.
std::vector<std::string> recomputed_modules(const Workload& workload);
/// Whether the model also recomputes what none of these modules does.
bool keeps_more_than_judged(const ParallelPlan& plan, const Workload& workload);

/// "rope" or "learned_absolute", by the form of the network: biases and layer normalisation are those of GPT-2 and GPT-3.
std::string position_embedding(const Workload& workload);

/// Whether tokens travel to experts by DeepEP, as the software stack has it, which needs GPUs that share experts.
bool uses_deepep(const ParallelPlan& plan, const Cluster& cluster);

/// Samples up to the end of the phase as Megatron counts them: it divides them by the batch of the phase for the iterations of the
/// whole run. Nothing where those of earlier phases, which a checkpoint holds, are as many.
std::optional<long> samples_to_the_end(const Launch& launch);
/// What to say of that.
std::string too_few_samples(const Launch& launch);
/// A comment on how iterations are counted in a later phase; empty for the first.
std::string later_phase_line(const Launch& launch);

}  // namespace prismopt
