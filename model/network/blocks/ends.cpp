#include "model/network/blocks/common_operators.hpp"

namespace prismopt {

namespace {

// A tensor parallel member holds a multiple of this of the vocabulary (Megatron-LM,
// --make-vocab-size-divisible-by).
constexpr double vocabulary_step = 128.0;

Elementwise final_norm(const ResidualStream& stream)
{
    Elementwise result = norm_of(stream.hidden, weights_of(stream.normalisation));
    result.fuses = true;
    return result;
}

}  // namespace

Block embedding_block(const ResidualStream& stream, double vocabulary, double positions)
{
    return {Lookup{.rows = vocabulary,
                   .columns = stream.hidden,
                   .positions = positions,
                   .keeps_bytes = stream.dropout ? 1.0 : 0.0}};
}

Block head_block(const ResidualStream& stream, double vocabulary, bool tied)
{
    const Width columns = Width::padded(vocabulary, vocabulary_step);
    return {final_norm(stream),
            Linear{.in = stream.hidden, .out = columns, .wide = true, .rounds = false, .tied = tied},
            Loss{.vocabulary = columns}};
}

Block prediction_block(const ResidualStream& stream, double vocabulary)
{
    const double h = stream.hidden;
    return {Lookup{.rows = vocabulary, .columns = h, .tied = true},
            norm_of(h, weights_of(stream.normalisation)), norm_of(h, weights_of(stream.normalisation)),
            Linear{.in = 2.0 * h, .out = h, .split = Linear::Split::none}};
}

}  // namespace prismopt
