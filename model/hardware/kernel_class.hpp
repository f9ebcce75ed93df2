#pragma once

/// Kernel classes: kernels and collectives that share a residual distribution and the speed of a
/// what-if; and choices of kernels.

#include "model/base/names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace prismopt {

enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all };
template <>
inline constexpr auto names_of<Collective> =
    std::to_array<Named<Collective>>({{Collective::all_gather, "all_gather"},
                                      {Collective::reduce_scatter, "reduce_scatter"},
                                      {Collective::all_reduce, "all_reduce"},
                                      {Collective::all_to_all, "all_to_all"}});

/// Attention kernel. `plain` writes the s^2 score matrix to memory (Korthikanti et al. 2022);
/// `flash` never does (Dao et al. 2022).
enum class AttentionKernel { plain, flash };
template <>
inline constexpr auto names_of<AttentionKernel> = std::to_array<Named<AttentionKernel>>(
    {{AttentionKernel::plain, "plain"}, {AttentionKernel::flash, "flash"}});

/// Process groups of collectives. `sharded`: gathers of parameters and reductions of gradients inside the
/// passes of each layer (FSDP, ZeRO-2 and ZeRO-3); `data`: the same at the ends of a step.
enum class ProcessGroup { tensor, context, expert, sharded, data };

/// Kernel classes form a tree. A class without a distribution inherits its parent's; a
/// what-if of a class applies to its subtree. Classes whose names end in "_collective" are
/// inner nodes without kernels of their own.
enum class KernelClass : std::uint8_t {
    gemm,
    grouped_gemm,
    convolution,
    attention,
    elementwise,
    lookup,
    scan,
    host_wait,
    tp_collective,
    tensor_collective,
    tensor_all_gather,
    tensor_reduce_scatter,
    tensor_all_reduce,
    context_collective,
    context_all_gather,
    context_all_to_all,
    context_p2p,
    expert_collective,
    expert_all_to_all,
    expert_all_gather,
    sharded_collective,
    sharded_all_gather,
    sharded_reduce_scatter,
    sharded_all_reduce,
    host_copy,
    p2p,
    dp_collective,
    dp_all_gather,
    dp_reduce_scatter,
    dp_all_reduce
};

/// Row of the table of kernel classes.
struct KernelClassRow {
    KernelClass kernel;
    std::string_view name;
    KernelClass within;  // parent; the class itself if it is a root
    std::string_view help;
    std::optional<ProcessGroup> group{};
    std::optional<Collective> kind{};
    // of a root: class whose distribution it inherits, though it is not within it
    std::optional<KernelClass> varies_as{};
};

/// Table of kernel classes, in the order of the enumerators; parents before children.
inline constexpr auto kernel_class_rows = [] {
    using enum KernelClass;
    using G = ProcessGroup;
    using C = Collective;
    return std::to_array<KernelClassRow>({
        {gemm, "gemm", gemm, "matrix products"},
        {grouped_gemm, "grouped_gemm", gemm, "matrix products of routed experts"},
        {convolution, "convolution", gemm, "convolutions"},
        {attention, "attention", attention, "attention"},
        {elementwise, "elementwise", elementwise, "kernels that stream tensors through memory"},
        {lookup, "lookup", elementwise, "lookups and gradients of embedding rows"},
        {scan, "scan", elementwise, "scans"},
        {host_wait,
         "host_wait",
         host_wait,
         "waits for the host, where it launches kernels more slowly than they run",
         {},
         {},
         elementwise},
        {tp_collective, "tp_collective", tp_collective, "all collectives inside layers"},
        {tensor_collective, "tensor_collective", tp_collective, "collectives of tensor-parallel groups",
         G::tensor},
        {tensor_all_gather, "tensor_all_gather", tensor_collective, "all-gathers of tensor-parallel groups",
         G::tensor, C::all_gather},
        {tensor_reduce_scatter, "tensor_reduce_scatter", tensor_collective,
         "reduce-scatters of tensor-parallel groups", G::tensor, C::reduce_scatter},
        {tensor_all_reduce, "tensor_all_reduce", tensor_collective, "all-reduces of tensor-parallel groups",
         G::tensor, C::all_reduce},
        {context_collective, "context_collective", tp_collective, "exchanges of context-parallel groups",
         G::context},
        {context_all_gather, "context_all_gather", context_collective,
         "all-gathers of keys and values in context-parallel groups", G::context, C::all_gather},
        {context_all_to_all, "context_all_to_all", context_collective,
         "all-to-alls of heads for tokens and back (context parallelism)", G::context, C::all_to_all},
        {context_p2p, "context_p2p", context_collective,
         "ring exchanges of keys and values (context parallelism)"},
        {expert_collective, "expert_collective", tp_collective, "collectives of expert-parallel groups",
         G::expert},
        {expert_all_to_all, "expert_all_to_all", expert_collective, "dispatch of tokens to experts and back",
         G::expert, C::all_to_all},
        {expert_all_gather, "expert_all_gather", expert_collective,
         "all-gathers of tokens for experts that GPUs share (etp)", G::expert, C::all_gather},
        {sharded_collective, "sharded_collective", tp_collective,
         "collectives of sharded parameters inside layers (FSDP)", G::sharded},
        {sharded_all_gather, "sharded_all_gather", sharded_collective, "all-gathers of a layer's parameters",
         G::sharded, C::all_gather},
        {sharded_reduce_scatter, "sharded_reduce_scatter", sharded_collective,
         "reduce-scatters of a layer's gradients", G::sharded, C::reduce_scatter},
        {sharded_all_reduce, "sharded_all_reduce", sharded_collective,
         "all-reduces of a layer's gradients between sharding groups", G::sharded, C::all_reduce},
        {host_copy, "host_copy", tp_collective, "copies of activations to the host and back"},
        {p2p, "p2p", p2p, "transfers between pipeline stages"},
        {dp_collective, "dp_collective", dp_collective,
         "collectives of data-parallel groups at the start and end of a step", G::data},
        {dp_all_gather, "dp_all_gather", dp_collective, "all-gathers of parameters at the start of a step",
         G::data, C::all_gather},
        {dp_reduce_scatter, "dp_reduce_scatter", dp_collective,
         "reduce-scatters of gradients at the end of a step", G::data, C::reduce_scatter},
        {dp_all_reduce, "dp_all_reduce", dp_collective, "all-reduces of gradients at the end of a step",
         G::data, C::all_reduce},
    });
}();
inline constexpr std::size_t kernel_classes = kernel_class_rows.size();

