#include "model/network/blocks/common_operators.hpp"

#include <utility>

namespace prismopt {

namespace {

constexpr double dropout_mask_traffic = 1.0;  // one byte a mask element

Operator sum(const ResidualStream& stream)
{
    const double traffic = two_to_one + (stream.dropout ? dropout_mask_traffic : 0.0);
    return Elementwise{.width = stream.hidden,
                       .forward_bytes = traffic,
                       .backward_bytes = traffic,
                       .keeps_bytes = stream.dropout ? 1.0 : 0.0,
                       .fuses = true};
}

/// Fused with the sum before or behind it.
Operator norm(const ResidualStream& stream)
{
    Elementwise result = norm_of(stream.hidden, weights_of(stream.normalisation));
    result.fuses = true;
    result.modules |= {Module::layernorm};
    return result;
}

}  // namespace

Width columns_of(double inner, Activation activation)
{
    return gated(activation) ? Width(inner) + Width(inner) : Width(inner);
}

double weights_of(Normalisation normalisation)
{
    switch (normalisation) {
        case Normalisation::layer_norm: return 2.0;
        case Normalisation::rms_norm: return 1.0;
        case Normalisation::plain_norm: break;
    }
    return 0.0;
}

Elementwise norm_of(const Width& columns, double weights)
{
    return {.width = columns,
            .forward_bytes = one_pass,
            .backward_bytes = backward_traffic * one_pass,
            .keeps = 1.0,
            .weights = weights,
            .modules = {Module::elementwise}};
}

Operator activation_of(double inner, Activation activation, Place place, const Routing& routing)
{
    const double traffic = gated(activation) ? two_to_one : one_pass;
    return Elementwise{.place = place,
                       .width = inner,
                       .forward_bytes = traffic,
                       .backward_bytes = backward_traffic * traffic,
                       .keeps = gated(activation) ? 2.0 : 1.0,
                       .keeps_low = true,
                       .routing = routing,
                       .modules = {Module::elementwise}};
}

Operator gate_of(const Width& width)
{
    return Elementwise{.place = Place::columns,
                       .width = width,
                       .forward_bytes = two_to_one,
                       .backward_bytes = backward_traffic * two_to_one,
                       .keeps = 2.0,
                       .modules = {Module::elementwise}};
}

void add_mlp(double hidden, double inner, Activation activation, bool bias, bool keeps_input, Block& block)
{
    block.push_back(
        Linear{.in = hidden, .out = columns_of(inner, activation), .bias = bias, .keeps_input = keeps_input});
    block.push_back(activation_of(inner, activation));
    block.push_back(Linear{.in = inner, .out = hidden, .split = Linear::Split::rows, .bias = bias});
}

Block in_modules(Block block, const ModuleSet& modules)
{
    for (Operator& op : block) {
        std::visit(
            [&modules](auto& own) {
                if constexpr (requires { own.modules; }) {
                    own.modules |= modules;
                }
            },
            op);
    }
    return block;
}

Block branch(const ResidualStream& stream, Block inside)
{
    Block block;
    if (stream.norms != NormPlace::post) {
        block.push_back(norm(stream));
    }
    block.insert(block.end(), inside.begin(), inside.end());
    if (stream.norms != NormPlace::pre) {
        block.push_back(norm(stream));
    }
    block.push_back(sum(stream));
    return block;
}

}  // namespace prismopt
