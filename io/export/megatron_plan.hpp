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

/// The length of the run up to the end of the phase, in the words of --train-iters and --train-samples.
/// Several phases count samples: schedules of the learning rate go on in them where the batch changes.
struct TrainingLength {
    std::string unit;  // "iters" or "samples"
    long count = 0;
};
/// Empty if earlier phases, whose samples a checkpoint records, have consumed as many.
std::optional<TrainingLength> training_length(const Launch& launch);
/// Refusal for that case.
std::string too_few_samples(const Launch& launch);
/// Comments on a phase of several: how its iterations are counted, and what its learning rate
/// decays over. Empty with one phase.
std::string phase_lines(const Launch& launch);
/// Comment on DeepEP where the plan has it and the accelerators are not NVIDIA's; else empty.
std::string deepep_line(const Launch& launch);

}  // namespace prismopt
