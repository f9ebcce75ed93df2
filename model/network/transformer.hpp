#pragma once

/// Decoders whose layers are alike but for their experts, in the keys that the literature has for them.

#include "model/network/workload.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

/// Mixture of experts in place of the MLP. Symbols: E experts, k of them for each token.
struct Experts {
    int count = 0;           // E, routed; 0: the network is dense
    int active = 0;          // k
    int feed_forward = 0;    // inner size of one expert
    int shared = 0;          // inner size of the experts that see every token, together
    int dense_layers = 0;    // first layers, which keep the dense MLP
    int every = 1;           // of the layers behind them: the last of so many has experts, the others the dense MLP
    double imbalance = 1.0;  // tokens of the fullest expert group over the mean
    double capacity = 0.0;   // most tokens of an expert over the mean, the rest is dropped; 0: none is
};

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): ranks of the compressed query and key-value, and
/// sizes of a head's parts.
struct LatentAttention {
    int query_rank = 0;      // 0: queries are not compressed
    int key_value_rank = 0;  // 0: plain multi-head or grouped-query attention
    int rotary = 0;          // of the key part that carries the position, shared by all heads
    int plain = 0;           // of a head's key without position
    int value = 0;
};

/// Symbols of the literature: L layers, h hidden, a heads, g kv_heads, f feed_forward, V vocabulary.
struct Transformer {
    std::string name;
    int layers = 0;
    int hidden = 0;
    int heads = 0;
    int kv_heads = 0;      // equal to heads: multi-head attention; fewer: grouped-query attention
    int feed_forward = 0;  // inner size of one MLP matrix
    int vocabulary = 0;
    Activation activation = Activation::gelu;
    Normalisation normalisation = Normalisation::layer_norm;
    AttentionKernel attention = AttentionKernel::flash;
    bool causal = true;                     // flash kernels skip the masked half of the scores; plain ones compute it
    bool tied_embedding = false;            // input and output embedding share their weights
    bool dropout = false;                   // dropout masks are saved (GPT-3 era runs); modern runs have none
    Precision precision = Precision::bf16;  // of the linear layers' products
    int head = 0;                           // size of a head; 0: hidden / heads
    Experts experts;
    LatentAttention latent;

    bool mixture() const { return experts.count > 0; }
    int head_size() const { return head > 0 ? head : hidden / heads; }
    bool has_experts(int layer) const
    {
        return mixture() && layer >= experts.dense_layers && (layer - experts.dense_layers + 1) % experts.every == 0;
    }
};

/// The blocks of a decoder whose layers are an attention and an MLP or experts each; none where there are none.
struct Decoder {
    const AttentionBlock* attention = nullptr;
    const LatentAttentionBlock* latent = nullptr;
    const MlpBlock* mlp = nullptr;
    const ExpertsBlock* experts = nullptr;
    std::vector<bool> has_experts;  // [layer]
    bool alike = true;              // attention is the same in all layers

    Activation activation() const { return mlp != nullptr ? mlp->activation : experts->activation; }
    AttentionKernel kernel() const { return latent != nullptr ? latent->kernel : attention->kernel; }
    /// First layers without experts, and of the others the period of those with.
    std::pair<int, int> pattern() const;
};
/// Points into the workload; nothing where some layer is something else.
std::optional<Decoder> decoder_of(const Workload& workload);

/// Copies the keys that both descriptions of a network have.
template <class From, class To>
void copy_common_keys(const From& from, To& to)
{
    to.name = from.name;
    to.hidden = from.hidden;
    to.vocabulary = from.vocabulary;
    to.normalisation = from.normalisation;
    to.tied_embedding = from.tied_embedding;
    to.dropout = from.dropout;
    to.precision = from.precision;
}

/// The same network by blocks. GELU networks of the GPT family carry biases and do not turn queries and keys, the others the reverse.
Workload workload_of(const Transformer& transformer);
/// ... of a workload whose layers those keys describe, or nothing. Modules of multi-token prediction are left out.
std::optional<Transformer> transformer_of(const Workload& workload);

}  // namespace prismopt
