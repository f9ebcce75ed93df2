#include "model/network/blocks/common_operators.hpp"

#include <cmath>

namespace prismopt {

namespace {

double or_hidden(int columns, const ResidualStream& stream) { return columns > 0 ? columns : stream.hidden; }

}  // namespace

Block operators_of(const LinearBlock& b, const ResidualStream& stream)
{
    const double to = or_hidden(b.to, stream);
    Block block{Linear{.in = or_hidden(b.from, stream),
                       .out = to,
                       .split = Linear::Split::none,
                       .bias = b.bias,
                       .rows_each = static_cast<double>(b.rows)}};
    if (b.activated && b.rows == 0) {
        block.push_back(activation_of(to, b.activation, Place::sequence));
    }
    return block;
}

/// The vectors are made once for each sample; by token they scale and shift two norms and gate two sums.
Block operators_of(const ModulationBlock& b, const ResidualStream& stream)
{
    const double h = stream.hidden;
    const double pairs = b.vectors / 3.0;  // of a scale with a shift, and a gate
    return {
        Linear{.in = h, .out = b.vectors * h, .split = Linear::Split::none, .bias = true, .rows_each = 1.0},
        Elementwise{.width = h,
                    .forward_bytes = pairs * two_to_one,
                    .backward_bytes = pairs * backward_traffic * two_to_one,
                    .keeps = pairs}};
}

Block operators_of(const ResidualConvolutionBlock& b, const ResidualStream& stream)
{
    const double from = or_hidden(b.from, stream);
    const double to = or_hidden(b.to, stream);
    const double taps = std::pow(b.kernel, b.dimensions);
    Block block{norm_of(from, 2.0), activation_of(from, Activation::silu, Place::sequence),
                Convolution{.in = from, .out = to, .taps = taps, .bias = true}};
    if (b.time > 0) {
        block.push_back(
            Linear{.in = b.time, .out = to, .split = Linear::Split::none, .bias = true, .rows_each = 1.0});
    }
    const Block second{norm_of(to, 2.0), activation_of(to, Activation::silu, Place::sequence),
                       Convolution{.in = to, .out = to, .taps = taps, .bias = true}};
    block.insert(block.end(), second.begin(), second.end());
    if (from != to) {
        block.push_back(Convolution{.in = from, .out = to, .bias = true, .keeps_input = false});
    }
    block.push_back(Elementwise{.width = to, .forward_bytes = two_to_one, .backward_bytes = two_to_one});
    return block;
}

Block operators_of(const ConvolutionBlock& b, const ResidualStream& stream)
{
    return {Convolution{.in = or_hidden(b.from, stream),
                        .out = or_hidden(b.to, stream),
                        .taps = std::pow(b.kernel, b.dimensions),
                        .inputs_each = std::pow(b.stride, b.dimensions),
                        .bias = true}};
}

}  // namespace prismopt
