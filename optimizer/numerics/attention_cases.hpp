#pragma once

/// Deviation of attention by format, kernel, tile, length and inputs.

#include "model/numerics/attention.hpp"
#include "model/numerics/deviation.hpp"
#include "model/numerics/formats/number_format.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

struct AttentionCase {
    NumberFormat format;
    Rounding rounding = Rounding::nearest_even;
    Arithmetic arithmetic = Arithmetic::fp32_accumulation;
    AttentionMethod kernel = AttentionMethod::plain;
    TileShape tile;  // of flash attention only
    std::size_t sequence = 2048;
    std::size_t head = 128;
    Elements elements = Elements::normal;
    bool causal = true;
};

/// All combinations of these; plain attention once, whatever the tiles.
struct AttentionGrid {
    std::vector<NumberFormat> formats;
    std::vector<Rounding> roundings{Rounding::nearest_even};
    std::vector<Arithmetic> arithmetics{Arithmetic::all_rounded, Arithmetic::fp32_accumulation};
    std::vector<AttentionMethod> kernels{AttentionMethod::plain, AttentionMethod::flash};
    std::vector<TileShape> tiles{TileShape{}};
    std::vector<std::size_t> sequences{2048};
    std::size_t head = 128;
    std::vector<Elements> elements{Elements::normal};
    bool causal = true;
};

/// `backward`: of the gradients of queries, keys and values together, each
/// relative to its own root mean square.
struct AttentionResult {
    AttentionCase at;
    Deviation forward;
    Deviation backward;
};

std::vector<AttentionResult> attention_results(const AttentionGrid& grid, std::uint64_t seed);

}  // namespace prismopt
