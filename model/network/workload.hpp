#pragma once

/// What is trained, as users describe it: kinds of layers made of blocks, in a sequence, between an embedding and a head.

#include "model/hardware/hardware.hpp"
#include "model/network/blocks.hpp"
#include "model/network/optimizer.hpp"
#include "model/plan/layout.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace prismopt {

struct Network;

/// What a job does with its network. Fine-tuning leaves frozen layers as they are, and inference runs forward passes only.
enum class WorkloadTask { training, inference };
template <>
inline constexpr auto names_of<WorkloadTask> = std::to_array<Named<WorkloadTask>>({{WorkloadTask::training, "training"},
                                                                                   {WorkloadTask::inference, "inference"}});

struct LayerDescription {
    std::string name;
    std::vector<BlockDescription> blocks;
    bool parallel = false;  // its blocks read the same input, and their results are added together (GPT-J)
    int hidden = 0;         // columns of its stream; 0: those of the network
    double tokens = 1.0;    // for each token of the phase's sequence: towers, levels of an image network
    bool frozen = false;    // not trained

    bool operator==(const LayerDescription&) const = default;
};

/// Layers of one kind that follow each other.
struct LayerRun {
    int kind = 0;  // of Workload::kinds
    int count = 1;

    bool operator==(const LayerRun&) const = default;
};

struct Workload {
    std::string name;
    int hidden = 0;
    int vocabulary = 0;  // 0: no embedding and no loss over it
    int positions = 0;   // rows of learned positions
    Normalisation normalisation = Normalisation::layer_norm;
    NormPlace norms = NormPlace::pre;
    bool tied_embedding = false;            // input and output embedding share their weights
    bool dropout = false;                   // dropout masks are saved (GPT-3 era runs); modern runs have none
    Precision precision = Precision::bf16;  // of the linear layers' products
    WorkloadTask task = WorkloadTask::training;
    bool frozen_ends = false;  // embedding and head are not trained
    int adapter_rank = 0;      // of low-rank adapters beside the products of frozen layers (LoRA, arXiv 2106.09685); 0: none
    OptimizerSettings optimizer;
    std::vector<LayerDescription> kinds;
    std::vector<LayerRun> sequence;
    std::vector<LayerRun> prediction;         // layers of a module of multi-token prediction
    int predictions = 0;                      // such modules that are trained, each with weights of its own
    std::vector<std::vector<Chunk>> layouts;  // of plans with split = given: at most one for each number of chunks

    std::shared_ptr<const Network> captured;  // of PyTorch code, in place of all that describes its layers
    int captured_tokens = 0;                  // of one sample; all phases have sequences of as many

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
    /// The first block of that kind, or nothing.
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
    /// Attention heads; 0: none.
    int heads() const
    {
        const auto* attention = find<AttentionBlock>();
        const auto* latent = find<LatentAttentionBlock>();
        return attention != nullptr ? attention->heads : latent != nullptr ? latent->heads : 0;
    }
    bool fuses_attention() const
    {
        bool fuses = true;
        for_blocks([&fuses](const BlockDescription& block) {
            std::visit(
                [&fuses](const auto& own) {
                    if constexpr (
                        requires { own.positions; } || requires { own.key_value_rank; }) {
                        fuses = fuses && own.kernel == AttentionKernel::flash;
                    }
                },
                block);
        });
        return fuses;
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
    /// Of its layers the first so many.
    void cut(int layers)
    {
        int left = layers;
        for (LayerRun& run : sequence) {
            run.count = std::min(run.count, left);
            left -= run.count;
        }
        std::erase_if(sequence, [](const LayerRun& run) { return run.count == 0; });
    }
    /// Whether expert parallelism has something to divide.
    bool mixture() const { return find<ExpertsBlock>() != nullptr || find<TablesBlock>() != nullptr; }
    /// Whether groups of so many hold whole experts, as many each.
    bool experts_divide(int ep) const
    {
        bool divide = true;
        for_blocks([&](const BlockDescription& block) {
            const auto* experts = std::get_if<ExpertsBlock>(&block);
            divide = divide && (experts == nullptr || experts->count % ep == 0);
        });
        return divide;
    }
    /// Whether so many tensor parallel GPUs can divide all of its blocks. How a captured network divides is not known.
    bool splits_by(int tp) const;
    /// What they cannot.
    std::string undivided_text(int tp) const;
    /// The block in which so many context parallel GPUs cannot share a sequence; empty: there is none.
    std::string unshared_text(int tp, int cp) const;
};

}  // namespace prismopt
