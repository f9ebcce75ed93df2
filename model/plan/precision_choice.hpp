#pragma once

/// Precision of the linear layers of a network, as a search chooses it.

#include "model/hardware/hardware.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Linear layers that keep 16 bits where the others have fewer.
struct WideLayers {
    // kinds of blocks, by name, or `predictions`: all of the prediction modules
    std::vector<std::string> blocks{};
    int first = 0;  // layers at the beginning of the network, with all their blocks
    int last = 0;   // at its end

    bool operator==(const WideLayers&) const = default;
};

/// Of the two products of fused attention, beside linear layers in fewer than 16 bits (Transformer Engine,
/// docs/envvars.rst, FP8 attention).
enum class AttentionPrecision { bf16, fp8 };
template <>
inline constexpr auto names_of<AttentionPrecision> = std::to_array<Named<AttentionPrecision>>(
    {{AttentionPrecision::bf16, "bf16"}, {AttentionPrecision::fp8, "fp8"}});

struct PrecisionChoice {
    std::string name;  // in results and in --design
    Precision precision = Precision::bf16;
    AttentionPrecision attention = AttentionPrecision::bf16;
    WideLayers wide{};
};

}  // namespace prismopt
