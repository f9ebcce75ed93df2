#include "model/network/blocks/common_operators.hpp"

namespace prismopt {

Block operators_of(const TablesBlock& b, const ResidualStream& /*stream*/)
{
    return {Tables{.tables = static_cast<double>(b.tables),
                   .rows = b.rows,
                   .columns = static_cast<double>(b.columns),
                   .lookups = b.lookups,
                   .number_bytes = b.number_bytes}};
}

/// A cross layer: x0 * (V (U x) + b) + x.
Block operators_of(const InteractionBlock& b, const ResidualStream& /*stream*/)
{
    const double columns = static_cast<double>(b.vectors) * b.size;
    if (b.layers == 0) {
        return {PairProducts{.vectors = static_cast<double>(b.vectors), .size = static_cast<double>(b.size)}};
    }
    Block block;
    for (int layer = 0; layer < b.layers; ++layer) {
        block.push_back(Linear{.in = columns, .out = b.rank, .split = Linear::Split::none});
        block.push_back(Linear{.in = b.rank, .out = columns, .split = Linear::Split::none, .bias = true});
        block.push_back(Elementwise{.width = columns,
                                    .forward_bytes = two_to_one + one_pass / 2.0,
                                    .backward_bytes = backward_traffic * two_to_one,
                                    .keeps = 1.0});
    }
    return block;
}

}  // namespace prismopt
