#include "io/export/megatron_plan.hpp"

#include "io/scenario/layout_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

MegatronLayers megatron_layers(const std::vector<Chunk>& chunks, int predictions)
{
    const auto even = [&chunks](bool ends_count) {
        const auto length = [ends_count](const Chunk& chunk) {
            return chunk.layers + (ends_count && chunk.embedding ? 1 : 0) +
                   (ends_count && chunk.head ? 1 : 0);
        };
        return std::all_of(chunks.begin(), chunks.end(),
                           [&](const Chunk& chunk) { return length(chunk) == length(chunks.front()); });
    };
    if (even(false)) {
        return {};
    }
    return even(true) ? MegatronLayers{true, ""} : MegatronLayers{false, layout_text(chunks, predictions)};
}

// update_train_iters in megatron/training/training.py: train_iters = train_samples // global_batch_size, of
// all training runs; and MegatronPretrainingSampler asserts that less than all samples are consumed, of which
// a checkpoint holds the number.
std::optional<TrainingLength> training_length(const Launch& launch)
{
    long consumed = 0;
    for (const Phase& phase : launch.before) {
        consumed += std::lround(phase.steps()) * phase.global_batch;
    }
    const long steps = steps_to_the_end(launch);
    const long samples = steps * launch.phase.global_batch;
    if (samples <= consumed) {
        return std::nullopt;
    }
    return launch.phases > 1 ? TrainingLength{"samples", samples} : TrainingLength{"iters", steps};
}

std::string too_few_samples(const Launch& launch)
{
    return fmt::format(
        "phase {} continues from a checkpoint, and Megatron counts samples over all phases: its {} "
        "iterations of {} samples are "
        "fewer than the earlier phases have consumed; give it a global_batch as large as theirs, or train it "
        "as a separate run "
        "(--finetune)",
        launch.phase_number, steps_to_the_end(launch), launch.phase.global_batch);
}

// get_optimizer_param_scheduler in megatron/training/training.py: lr_decay_samples is train_samples by
// default; and the scheduler asserts, on loading, that it is that of the checkpoint
// (megatron/core/optimizer_param_scheduler.py).
std::string phase_lines(const Launch& launch)
{
    if (launch.phases == 1) {
        return "";
    }
    const std::string continues =
        launch.before.empty()
            ? ""
            : fmt::format(
                  "# Continues from the checkpoint of phase {}, iteration {}, to iteration {}: Megatron "
                  "counts "
                  "iterations over all phases, in batches of this phase.\n",
                  launch.phase_number - 1, steps_to_the_end(launch) - std::lround(launch.phase.steps()),
                  steps_to_the_end(launch));
    return fmt::format(
        "{}# Without lr-decay-samples, the learning rate decays until the end of this phase. All {} phases "
        "have {} samples; set "
        "it "
        "to the same value in each phase.\n",
        continues, launch.phases, launch.samples);
}

// https://github.com/deepseek-ai/DeepEP needs CUDA and NVSHMEM; https://github.com/ROCm/DeepEP is AMD's port.
std::string deepep_line(const Launch& launch)
{
    const bool deepep = launch.job.workload.is_moe() && uses_deepep(launch.plan, launch.job.cluster);
    return deepep && is_instinct(launch.job.cluster.accelerator)
               ? "# DeepEP is for NVIDIA GPUs: on these, build its port to ROCm "
                 "(https://github.com/ROCm/DeepEP), or search dispatch = [\"all-to-all\"].\n"
               : "";
}

}  // namespace prismopt
