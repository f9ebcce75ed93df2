#pragma once

/// Decoders whose layers are equal except for their experts, described by the keys used in the literature.

#include "model/network/workload.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

/// Mixture of experts instead of the MLP. Symbols: E experts, k experts per token.
struct Experts {
    int count = 0;         // E, routed; 0: the network is dense
    int active = 0;        // k
    int feed_forward = 0;  // intermediate size of one expert
    int shared = 0;        // intermediate size of all shared experts together
    int dense_layers = 0;  // number of first layers, which have the dense MLP
    int every = 1;         // after those, the last layer of each period has experts, the others the dense MLP
    double imbalance = 1.0;  // tokens of the most loaded expert group over the mean
    double capacity = 0.0;   // limit of tokens per expert over the mean, the rest is dropped; 0: no limit
    int node_limit = 0;      // most nodes to which a token is sent; 0: no limit
    RoutingWeights weights = RoutingWeights::results;
};

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): ranks of the compressed query
/// and key-value, and sizes of a head's parts.
struct LatentAttention {
    int query_rank = 0;      // 0: queries are not compressed
    int key_value_rank = 0;  // 0: plain multi-head or grouped-query attention
    int rotary = 0;          // rotary part of the keys, shared by all heads
    int plain = 0;           // part of a head's key without position
    int value = 0;
};

/// A decoder. Symbols of the literature: L layers, h hidden, a heads, g
/// kv_heads, f feed_forward, V vocabulary.
struct Transformer {
    std::string name;
    int layers = 0;
    int hidden = 0;
    int heads = 0;
    int kv_heads = 0;      // equal to heads: multi-head attention; fewer: grouped-query attention
    int feed_forward = 0;  // intermediate size of the MLP
    int vocabulary = 0;
    Activation activation = Activation::gelu;
    Normalisation normalisation = Normalisation::layer_norm;
    AttentionKernel attention = AttentionKernel::flash;
    bool causal = true;           // flash kernels skip the masked half of the scores; plain ones compute it
    bool tied_embedding = false;  // input and output embedding share their weights
    bool dropout = false;         // dropout masks are saved (GPT-3 era runs); modern runs have none
    Precision precision = Precision::bf16;  // of the linear layers' products
    int head = 0;                           // head dimension; 0: hidden / heads
    Experts experts;
    LatentAttention latent;

    bool is_moe() const { return experts.count > 0; }
    bool has_experts(int layer) const
    {
        return is_moe() && layer >= experts.dense_layers &&
               (layer - experts.dense_layers + 1) % experts.every == 0;
    }
};

/// Blocks of a decoder whose layers are attention followed by an MLP or experts;
/// nullptr if there is no such block. The blocks belong to the workload, which must outlive it and not
/// change.
struct Decoder {
    const AttentionBlock* attention = nullptr;
    const LatentAttentionBlock* latent = nullptr;
    const MlpBlock* mlp = nullptr;
    const ExpertsBlock* experts = nullptr;
    std::vector<bool> has_experts;  // [layer]
    bool equal_layers = true;       // attention is equal in all layers

    Activation activation() const { return mlp != nullptr ? mlp->activation : experts->activation; }
    AttentionKernel kernel() const { return latent != nullptr ? latent->kernel : attention->kernel; }
    /// Returns the number of first layers without experts, and the period of those with experts after them.
    std::pair<int, int> pattern() const;
};
/// Returns the blocks of a decoder, pointing into the workload; nothing if some layer has another structure.
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

/// Returns the same network described by blocks. GELU networks of the GPT family have biases and no rotary
/// positions; the others have rotary positions and no biases.
Workload workload_of(const Transformer& transformer);
/// Returns the decoder with these keys, or nothing if they cannot describe the workload. Ignores
/// multi-token prediction modules.
std::optional<Transformer> transformer_of(const Workload& workload);

}  // namespace prismopt
