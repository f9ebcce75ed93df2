#pragma once

/// Differences between microbatches by the lengths of their samples. docs/methods/lengths.md.

#include "model/distribution/quantile_table.hpp"
#include "model/plan/sample_lengths.hpp"

#include <algorithm>
#include <vector>

namespace prismopt {

/// Tokens and attention of a microbatch over their means, as functions of one random word.
struct LengthFactors {
    QuantileTable tokens;
    QuantileTable attention;
};

/// Returns the factors of these microbatches, which are sorted by their work.
LengthFactors length_factors(const std::vector<MicrobatchWork>& microbatches);

/// Seconds of a stage that follow tokens and attention, over those of its compute. Collectives and messages
/// that follow tokens count as compute, so that the share of tokens may exceed one.
struct LengthShares {
    float tokens = 0.0F;
    float attention = 0.0F;
    float exposed = 0.0F;  // gathers and reductions of sharded parameters that longer compute would hide

    /// Returns the factor of a set of coupled replicas with the gathers beside its compute:
    /// max(compute, gathers) over their mean.
    float beside_gathers(float factor) const { return std::max(factor, 1.0F + exposed) - exposed; }
    /// Returns the factor of the stage's compute. Its lower limit matters only where tokens take more
    /// in collectives than in compute.
    float factor(float tokens_factor, float attention_factor) const
    {
        constexpr float least = 0.01F;
        return std::max(least,
                        1.0F + tokens * (tokens_factor - 1.0F) + attention * (attention_factor - 1.0F));
    }
};

}  // namespace prismopt
