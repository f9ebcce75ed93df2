#pragma once

/// What is trained: a decoder-only transformer, dense or with mixtures of experts.

#include "model/hardware/hardware.hpp"
#include "model/names.hpp"

#include <array>
#include <string>
#include <vector>

namespace prismopt {

enum class Activation { gelu, swiglu, squared_relu };
template <>
inline constexpr auto names_of<Activation> = std::to_array<Named<Activation>>({{Activation::gelu, "gelu"},
                                                                               {Activation::swiglu, "swiglu"},
                                                                               {Activation::squared_relu, "squared_relu"}});

enum class Normalisation { layer_norm, rms_norm };
template <>
inline constexpr auto names_of<Normalisation> = std::to_array<Named<Normalisation>>({{Normalisation::layer_norm, "layer_norm"},
                                                                                     {Normalisation::rms_norm, "rms_norm"}});

/// `plain` writes the s^2 score matrix to memory (Korthikanti et al. 2022); `flash` never does (Dao et al. 2022).
enum class AttentionKernel { plain, flash };
template <>
inline constexpr auto names_of<AttentionKernel> = std::to_array<Named<AttentionKernel>>({{AttentionKernel::plain, "plain"},
                                                                                         {AttentionKernel::flash, "flash"}});

/// Mixture of experts in place of the MLP. Symbols: E experts, k of them for each token.
struct Experts {
    int count = 0;           // E, routed; 0: the network is dense
    int active = 0;          // k
    int feed_forward = 0;    // inner size of one expert
    int shared = 0;          // inner size of the experts that see every token, together
    int dense_layers = 0;    // layers that keep the dense MLP
    double imbalance = 1.0;  // tokens of the fullest expert group over the mean
    double capacity = 0.0;   // most tokens of an expert over the mean, the rest is dropped; 0: none is
};

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): ranks of the compressed query and key-value, and
/// sizes of a head's parts.
struct LatentAttention {
    int query_rank = 0;  // 0: plain multi-head or grouped-query attention
    int key_value_rank = 0;
    int rotary = 0;  // of the key part that carries the position, shared by all heads
    int plain = 0;   // of a head's key without position
    int value = 0;
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

    bool mixture() const { return experts.count > 0; }
    /// Whether so many tensor parallel GPUs hold whole attention heads, and key and value heads whole or as whole copies.
    bool heads_divide(int tp) const { return heads % tp == 0 && (kv_heads % tp == 0 || tp % kv_heads == 0); }
    int head_size() const { return head > 0 ? head : hidden / heads; }
    bool gated() const { return activation == Activation::swiglu; }
    /// Layers whose MLP is a mixture.
    int expert_layers() const { return mixture() ? layers - experts.dense_layers : 0; }
    /// Parameters of attention and normalisation of one layer; of one dense MLP, of one routed expert, of router and shared experts.
    double attention_parameters() const;
    double mlp_parameters(double inner) const;
    double shared_parameters() const;

    /// Trainable parameters, in numbers (embedding once if tied).
    double parameters() const;
    /// Parameters of one transformer layer with a dense MLP.
    double layer_parameters() const;
};

/// Floating-point operations that the model needs for one sequence, forward and backward, without recompute.
double model_flops_per_sequence(const Workload& workload, int sequence);

}  // namespace prismopt
