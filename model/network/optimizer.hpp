#pragma once

/// The optimizer: what it holds of each parameter, and what one of its steps moves and computes.

#include "model/base/names.hpp"

#include <array>
#include <optional>

namespace prismopt {

/// AdamW has two moments of each parameter, SGD a momentum. Muon has a momentum for the matrices of layers, which it makes orthogonal
/// (Liu et al., arXiv 2502.16982, section 2), and AdamW's moments for the rest.
enum class Optimizer { adamw, sgd, muon };
template <>
inline constexpr auto names_of<Optimizer> =
    std::to_array<Named<Optimizer>>({{Optimizer::adamw, "adamw"}, {Optimizer::sgd, "sgd"}, {Optimizer::muon, "muon"}});

/// Of stored numbers. `int8`: in blocks with a scale each (Dettmers et al., arXiv 2110.02861).
enum class NumberType { fp32, bf16, int8 };
template <>
inline constexpr auto names_of<NumberType> =
    std::to_array<Named<NumberType>>({{NumberType::fp32, "fp32"}, {NumberType::bf16, "bf16"}, {NumberType::int8, "int8"}});

/// Bytes of a number, with its part of a block's scale.
constexpr double bytes_of(NumberType type)
{
    constexpr double scale_of_block = 4.0 / 2048.0;  // arXiv 2110.02861, section 2.1: blocks of 2,048
    switch (type) {
        case NumberType::fp32: return 4.0;
        case NumberType::bf16: return 2.0;
        case NumberType::int8: break;
    }
    return 1.0 + scale_of_block;
}

/// Mixed precision as in Megatron-LM unless said otherwise: 16-bit parameters, 32-bit gradients, master copy and moments.
struct OptimizerSettings {
    Optimizer kind = Optimizer::adamw;
    NumberType states = NumberType::fp32;                // moments and momentum
    NumberType master = NumberType::fp32;                // copy of the parameters that is updated
    NumberType gradients = NumberType::fp32;             // as they are summed over microbatches
    std::optional<NumberType> reduction = std::nullopt;  // as they are sent between replicas; none: as the software stack does

    double gradient_bytes() const { return bytes_of(gradients); }
    /// Moments of a parameter. `matrix`: of a layer's products.
    int moments(bool matrix) const { return kind == Optimizer::adamw || (kind == Optimizer::muon && !matrix) ? 2 : 1; }
    /// Master copy and moments of a parameter.
    double state_bytes(bool matrix) const { return bytes_of(master) + moments(matrix) * bytes_of(states); }
    /// Traffic of updating a parameter: reads its gradient and state, writes its state and the 16-bit parameter, and before that reads
    /// and after it writes the gradient once, for its norm and to clear it.
    double update_traffic(bool matrix) const
    {
        constexpr double parameter = 2.0;
        return 3.0 * gradient_bytes() + 2.0 * state_bytes(matrix) + parameter;
    }
    /// `of_stack`: bytes of a number that the software stack sends.
    double message_bytes(double of_stack) const { return reduction ? bytes_of(*reduction) : of_stack; }

    bool operator==(const OptimizerSettings&) const = default;
};

/// Iterations of Muon's polynomial, each with products X X', its square, and one with X (arXiv 2502.16982, section 2.1; Megatron-Core's
/// default number).
inline constexpr int newton_schulz_steps = 5;

}  // namespace prismopt
