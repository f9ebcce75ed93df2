#pragma once

/// Layers and phases as Megatron Core takes them, for the exports to Megatron-LM and Megatron-Bridge.

#include "io/export/launch.hpp"
#include "io/trainers/megatron_rules.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Division of the layers among stages.
struct MegatronLayers {
    bool account_for_ends = false;  // embedding and loss head count as a layer each; the split is even
    std::string layout;  // else the value of --pipeline-model-parallel-layout; empty: the split is even
};
MegatronLayers megatron_layers(const std::vector<Chunk>& chunks, int predictions);

/// Samples up to the end of the phase as Megatron counts them: it divides them by the batch of the
/// phase to get the iterations of the whole run. Empty if earlier phases, whose samples a checkpoint
/// records, have consumed as many.
std::optional<long> samples_to_the_end(const Launch& launch);
/// Refusal for that case.
std::string too_few_samples(const Launch& launch);
/// Comments on a phase of several: how its iterations are counted, and what its learning rate
/// decays over. Empty with one phase.
std::string phase_lines(const Launch& launch);

}  // namespace prismopt
