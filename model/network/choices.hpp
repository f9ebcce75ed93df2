#pragma once

/// What a description of a network chooses from.

#include "model/names.hpp"

#include <array>

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

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): ranks of the compressed query and key-value, and
/// sizes of a head's parts.
struct LatentAttention {
    int query_rank = 0;  // 0: plain multi-head or grouped-query attention
    int key_value_rank = 0;
    int rotary = 0;  // of the key part that carries the position, shared by all heads
    int plain = 0;   // of a head's key without position
    int value = 0;
};

}  // namespace prismopt
