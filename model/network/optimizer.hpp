#pragma once

/// Optimizers: states per parameter, and the memory traffic and compute of an update.

#include "model/base/names.hpp"

#include <array>
#include <optional>

namespace prismopt {

/// Kind of optimizer. AdamW has two moments per parameter; SGD a momentum, and so has Lion (Chen et al.,
/// arXiv 2302.06675, algorithm 2). Muon has a momentum for the matrices of layers, whose updates it
/// orthogonalises (Liu et al., arXiv 2502.16982, section 2), and AdamW's moments for the rest. Adafactor
/// without momentum keeps sums of rows and columns (Shazeer and Stern, arXiv 1804.04235, section 3),
/// under a thousandth of the matrix. GaLore keeps AdamW's moments of gradients that are projected to a
/// lower rank, and the projection, of the matrices of layers (Zhao et al., arXiv 2403.03507, section
/// 4.2), and whole ones of the rest.
enum class Optimizer { adamw, sgd, muon, lion, adafactor, galore };
template <>
inline constexpr auto names_of<Optimizer> = std::to_array<Named<Optimizer>>({{Optimizer::adamw, "adamw"},
                                                                             {Optimizer::sgd, "sgd"},
                                                                             {Optimizer::muon, "muon"},
                                                                             {Optimizer::lion, "lion"},
                                                                             {Optimizer::adafactor,
                                                                              "adafactor"},
                                                                             {Optimizer::galore, "galore"}});

/// Type of stored numbers. `int8`, `int4`: in blocks with one scale each (Dettmers et al., arXiv 2110.02861).
enum class NumberType { fp32, bf16, int8, int4 };
template <>
inline constexpr auto names_of<NumberType> = std::to_array<Named<NumberType>>({{NumberType::fp32, "fp32"},
                                                                               {NumberType::bf16, "bf16"},
                                                                               {NumberType::int8, "int8"},
                                                                               {NumberType::int4, "int4"}});

/// Returns the bytes per number, with its share of a block's scale.
constexpr double bytes_of(NumberType type)
{
    // bitsandbytes, docs/source/explanations/optimizers.mdx; torchao, 8-bit states
    constexpr double scale_of_256 = 4.0 / 256.0;
    constexpr double scale_of_128 = 4.0 / 128.0;  // torchao, prototype/low_bit_optim, 4-bit states
    switch (type) {
        case NumberType::fp32: return 4.0;
        case NumberType::bf16: return 2.0;
        case NumberType::int8: return 1.0 + scale_of_256;
        case NumberType::int4: break;
    }
    return 0.5 + scale_of_128;
}

/// Type of the copy of 16-bit parameters that is updated; none: these are updated themselves, as
/// where all training is in 16 bits.
enum class MasterCopy { fp32, bf16, int8, none };
template <>
inline constexpr auto names_of<MasterCopy> = std::to_array<Named<MasterCopy>>({{MasterCopy::fp32, "fp32"},
                                                                               {MasterCopy::bf16, "bf16"},
                                                                               {MasterCopy::int8, "int8"},
                                                                               {MasterCopy::none, "none"}});

constexpr double bytes_of(MasterCopy copy)
{
    switch (copy) {
        case MasterCopy::fp32: return bytes_of(NumberType::fp32);
        case MasterCopy::bf16: return bytes_of(NumberType::bf16);
        case MasterCopy::int8: return bytes_of(NumberType::int8);
        case MasterCopy::none: break;
    }
    return 0.0;
}

/// How weights are stored that are not trained. Each block of few bits has a scale.
enum class FrozenStorage { bf16, int8, nf4, nf4_double, int4, mxfp4 };
template <>
inline constexpr auto names_of<FrozenStorage> =
    std::to_array<Named<FrozenStorage>>({{FrozenStorage::bf16, "bf16"},
                                         {FrozenStorage::int8, "int8"},
                                         {FrozenStorage::nf4, "nf4"},
                                         {FrozenStorage::nf4_double, "nf4-double"},
                                         {FrozenStorage::int4, "int4"},
                                         {FrozenStorage::mxfp4, "mxfp4"}});

/// Returns the bytes per weight, with its share of scales.
constexpr double bytes_of(FrozenStorage storage)
{
    constexpr double bits = 1.0 / 8.0;
    switch (storage) {
        case FrozenStorage::bf16: return 2.0;
        // LLM.int8, without its outlier columns
        case FrozenStorage::int8: return 8.0 * bits;
        // arXiv 2305.14314: 32 bits per 64
        case FrozenStorage::nf4: return (4.0 + 32.0 / 64.0) * bits;
        // same, section 3: scales in 8 bits
        case FrozenStorage::nf4_double: return (4.0 + 8.0 / 64.0 + 32.0 / (64.0 * 256.0)) * bits;
        // GPTQ, groups of 128: scale and zero
        case FrozenStorage::int4: return (4.0 + (16.0 + 4.0) / 128.0) * bits;
        case FrozenStorage::mxfp4: break;
    }
    return (4.0 + 8.0 / 32.0) * bits;  // OCP Microscaling Formats 1.0: 8 bits per 32
}

/// Optimizer with its number types, and that of the parameters. Default: mixed precision as in Megatron-LM,
/// with 16-bit parameters, and 32-bit gradients, master copy and moments.
struct OptimizerSettings {
    Optimizer kind = Optimizer::adamw;
    NumberType states = NumberType::fp32;     // moments and momentum
    MasterCopy master = MasterCopy::fp32;     // copy of the parameters that is updated
    NumberType gradients = NumberType::fp32;  // sums over microbatches
    // as sent between replicas; empty: set by the software stack
    std::optional<NumberType> reduction = std::nullopt;
    NumberType parameters = NumberType::bf16;  // follows from the precision: network_of()
    double product_bytes = 0.0;  // per parameter of products of forward passes; 0: as `parameters`
    int rank = 128;              // of galore
    bool fused = false;          // one kernel updates a tensor, without temporaries
    bool paged = false;          // states that do not fit on the accelerator are on its host
    bool in_backward = false;    // a layer is updated as soon as it has its gradients

