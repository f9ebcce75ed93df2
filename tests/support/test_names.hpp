#pragma once

/// A small table of names, in place of the catalog's.

#include "model/calibration/records/kernel_names.hpp"

namespace prismopt {

inline const KernelNames& test_names()
{
    using enum KernelClass;
    static const KernelNames names{
        kernel_name("of a data-parallel group", dp_collective),
        kernel_name("-parallel group", tp_collective),
        kernel_name("send", p2p),
        kernel_name("recv", p2p, OpRole::receive),
        kernel_name("receive", p2p, OpRole::receive),
        kernel_name("all-reduce", dp_collective),
        kernel_name("all_reduce", dp_collective),
        kernel_name("all_gather", dp_collective),
        kernel_name("reduce-scatter", dp_collective),
        kernel_name("reduce_scatter", dp_collective),
        kernel_name("alltoall", tp_collective),
        kernel_name("gemm", gemm),
        kernel_name("norm", elementwise),
        kernel_name("optimizer", elementwise),
        kernel_name("forward", gemm),
        kernel_name("backward", gemm),
    };
    return names;
}

}  // namespace prismopt
