#include "model/network/blocks.hpp"

namespace prismopt {

namespace {

using Split = Linear::Split;

// Bytes of memory traffic of an elementwise kernel by 16-bit number; from its reads and writes.
constexpr double norm_traffic = 4.0;          // read, write
constexpr double residual_add_traffic = 6.0;  // two reads, one write
constexpr double dropout_mask_traffic = 1.0;  // one byte a mask element
constexpr double rotary_traffic = 4.0;        // read, write
constexpr double gelu_traffic = 4.0;          // read, write
constexpr double gated_traffic = 6.0;         // two reads, one write, by number of the product
constexpr double backward_traffic = 2.0;      // a backward elementwise kernel reads the saved input as well
constexpr double permute_traffic = 2.0;       // one read or one write of a token on its way to an expert
constexpr double routing_kernels = 30.0;      // top-k, counts, offsets, sorting, permutation; assumption
// A tensor parallel member holds a multiple of this of the vocabulary (Megatron-LM, --make-vocab-size-divisible-by).
constexpr double vocabulary_step = 128.0;

bool gated(Activation activation) { return activation == Activation::swiglu; }
Width columns_of(double inner, Activation activation) { return gated(activation) ? Width(inner) + Width(inner) : Width(inner); }

Operator sum(const Residual& stream)
{
    const double traffic = residual_add_traffic + (stream.dropout ? dropout_mask_traffic : 0.0);
    return Elementwise{.width = stream.hidden,
                       .forward_bytes = traffic,
                       .backward_bytes = traffic,
                       .keeps_bytes = stream.dropout ? 1.0 : 0.0,
                       .fuses = true};
}

Operator rotary(const Width& width)
{
    return Elementwise{
        .place = Place::columns, .width = width, .forward_bytes = rotary_traffic, .backward_bytes = rotary_traffic};
}

Operator activation_of(double inner, Activation activation, Place place = Place::columns, const Routing& routing = {})
{
    const double traffic = gated(activation) ? gated_traffic : gelu_traffic;
    return Elementwise{.place = place,
                       .width = inner,
                       .forward_bytes = traffic,
                       .backward_bytes = backward_traffic * traffic,
                       .keeps = gated(activation) ? 2.0 : 1.0,
                       .cheap = true,
                       .routing = routing};
}

Elementwise norm_of(double columns, double weights)
{
    return {.width = columns,
            .forward_bytes = norm_traffic,
            .backward_bytes = backward_traffic * norm_traffic,
            .keeps = 1.0,
            .weights = weights,
            .cheap = true};
}

/// Of a compressed query, key or value, on a share of the tokens.
Operator latent_norm(double rank) { return norm_of(rank, 1.0); }

/// Before a block, fused with the sum that ends the block before it.
Operator norm(const Residual& stream)
{
    Elementwise result = norm_of(stream.hidden, stream.normalisation == Normalisation::layer_norm ? 2.0 : 1.0);
    result.fuses = true;
    return result;
}

void add_mlp(const Residual& stream, double inner, Activation activation, bool keeps_input, Block& block)
{
    block.push_back(
        Linear{.in = stream.hidden, .out = columns_of(inner, activation), .bias = stream.bias, .keeps_input = keeps_input});
    block.push_back(activation_of(inner, activation));
    block.push_back(Linear{.in = inner, .out = stream.hidden, .split = Split::rows, .bias = stream.bias});
}

}  // namespace

Block attention_block(const Residual& stream, const Attention& attention, bool with_rotary)
{
    Block block{norm(stream),
                Linear{.in = stream.hidden, .out = attention.query() + attention.key() + attention.value(), .bias = stream.bias}};
    if (with_rotary) {
        block.push_back(rotary(attention.query() + attention.key()));
    }
    block.push_back(attention);
    block.push_back(Linear{.in = attention.output(), .out = stream.hidden, .split = Split::rows, .bias = stream.bias});
    block.push_back(sum(stream));
    return block;
}

Block latent_attention_block(const Residual& stream, const LatentAttention& latent, const Attention& attention)
{
    // The first step of each projection is whole on a share of the tokens, and what it makes is gathered; the position's part of keys,
    // which all heads share, has no norm.
    const double heads = attention.heads;
    return {norm(stream),
            Linear{.in = stream.hidden, .out = latent.query_rank, .split = Split::none},
            latent_norm(latent.query_rank),
            Linear{.in = latent.query_rank, .out = attention.query()},
            Linear{.in = stream.hidden, .out = latent.key_value_rank + latent.rotary, .split = Split::none, .keeps_input = false},
            latent_norm(latent.key_value_rank),
            Linear{.in = latent.key_value_rank, .out = Width::heads(heads, latent.plain + latent.value)},
            rotary(attention.query() + attention.key()),
            attention,
            Linear{.in = attention.output(), .out = stream.hidden, .split = Split::rows},
            sum(stream)};
}

Block mlp_block(const Residual& stream, double inner, Activation activation)
{
    Block block{norm(stream)};
    add_mlp(stream, inner, activation, true, block);
    block.push_back(sum(stream));
    return block;
}

Block experts_block(const Residual& stream, const Routing& routing, double inner, double shared, Activation activation)
{
    const double h = stream.hidden;
    // A token is read once and each of its copies written and read on the way there, and so on the way back.
    const double permuted = permute_traffic * (1.0 + 2.0 * routing.active);
    const TokenExchange between{.group = TokenExchange::Group::experts, .width = h, .routing = routing};
    const TokenExchange gathered{.group = TokenExchange::Group::expert_tensor, .width = h, .routing = routing};
    Block block{norm(stream), Linear{.in = h, .out = routing.experts, .split = Split::none, .tokens = Place::own},
                Elementwise{.place = Place::own,
                            .width = h,
                            .forward_bytes = permuted,
                            .backward_bytes = permuted,
                            .roof = Roof::routing,
                            .launches = routing_kernels},
                between, gathered,
                GroupedLinear{.in = h, .out = columns_of(inner, activation), .routing = routing, .bias = stream.bias},
                activation_of(inner, activation, Place::routed, routing),
                GroupedLinear{.in = inner, .out = h, .split = Split::rows, .routing = routing, .bias = stream.bias}, gathered,
                between,
                // The experts' results are kept for the gradient of their weights.
                Elementwise{.place = Place::own,
                            .width = h,
                            .forward_bytes = permuted,
                            .backward_bytes = permuted,
                            .keeps = routing.active * routing.kept(),
                            .roof = Roof::routing}};
    if (shared > 0.0) {
        add_mlp(stream, shared, activation, false, block);
    }
    block.push_back(sum(stream));
    return block;
}

Block embedding_block(const Residual& stream, double vocabulary)
{
    return {Lookup{.rows = vocabulary, .columns = stream.hidden, .keeps_bytes = stream.dropout ? 1.0 : 0.0}};
}

Block head_block(const Residual& stream, double vocabulary, bool tied)
{
    const Width columns = Width::padded(vocabulary, vocabulary_step);
    return {norm(stream), Linear{.in = stream.hidden, .out = columns, .wide = true, .tied = tied}, Loss{.vocabulary = columns}};
}

}  // namespace prismopt
