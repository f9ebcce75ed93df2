#pragma once

/// Workload as described by users: kinds of layers made of blocks, in a sequence,
/// between an embedding and a head.

#include "model/hardware/hardware.hpp"
#include "model/network/blocks.hpp"
#include "model/network/optimizer.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/precision_choice.hpp"

#include <algorithm>
#include <concepts>
#include <memory>
#include <string>
#include <vector>

namespace prismopt {

struct Network;

/// Task of a job: what a step is. Inference runs forward passes only.
enum class WorkloadTask { training, inference };
struct TaskFacts {
    WorkloadTask task;
    std::string_view name;
    bool trains;  // a step has backward passes and an update of the parameters, which checkpoints keep
};
inline constexpr auto task_facts = std::to_array<TaskFacts>(
    {{WorkloadTask::training, "training", true}, {WorkloadTask::inference, "inference", false}});
template <>
inline constexpr auto names_of<WorkloadTask> = std::to_array<Named<WorkloadTask>>(
    {{task_facts[0].task, task_facts[0].name}, {task_facts[1].task, task_facts[1].name}});
constexpr bool trains(WorkloadTask task)
{
    return std::find_if(task_facts.begin(), task_facts.end(),
                        [task](const TaskFacts& of) { return of.task == task; })
        ->trains;
}

/// Type in which the inputs of linear layers and of activations between them are saved: 16 bits, or 8 bits
/// with a scale for each 128 numbers (DeepSeek-V3, arXiv 2412.19437, section 3.3.3).
enum class ActivationStorage { bf16, fp8 };
template <>
inline constexpr auto names_of<ActivationStorage> = std::to_array<Named<ActivationStorage>>(
    {{ActivationStorage::bf16, "bf16"}, {ActivationStorage::fp8, "fp8"}});

/// How the loss over a vocabulary is computed: as the software stack does; by separate kernels on 32-bit
/// logits, as PyTorch's cross_entropy; by one fused kernel, or compiled to some; in chunks of tokens after
/// the head; or in chunks together with the head, so that no logits remain (Liger-Kernel,
/// fused_linear_cross_entropy.py).
enum class LossKernel { of_stack, unfused, fused, chunked, fused_linear };
template <>
inline constexpr auto names_of<LossKernel> =
    std::to_array<Named<LossKernel>>({{LossKernel::of_stack, "of-stack"},
                                      {LossKernel::unfused, "unfused"},
                                      {LossKernel::fused, "fused"},
                                      {LossKernel::chunked, "chunked"},
                                      {LossKernel::fused_linear, "fused-linear"}});

/// One kind of layer.
struct LayerDescription {
    std::string name;
    std::vector<BlockDescription> blocks;
    bool parallel = false;  // its blocks read the same input, and their results are added together (GPT-J)
    int hidden = 0;         // columns of its stream; 0: those of the network
    // tokens per token of the phase's sequence, for towers and levels of an image network
    double tokens = 1.0;
    bool frozen = false;  // not trained
    // tokens per sample of a second stream with weights of its own, which attention joins; 0: none
    int second_stream = 0;

    bool operator==(const LayerDescription&) const = default;
};

/// "block "mlp" in layer "dense""
std::string block_text(const LayerDescription& layer, const BlockDescription& block);

/// An obstacle with the kind of its block and the name of its layer.
struct BlockObstacle {
    Obstacle obstacle;
    std::string block;
    std::string layer;

    bool operator==(const BlockObstacle&) const = default;
};

/// Consecutive layers of one kind.
struct LayerRun {
    int kind = 0;  // index in Workload::kinds
    int count = 1;

    bool operator==(const LayerRun&) const = default;
};

/// What is trained: all that is not frozen by its own key, or adapters beside frozen layers and
/// ends (LoRA, arXiv 2106.09685).
enum class Method { full, lora };
template <>
inline constexpr auto names_of<Method> = std::to_array<Named<Method>>({{Method::full, "full"},
                                                                       {Method::lora, "lora"}});

/// Products that adapters stand beside.
enum class AdapterTargets { all, attention };
template <>
inline constexpr auto names_of<AdapterTargets> = std::to_array<Named<AdapterTargets>>(
    {{AdapterTargets::all, "all"}, {AdapterTargets::attention, "attention"}});

/// A network, its task and its optimizer.
struct Workload {
    std::string name;
    int hidden = 0;
    int vocabulary = 0;  // 0: no embedding and no loss over it
    int positions = 0;   // number of learned positions
    Normalisation normalisation = Normalisation::layer_norm;
    NormPlace norms = NormPlace::pre;
    bool tied_embedding = false;            // input and output embedding share their weights
    bool dropout = false;                   // dropout masks are saved (GPT-3 era runs); modern runs have none
    Precision precision = Precision::bf16;  // of the linear layers' products
    AttentionPrecision attention_precision = AttentionPrecision::bf16;
    WideLayers wide;  // layers that stay in 16 bits
    ActivationStorage activation_storage = ActivationStorage::bf16;
    LossKernel loss = LossKernel::of_stack;
    bool wide_stream = false;  // the stream between layers has 32 bits, as has what full recompute saves
    WorkloadTask task = WorkloadTask::training;
    bool frozen_ends = false;  // embedding and head are not trained
    // rank of adapters beside the products of frozen layers (LoRA, arXiv 2106.09685); 0: none
    int adapter_rank = 0;
    Method method = Method::full;
    AdapterTargets adapter_targets = AdapterTargets::all;
    FrozenStorage frozen_storage = FrozenStorage::bf16;  // of weights of frozen layers' products
    OptimizerSettings optimizer;
    std::vector<LayerDescription> kinds;
    std::vector<LayerRun> sequence;
    std::vector<LayerRun> prediction;  // layers of a multi-token prediction module
    int predictions = 0;               // number of such modules, each with its own weights
    // for plans with split = given: at most one per number of chunks
    std::vector<std::vector<Chunk>> layouts;

