#pragma once

/// Choices in the description of a network.

#include "model/base/names.hpp"
#include "model/hardware/kernel_class.hpp"

#include <array>

namespace prismopt {

/// Activation function. swiglu and geglu are gated: a second up-projection multiplies the
/// first (Shazeer, arXiv 2002.05202).
enum class Activation { gelu, swiglu, squared_relu, relu, silu, geglu };
template <>
inline constexpr auto names_of<Activation> = std::to_array<Named<Activation>>({{Activation::gelu, "gelu"},
                                                                               {Activation::swiglu, "swiglu"},
                                                                               {Activation::squared_relu,
                                                                                "squared_relu"},
                                                                               {Activation::relu, "relu"},
                                                                               {Activation::silu, "silu"},
                                                                               {Activation::geglu, "geglu"}});
constexpr bool gated(Activation activation)
{
    return activation == Activation::swiglu || activation == Activation::geglu;
}

/// Kind of norm. `plain_norm`: by mean and deviation, without weights.
enum class Normalisation { layer_norm, rms_norm, plain_norm };
template <>
inline constexpr auto names_of<Normalisation> =
    std::to_array<Named<Normalisation>>({{Normalisation::layer_norm, "layer_norm"},
                                         {Normalisation::rms_norm, "rms_norm"},
                                         {Normalisation::plain_norm, "plain_norm"}});

/// Place of a block's norms: on its input, on its output (OLMo 2, BERT), or on both (Gemma 2).
enum class NormPlace { pre, post, sandwich };
template <>
inline constexpr auto names_of<NormPlace> = std::to_array<Named<NormPlace>>(
    {{NormPlace::pre, "pre"}, {NormPlace::post, "post"}, {NormPlace::sandwich, "sandwich"}});

/// What routing weights multiply: the experts' results, which are then saved for the gradient of the weights,
/// or the activations before their last product (Megatron-Core's memory-efficient permutation;
/// NVIDIA/TransformerEngine, pull request 1468).
enum class RoutingWeights { results, activations };
template <>
inline constexpr auto names_of<RoutingWeights> = std::to_array<Named<RoutingWeights>>(
    {{RoutingWeights::results, "results"}, {RoutingWeights::activations, "activations"}});

/// Projections of attention that have biases: none; queries, keys and values; or the output as well.
enum class Biases { none, qkv, all };
template <>
inline constexpr auto names_of<Biases> =
    std::to_array<Named<Biases>>({{Biases::none, "none"}, {Biases::qkv, "qkv"}, {Biases::all, "all"}});

/// Norms of queries and keys: none, per head with weights shared by the heads (Qwen3), or
/// over all heads together (OLMo 2).
enum class QueryKeyNorm { none, head, whole };
template <>
inline constexpr auto names_of<QueryKeyNorm> = std::to_array<Named<QueryKeyNorm>>(
    {{QueryKeyNorm::none, "none"}, {QueryKeyNorm::head, "head"}, {QueryKeyNorm::whole, "whole"}});

/// Position encoding in attention: rotary, or none (positions are in the embedding, or nowhere).
enum class Positions { rotary, none };
template <>
inline constexpr auto names_of<Positions> = std::to_array<Named<Positions>>({{Positions::rotary, "rotary"},
                                                                             {Positions::none, "none"}});

}  // namespace prismopt
