#include "model/network/blocks/common_operators.hpp"

namespace prismopt {

namespace {

using Split = Linear::Split;

Operator rotary(const Width& width)
{
    return Elementwise{
        .place = Place::columns, .width = width, .forward_bytes = one_pass, .backward_bytes = one_pass};
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

void append(const Block& from, Block& to) { to.insert(to.end(), from.begin(), from.end()); }

/// The indexer of top-k sparse attention (DeepSeek-V3.2, arXiv 2512.02556, section 2.1): small heads, which
/// share one key, score all keys. Queries come from `from` columns. The choice itself is not counted.
Block indexer_of(double from, double hidden, double heads, double size, bool causal)
{
    const Attention scores{
        .heads = heads, .key_heads = 1.0, .key_size = size, .value_size = 0.0, .causal = causal};
    return {Linear{.in = from, .out = scores.query(), .split = Split::none, .keeps_input = false},
            Linear{.in = hidden, .out = size, .split = Split::none, .keeps_input = false}, norm_of(size, 2.0),
            rotary(scores.query() + scores.key()), scores};
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
                              .value_size = b.value > 0 ? b.value : size,
                              .causal = b.causal && !crosses,
                              .kernel = b.kernel,
                              .window = static_cast<double>(b.window),
                              .chunk = static_cast<double>(b.chunk),
                              .chosen = static_cast<double>(b.index_keys),
                              .others = static_cast<double>(b.context),
                              .sinks = b.sinks,
                              .modules = scores_of(b.kernel)};
    const Width query = b.gate ? attention.query() + attention.output() : attention.query();
    const Width keys = b.keys_as_values ? attention.key() : attention.key() + attention.value();
    const Width turned = attention.query() + attention.key();
    const bool bias = b.bias != Biases::none;
    Block inside;
    if (crosses) {
        inside.push_back(Linear{.in = h, .out = query, .bias = bias});
        inside.push_back(Linear{.in = b.context_width > 0 ? b.context_width : h,
                                .out = keys,
                                .bias = bias,
                                .rows_each = static_cast<double>(b.context)});
    } else if (b.query_rank > 0) {
        inside = {Linear{.in = h, .out = b.query_rank, .split = Split::none}, norm_of(b.query_rank, 1.0),
                  Linear{.in = b.query_rank, .out = query, .bias = bias},
                  Linear{.in = h, .out = keys, .bias = bias, .keeps_input = false}};
    } else {
        inside.push_back(Linear{.in = h, .out = query + keys, .bias = bias});
    }
    if (b.index_heads > 0) {
        append(indexer_of(h, h, b.index_heads, b.index_head, b.causal), inside);
    }
    if (b.query_key_norm != QueryKeyNorm::none) {
        inside.push_back(
            norm_of_heads(turned, b.query_key_norm == QueryKeyNorm::head ? 2.0 * size : turned.whole()));
    }
    if (b.positions == Positions::rotary && !crosses) {
        inside.push_back(rotary(turned));
    }
    inside.push_back(attention);
    if (b.gate) {
        inside.push_back(gate_of(attention.output()));
    }
    inside.push_back(
        Linear{.in = attention.output(), .out = h, .split = Split::rows, .bias = b.bias == Biases::all});
    return in_modules(branch(stream, inside), {Module::attn});
}

/// The first step of each projection is whole on a share of the tokens, and what it makes is gathered; the
/// position's part of keys, which all heads share, has no norm.
Block operators_of(const LatentAttentionBlock& b, const ResidualStream& stream)
{
    const double h = stream.hidden;
    const double heads = b.heads;
    const double key = b.plain + b.rotary;
    // queries meet latent vectors directly: chosen keys differ from query to query
    const bool sparse = b.index_keys > 0;
    const Attention attention{.heads = heads,
                              .key_heads = sparse ? 1.0 : heads,
                              .key_size = sparse ? static_cast<double>(b.key_value_rank + b.rotary) : key,
                              .value_size = static_cast<double>(sparse ? b.key_value_rank : b.value),
                              .causal = b.causal,
                              .kernel = b.kernel,
                              .chosen = static_cast<double>(b.index_keys),
                              .modules = scores_of(b.kernel)};
    const Width query = Width::heads(heads, key);
    const auto up = [](const Block& block) { return in_modules(block, {Module::mla_up_proj}); };
    Block inside;
    if (b.query_rank > 0) {
        inside = {Linear{.in = h, .out = b.query_rank, .split = Split::none}};
        append(up({norm_of(b.query_rank, 1.0), Linear{.in = b.query_rank, .out = query}}), inside);
    } else {
        inside = {Linear{.in = h, .out = query}};
    }
    if (b.index_heads > 0) {
        append(indexer_of(b.query_rank > 0 ? b.query_rank : h, h, b.index_heads, b.index_head, b.causal),
               inside);
        inside.push_back(Linear{.in = h,
                                .out = b.index_heads,
                                .split = Split::none,
                                .keeps_input = false});  // weights of its heads
    }
    inside.push_back(
        Linear{.in = h, .out = b.key_value_rank + b.rotary, .split = Split::none, .keeps_input = false});
    append(up({norm_of(b.key_value_rank, 1.0),
               Linear{.in = b.key_value_rank, .out = Width::heads(heads, b.plain + b.value)},
               rotary(query + query)}),
           inside);
    append({attention, Linear{.in = Width::heads(heads, b.value), .out = h, .split = Split::rows}}, inside);
    return in_modules(branch(stream, inside), {Module::attn});
}

}  // namespace prismopt