    double parameter_bytes() const { return bytes_of(parameters); }
    double gradient_bytes() const { return bytes_of(gradients); }
    /// Returns the moments per parameter. `matrix`: parameters of a layer's products.
    int moments(bool matrix) const
    {
        switch (kind) {
            case Optimizer::adamw: return 2;
            case Optimizer::sgd:
            case Optimizer::lion: return 1;
            case Optimizer::muon: return matrix ? 1 : 2;
            case Optimizer::adafactor: return 0;
            case Optimizer::galore: break;
        }
        return matrix ? 0 : 2;
    }
    /// Returns the bytes of projected moments and projections per Parameters::projected.
    double projected_bytes() const { return kind == Optimizer::galore ? rank * bytes_of(states) : 0.0; }
    /// Returns the bytes per parameter of a copy of a moment that an update by several kernels makes
    /// (PyTorch, optim/adam.py, _multi_tensor_adam: square roots of all second moments). Kernels for moments
    /// of few bits update them in place.
    double temporary_bytes() const
    {
        const bool has_roots = kind == Optimizer::adamw || kind == Optimizer::muon;
        const bool in_place =
            fused || in_backward || states == NumberType::int8 || states == NumberType::int4;
        return has_roots && !in_place ? bytes_of(states) : 0.0;
    }
    /// Returns the bytes of the master copy per parameter. 32-bit parameters are updated in place, without a
    /// copy (Megatron-Core, docs/user-guide/features/dist_optimizer.md: 16 bytes in all).
    double master_bytes() const { return parameters == NumberType::fp32 ? 0.0 : bytes_of(master); }
    /// Returns the bytes of master copy and moments per parameter.
    double state_bytes(bool matrix) const { return master_bytes() + moments(matrix) * bytes_of(states); }
    /// Returns the memory traffic per updated parameter, in bytes: its gradient and state read, its state and
    /// the parameter written, which is read as well where it has no master copy; in addition the gradient is
    /// read once for its norm and written once to clear it.
    double update_traffic(bool matrix) const
    {
        const double touched = master_bytes() > 0.0 ? 1.0 : 2.0;
        return 3.0 * gradient_bytes() + 2.0 * state_bytes(matrix) + touched * parameter_bytes();
    }
    /// Returns the bytes per parameter sent to the host (gradients) and back (parameters) in an update there,
    /// one after the other, both in the parameters' type (Ren et al., ZeRO-Offload, arXiv 2101.06840, section
    /// 4.1: 2 and 2 with 16-bit ones).
    double offloaded_traffic() const { return 2.0 * parameter_bytes(); }
    /// Returns the bytes per gradient element sent. `of_stack`: the software stack's default, for 16-bit
    /// parameters; gradients of 32-bit ones are sent as they are.
    double message_bytes(double of_stack) const
    {
        if (reduction) {
            return bytes_of(*reduction);
        }
        return parameters == NumberType::fp32 ? gradient_bytes() : of_stack;
    }

    bool operator==(const OptimizerSettings&) const = default;
};

/// Iterations of Muon's polynomial; each computes X X', its square, and a product with X (arXiv 2502.16982,
/// section 2.1; Megatron-Core's default number).
inline constexpr int newton_schulz_steps = 5;

}  // namespace prismopt
