#pragma once

/// What a description of a network chooses from.

#include "model/base/names.hpp"

#include <array>

namespace prismopt {

/// swiglu and geglu have a gate: a second up projection, by which the first is multiplied (Shazeer, arXiv 2002.05202).
enum class Activation { gelu, swiglu, squared_relu, relu, silu, geglu };
template <>
inline constexpr auto names_of<Activation> = std::to_array<Named<Activation>>({{Activation::gelu, "gelu"},
                                                                               {Activation::swiglu, "swiglu"},
                                                                               {Activation::squared_relu, "squared_relu"},
                                                                               {Activation::relu, "relu"},
                                                                               {Activation::silu, "silu"},
                                                                               {Activation::geglu, "geglu"}});
constexpr bool gated(Activation activation) { return activation == Activation::swiglu || activation == Activation::geglu; }

/// `plain_norm`: of mean and deviation, without weights of its own.
enum class Normalisation { layer_norm, rms_norm, plain_norm };
template <>
inline constexpr auto names_of<Normalisation> = std::to_array<Named<Normalisation>>({{Normalisation::layer_norm, "layer_norm"},
                                                                                     {Normalisation::rms_norm, "rms_norm"},
                                                                                     {Normalisation::plain_norm, "plain_norm"}});

/// Where a block normalises: what it reads, what it adds to the stream (OLMo 2, BERT), or both (Gemma 2).
enum class NormPlace { pre, post, sandwich };
template <>
inline constexpr auto names_of<NormPlace> =
    std::to_array<Named<NormPlace>>({{NormPlace::pre, "pre"}, {NormPlace::post, "post"}, {NormPlace::sandwich, "sandwich"}});

/// `plain` writes the s^2 score matrix to memory (Korthikanti et al. 2022); `flash` never does (Dao et al. 2022).
enum class AttentionKernel { plain, flash };
template <>
inline constexpr auto names_of<AttentionKernel> = std::to_array<Named<AttentionKernel>>({{AttentionKernel::plain, "plain"},
                                                                                         {AttentionKernel::flash, "flash"}});

/// Of attention's products: none, those of queries, keys and values, or the output's as well.
enum class Biases { none, qkv, all };
template <>
inline constexpr auto names_of<Biases> =
    std::to_array<Named<Biases>>({{Biases::none, "none"}, {Biases::qkv, "qkv"}, {Biases::all, "all"}});

/// Norms of queries and keys: none, of each head with weights that heads share (Qwen3), or of all heads together (OLMo 2).
enum class QueryKeyNorm { none, head, whole };
template <>
inline constexpr auto names_of<QueryKeyNorm> = std::to_array<Named<QueryKeyNorm>>({{QueryKeyNorm::none, "none"},
                                                                                   {QueryKeyNorm::head, "head"},
                                                                                   {QueryKeyNorm::whole, "whole"}});

/// How attention knows positions: it turns queries and keys, or it does not (positions are in the embedding, or nowhere).
enum class Positions { rotary, none };
template <>
inline constexpr auto names_of<Positions> = std::to_array<Named<Positions>>({{Positions::rotary, "rotary"},
                                                                             {Positions::none, "none"}});

}  // namespace prismopt
