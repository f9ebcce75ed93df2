#include "model/network/blocks/parts.hpp"

namespace prismopt {

namespace {

using Split = Linear::Split;

Operator rotary(const Width& width)
{
    return Elementwise{.place = Place::columns, .width = width, .forward_bytes = one_pass, .backward_bytes = one_pass};
}

/// Fused kernels make scores again themselves, so that nothing is dropped.
ModuleSet scores_of(AttentionKernel kernel)
{
    return kernel == AttentionKernel::plain ? ModuleSet{Module::core_attn} : ModuleSet{};
}

/// Of the columns of a projection, with so many weights in all.
Operator norm_of_heads(const Width& columns, double weights)
{
    Elementwise result = norm_of(columns, weights / columns.whole());
    result.place = Place::columns;
    result.modules = {};  // its result is the attention's input, which stays
    return result;
}

}  // namespace

Block operators_of(const AttentionBlock& b, const ResidualStream& stream)
{
    const double h = stream.hidden;
    const double size = b.head > 0 ? b.head : h / b.heads;
    const bool crosses = b.context > 0;
    const Attention attention{.heads = static_cast<double>(b.heads),
                              .key_heads = static_cast<double>(b.key_heads()),
                              .key_size = size,
                              .value_size = size,
                              .causal = b.causal && !crosses,
                              .kernel = b.kernel,
                              .window = static_cast<double>(b.window),
                              .chunk = static_cast<double>(b.chunk),
                              .others = static_cast<double>(b.context),
                              .sinks = b.sinks,
                              .modules = scores_of(b.kernel)};
    const Width query = b.gate ? attention.query() + attention.query() : attention.query();
    const Width turned = attention.query() + attention.key();
    const bool bias = b.bias != Biases::none;
    Block inside;
    if (crosses) {
        inside.push_back(Linear{.in = h, .out = query, .bias = bias});
        inside.push_back(Linear{.in = b.context_width > 0 ? b.context_width : h,
                                .out = attention.key() + attention.value(),
                                .bias = bias,
                                .rows_each = static_cast<double>(b.context)});
    } else {
        inside.push_back(Linear{.in = h, .out = query + attention.key() + attention.value(), .bias = bias});
    }
    if (b.query_key_norm != QueryKeyNorm::none) {
        inside.push_back(norm_of_heads(turned, b.query_key_norm == QueryKeyNorm::head ? 2.0 * size : turned.whole()));
    }
    if (b.positions == Positions::rotary && !crosses) {
        inside.push_back(rotary(turned));
    }
    inside.push_back(attention);
    if (b.gate) {
        inside.push_back(gate_of(attention.output()));
    }
    inside.push_back(Linear{.in = attention.output(), .out = h, .split = Split::rows, .bias = b.bias == Biases::all});
    return in_modules(branch(stream, inside), {Module::attn});
}

/// The first step of each projection is whole on a share of the tokens, and what it makes is gathered; the position's part of
/// keys, which all heads share, has no norm.
Block operators_of(const LatentAttentionBlock& b, const ResidualStream& stream)
{
    const double h = stream.hidden;
    const double heads = b.heads;
    const double key = b.plain + b.rotary;
    const Attention attention{.heads = heads,
                              .key_heads = heads,
                              .key_size = key,
                              .value_size = static_cast<double>(b.value),
                              .causal = b.causal,
                              .kernel = b.kernel,
                              .modules = scores_of(b.kernel)};
    const auto up = [](const Block& block) { return in_modules(block, {Module::mla_up_proj}); };
    const auto append = [](const Block& from, Block& to) { to.insert(to.end(), from.begin(), from.end()); };
    Block inside;
    if (b.query_rank > 0) {
        inside = {Linear{.in = h, .out = b.query_rank, .split = Split::none}};
        append(up({norm_of(b.query_rank, 1.0), Linear{.in = b.query_rank, .out = attention.query()}}), inside);
    } else {
        inside = {Linear{.in = h, .out = attention.query()}};
    }
    inside.push_back(Linear{.in = h, .out = b.key_value_rank + b.rotary, .split = Split::none, .keeps_input = false});
    append(up({norm_of(b.key_value_rank, 1.0), Linear{.in = b.key_value_rank, .out = Width::heads(heads, b.plain + b.value)},
               rotary(attention.query() + attention.key())}),
           inside);
    append({attention, Linear{.in = attention.output(), .out = h, .split = Split::rows}}, inside);
    return in_modules(branch(stream, inside), {Module::attn});
}

}  // namespace prismopt
