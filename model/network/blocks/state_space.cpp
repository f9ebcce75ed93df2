#include "model/network/blocks/common_operators.hpp"

namespace prismopt {

namespace {

using Split = Linear::Split;

/// A norm of a scan's result, multiplied by a gate as wide; its weights in all.
Operator gated_norm(const Width& width, double weights)
{
    Elementwise result = norm_of(width, weights / width.whole());
    result.place = Place::columns;
    result.forward_bytes = two_to_one;
    result.backward_bytes = backward_traffic * two_to_one;
    result.modules |= {Module::gdn_norm_out};
    return result;
}

/// ... of all its columns, which no trainer recomputes alone.
Operator kept_norm(const Width& width)
{
    Elementwise result = std::get<Elementwise>(gated_norm(width, width.whole()));
    result.modules = {};
    return result;
}

}  // namespace

/// Projections to z, x, B, C and dt in one product, convolution of x, B and C, scan, gated norm, output
/// (state-spaces/mamba, modules/mamba2.py; divided as in Megatron-Core, ssm/mamba_mixer.py). Three weights a
/// head: A, D and the bias of dt.
Block operators_of(const Mamba2Block& b, const ResidualStream& stream)
{
    const Scan scan{.rule = Scan::Rule::state_space,
                    .heads = static_cast<double>(b.heads),
                    .size = static_cast<double>(b.head),
                    .groups = static_cast<double>(b.groups),
                    .state = static_cast<double>(b.state),
                    .chunk = static_cast<double>(b.chunk),
                    .weights = 3.0};
    const Width inner = scan.values();
    const Width mixed = inner + Width::heads(b.groups, 2.0 * b.state);
    return in_modules(branch(stream,
                             {Linear{.in = stream.hidden, .out = inner + mixed + Width::heads(b.heads, 1.0)},
                              Convolution{.in = mixed,
                                          .out = mixed,
                                          .taps = static_cast<double>(b.convolution),
                                          .by_depth = true,
                                          .bias = true},
                              scan, kept_norm(inner),
                              Linear{.in = inner, .out = stream.hidden, .split = Split::rows}}),
                      {Module::mamba});
}

/// Projections to queries, keys, values, gate, decay and step, convolution of the first three, scan, gated
/// norm of each head, output (fla-org/flash-linear-attention, layers/gated_deltanet.py). Two weights a
/// head: A and the bias of the decay.
Block operators_of(const GatedDeltaBlock& b, const ResidualStream& stream)
{
    const Scan scan{.rule = b.by_channel ? Scan::Rule::delta_by_channel : Scan::Rule::delta,
                    .heads = static_cast<double>(b.value_heads),
                    .size = static_cast<double>(b.value),
                    .groups = static_cast<double>(b.key_heads),
                    .state = static_cast<double>(b.key),
                    .chunk = static_cast<double>(b.chunk),
                    .weights = b.by_channel ? 1.0 + b.key : 2.0};
    const Width inner = scan.values();
    const Width mixed = inner + Width::heads(b.key_heads, 2.0 * b.key);
    const double h = stream.hidden;
    Block inside;
    if (b.by_channel) {
        // Decays and the gate come through narrow products (fla, layers/kda.py).
        const double narrow = b.value;
        inside = {Linear{.in = h, .out = mixed + Width::heads(b.value_heads, 1.0)},
                  Linear{.in = h, .out = narrow, .split = Split::none, .keeps_input = false},
                  Linear{.in = narrow, .out = Width::heads(b.value_heads, b.key)},
                  Linear{.in = h, .out = narrow, .split = Split::none, .keeps_input = false},
                  Linear{.in = narrow, .out = inner, .bias = true}};
    } else {
        inside = {Linear{.in = h, .out = inner + mixed + Width::heads(b.value_heads, 2.0)}};
    }
    const Block rest{
        Convolution{.in = mixed, .out = mixed, .taps = static_cast<double>(b.convolution), .by_depth = true},
        scan, gated_norm(inner, b.value), Linear{.in = inner, .out = h, .split = Split::rows}};
    inside.insert(inside.end(), rest.begin(), rest.end());
    return in_modules(branch(stream, inside), {Module::attn});
}

/// y = W_o (C * conv(B * x)), with B, C and x of one product.
Block operators_of(const GatedConvolutionBlock& b, const ResidualStream& stream)
{
    const Width h(stream.hidden);
    return branch(stream,
                  {Linear{.in = h, .out = h + h + h}, gate_of(h),
                   Convolution{.in = h, .out = h, .taps = static_cast<double>(b.taps), .by_depth = true},
                   gate_of(h), Linear{.in = h, .out = h, .split = Split::rows}});
}

}  // namespace prismopt