constexpr const KernelClassRow& row_of(KernelClass kernel)
{
    return kernel_class_rows[static_cast<std::size_t>(kernel)];
}

static_assert(std::all_of(kernel_class_rows.begin(), kernel_class_rows.end(), [](const KernelClassRow& row) {
    return &row == &row_of(row.kernel) && row.within <= row.kernel;
}));

constexpr std::string_view name(KernelClass kernel) { return row_of(kernel).name; }

/// Returns the class from which a class without a distribution inherits one; the
/// class itself: it must have its own.
constexpr KernelClass inherits_from(const KernelClassRow& row) { return row.varies_as.value_or(row.within); }

/// Calls visit(class) for the class, its parent, and so on up to the root.
template <class Visit>
constexpr void for_outer_classes(KernelClass kernel, Visit&& visit)
{
    visit(kernel);
    while (row_of(kernel).within != kernel) {
        kernel = row_of(kernel).within;
        visit(kernel);
    }
}

/// Returns the root of a class.
constexpr KernelClass outermost(KernelClass kernel)
{
    KernelClass last = kernel;
    for_outer_classes(kernel, [&](KernelClass outer) { last = outer; });
    return last;
}

/// Returns whether `kernel` is `outer` or within it.
constexpr bool is_within(KernelClass kernel, KernelClass outer)
{
    bool found = false;
    for_outer_classes(kernel, [&](KernelClass at) { found = found || at == outer; });
    return found;
}

/// Returns the class of all collectives of the group.
constexpr KernelClass class_of(ProcessGroup group)
{
    const auto is_of_group = [group](const KernelClassRow& row) { return row.group == group && !row.kind; };
    return std::find_if(kernel_class_rows.begin(), kernel_class_rows.end(), is_of_group)->kernel;
}

/// Returns the class of the group's collectives of one kind; that of all of them if the kind has none.
constexpr KernelClass class_of(ProcessGroup group, Collective kind)
{
    constexpr auto table = [] {  // precomputed, as costs of plans call this often
        std::array<std::array<KernelClass, 4>, 5> classes{};
        for (std::size_t g = 0; g < classes.size(); ++g) {
            classes[g].fill(class_of(static_cast<ProcessGroup>(g)));
        }
        for (const KernelClassRow& row : kernel_class_rows) {
            if (row.kind) {
                classes[static_cast<std::size_t>(*row.group)][static_cast<std::size_t>(*row.kind)] =
                    row.kernel;
            }
        }
        return classes;
    }();
    return table[static_cast<std::size_t>(group)][static_cast<std::size_t>(kind)];
}

/// Speed factors of kernels relative to the model, by class.
class KernelSpeeds {
public:
    constexpr KernelSpeeds() { factor_.fill(1.0); }

    double of(KernelClass kernel) const { return factor_[static_cast<std::size_t>(kernel)]; }
    /// Multiplies the speed of the class and of all classes within it.
    void multiply(KernelClass kernel, double speed)
    {
        for (const KernelClassRow& row : kernel_class_rows) {
            factor_[static_cast<std::size_t>(row.kernel)] *= is_within(row.kernel, kernel) ? speed : 1.0;
        }
    }

private:
    std::array<double, kernel_classes> factor_{};
};

}  // namespace prismopt
