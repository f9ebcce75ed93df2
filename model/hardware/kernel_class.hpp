#pragma once

/// Classes of kernels: what shares a residual law, and what a what-if makes faster together.

#include <array>
#include <cstddef>

namespace prismopt {

/// Collectives inside layers (of tensor, context and expert groups, and of sharded parameters) are all `tp_collective`; those at
/// the ends of a step `dp_collective`.
enum class KernelClass { gemm, attention, elementwise, tp_collective, p2p, dp_collective };
inline constexpr std::size_t kernel_classes = 6;
inline constexpr std::array<const char*, kernel_classes> kernel_class_names{"gemm",          "attention", "elementwise",
                                                                            "tp_collective", "p2p",       "dp_collective"};

/// How many times as fast as modelled kernels run, by class.
struct KernelSpeeds {
    std::array<double, kernel_classes> factor{1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

    double of(KernelClass kind) const { return factor[static_cast<std::size_t>(kind)]; }
};

}  // namespace prismopt
