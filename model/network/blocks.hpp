#pragma once

/// The blocks that layers are made of: short functions that return operators.

#include "model/network/operators.hpp"

#include <vector>

namespace prismopt {

using Block = std::vector<Operator>;

/// What the blocks of a network share.
struct Residual {
    double hidden = 0.0;
    Normalisation normalisation = Normalisation::layer_norm;
    bool dropout = false;  // masks are kept
    bool bias = false;
};

/// Norm, projections, attention, output projection, sum. `rotary`: positions turn queries and keys.
Block attention_block(const Residual& stream, const Attention& attention, bool rotary);
Block latent_attention_block(const Residual& stream, const LatentAttention& latent, const Attention& attention);
/// Norm, up projection (with its gate), activation, down projection, sum.
Block mlp_block(const Residual& stream, double inner, Activation activation);
/// Norm, router, routed experts between two exchanges of tokens (Lepikhin et al., arXiv 2006.16668, section 2.2; groups and order as in
/// Megatron-Core), shared experts (`shared`: their inner size together; 0: none), sum.
Block experts_block(const Residual& stream, const Routing& routing, double inner, double shared, Activation activation);

Block embedding_block(const Residual& stream, double vocabulary);
/// Final norm, logits, loss. `tied`: the embedding's table is the head's matrix.
Block head_block(const Residual& stream, double vocabulary, bool tied);

}  // namespace prismopt