    // network captured from PyTorch code, instead of the description of layers
    std::shared_ptr<const Network> captured;
    int captured_tokens = 0;  // tokens per sample; all phases have sequences of this length

    bool operator==(const Workload&) const = default;

    int layers() const;
    /// Calls visit(block) for each block of each kind of layer.
    template <class Visit>
    void for_blocks(Visit&& visit) const
    {
        for (const LayerDescription& kind : kinds) {
            std::for_each(kind.blocks.begin(), kind.blocks.end(), visit);
        }
    }
    /// Returns the first block of that kind, or nullptr.
    template <class Kind>
    const Kind* find() const
    {
        for (const LayerDescription& kind : kinds) {
            for (const BlockDescription& block : kind.blocks) {
                if (const Kind* found = std::get_if<Kind>(&block)) {
                    return found;
                }
            }
        }
        return nullptr;
    }
    /// Returns the number of attention heads; 0: none.
    int heads() const
    {
        if (const auto* attention = find<AttentionBlock>()) {
            return attention->heads;
        }
        const auto* latent = find<LatentAttentionBlock>();
        return latent != nullptr ? latent->heads : 0;
    }
    /// Returns whether all attention blocks use fused kernels.
    bool fuses_attention() const
    {
        bool fuses = true;
        for_attention_kernels(*this, [&fuses](AttentionKernel kernel) {
            fuses = fuses && kernel == AttentionKernel::flash;
        });
        return fuses;
    }
    /// Returns whether some block has an attention kernel.
    bool has_attention() const
    {
        bool has = false;
        for_attention_kernels(*this, [&has](AttentionKernel) { has = true; });
        return has;
    }
    /// Sets the kernel of all attention blocks.
    void set_attention_kernel(AttentionKernel kernel)
    {
        for_attention_kernels(*this, [kernel](AttentionKernel& own) { own = kernel; });
    }
    /// Calls change(block) for each block of that kind.
    template <class Kind, class Change>
    void change(Change&& change)
    {
        for (LayerDescription& kind : kinds) {
            for (BlockDescription& block : kind.blocks) {
                if (Kind* own = std::get_if<Kind>(&block)) {
                    change(*own);
                }
            }
        }
    }
    bool trains() const { return prismopt::trains(task); }
    /// Whether dropout runs: in training only.
    bool drops() const { return dropout && trains(); }
    /// Keeps only the first `layers` layers.
    void cut(int layers)
    {
        int left = layers;
        for (LayerRun& run : sequence) {
            run.count = std::min(run.count, left);
            left -= run.count;
        }
        std::erase_if(sequence, [](const LayerRun& run) { return run.count == 0; });
    }
    /// Returns whether the network has experts or sharded tables, which expert parallelism divides.
    bool is_moe() const { return find<ExpertsBlock>() != nullptr || find<TablesBlock>() != nullptr; }
    /// Returns whether some block has a scan over its tokens.
    bool scans() const { return find<Mamba2Block>() != nullptr || find<GatedDeltaBlock>() != nullptr; }
    /// Returns whether `ep` divides the number of experts of every block.
    bool experts_divide(int ep) const
    {
        bool divide = true;
        for_blocks([&](const BlockDescription& block) {
            const auto* experts = std::get_if<ExpertsBlock>(&block);
            divide = divide && (experts == nullptr || experts->count % ep == 0);
        });
        return divide;
    }
    /// Returns whether tensor parallelism of this degree can divide all blocks.
    /// Captured networks cannot be divided.
    bool splits_by(int tp) const;
    /// Return the first block, with its layer, that a degree of parallelism does not divide.
    /// Captured networks have no blocks.
    std::optional<BlockObstacle> undivided(int tp) const;
    std::optional<BlockObstacle> unshared(const ParallelPlan& plan) const;
    std::optional<BlockObstacle> undivided_experts(int ep) const;
    std::optional<BlockObstacle> undivided_columns(int etp) const;

private:
    /// Calls visit(kernel) for each block with an attention kernel of this (const) workload.
    template <class Self, class Visit>
    static void for_attention_kernels(Self& self, Visit&& visit)
    {
        for (auto& kind : self.kinds) {
            for (auto& block : kind.blocks) {
                std::visit(
                    [&visit](auto& own) {
                        if constexpr (requires {
                                          requires std::same_as<std::remove_cvref_t<decltype(own.kernel)>,
                                                                AttentionKernel>;
                                      }) {
                            visit(own.kernel);
                        }
                    },
                    block);
            }
        }
    }
};

}  // namespace prismopt
