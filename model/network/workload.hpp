#pragma once

/// What is trained: a decoder-only transformer, dense or with mixtures of experts.

#include "model/hardware/hardware.hpp"
#include "model/network/choices.hpp"
#include "model/network/layout.hpp"

#include <string>
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

/// Shape of the network. Symbols of the literature: L layers, h hidden, a heads, g kv_heads, f feed_forward, V vocabulary.
struct Workload {
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
    std::vector<std::vector<Chunk>> layouts;  // of plans with split = given: at most one for each number of chunks

    bool mixture() const { return experts.count > 0; }
    /// Whether so many tensor parallel GPUs hold whole attention heads, and key and value heads whole or as whole copies.
    bool heads_divide(int tp) const { return heads % tp == 0 && (kv_heads % tp == 0 || tp % kv_heads == 0); }
    int head_size() const { return head > 0 ? head : hidden / heads; }
    /// GELU networks of the GPT family carry biases and have learned positions, the others neither.
    bool biases() const { return activation == Activation::gelu; }
    bool learned_positions() const { return activation == Activation::gelu; }
    bool has_experts(int layer) const
    {
        return mixture() && layer >= experts.dense_layers && (layer - experts.dense_layers + 1) % experts.every == 0;
    }
};

}  // namespace prismopt
