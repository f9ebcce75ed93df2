#pragma once

/// A pass through a layer as a list of kernels and messages with their counts, independent of hardware.

#include "model/hardware/group.hpp"
#include "model/hardware/kernel_class.hpp"
#include "model/network/extent.hpp"
#include "model/plan/coupling.hpp"
#include "model/plan/process_groups.hpp"

#include <cstddef>
#include <variant>
#include <vector>

namespace prismopt {

/// Roofline by which the time of a kernel follows from its counts (model/network/call_times.hpp).
enum class Roof {
    product,       // in the precision of the linear layers
    wide_product,  // at least 16 bits
    scores,        // batched products of plain attention
    attention,     // fused, forward
    attention_backward,
    scan,     // products and traffic, one after the other
    memory,   // traffic
    routing,  // traffic of token routing, times the software stack's factor
    loss      // traffic of the loss, by the software stack's bytes per logit
};

/// One kernel, or several fused ones. A product is [m, k] times [k, n], `groups` times; fused attention
/// multiplies m queries of all heads with n keys each, in the mean.
struct KernelCall {
    KernelClass kind = KernelClass::gemm;
    Roof roof = Roof::product;
    double groups = 1.0;
    double m = 0.0;
    double n = 0.0;
    double k = 0.0;             // for scores: the inner dimension; for attention: columns of a key's head
    double value_size = 0.0;    // for attention: columns of a value's head
    double flops = 0.0;         // executed
    double needed_flops = 0.0;  // needed by the network: a fused backward kernel executes more
    double bytes = 0.0;         // of memory traffic, for 16-bit numbers; logits for Roof::loss
    bool exact_bytes = false;   // ... for any precision of activations
    double launches = 1.0;      // by operators that Python calls
    // whose products one operator launches back to back, unless the stack has one kernel for all
    double experts = 0.0;
    double casts = 0.0;         // operands cast for it, of each expert alone
    bool fuses = false;         // fuses with such a kernel before it
    bool in_experts = false;    // gated activation of experts, which kernels of their products may do
    Surplus surplus{};          // of routed tokens
    bool in_8_bits = false;     // attention whose products have 8 bits
    bool hides_tokens = false;  // exchanges of tokens may overlap with it
    bool in_graph = false;      // the host does not launch it by itself
};

/// Returns the barrier of an exchange among so many consecutive GPUs.
inline Meeting meeting_of(const LayerShape& shape, int members)
{
    if (members > shape.tp * shape.cp) {
        return Meeting::experts;
    }
    return members > shape.tp ? Meeting::context : Meeting::tensor;
}

/// One collective, at the end of which all members wait for each other.
struct CollectiveCall {
    enum class Way {
        collective,
        tokens,  // an all-to-all of token copies
        ring     // an all-gather as transfers between neighbours
    };
    enum class Beside { nothing, kernel_before, kernel_after, shared_experts };  // compute that hides it
    Way way = Way::collective;
    Collective kind = Collective::all_gather;
    double bytes = 0.0;        // for 16-bit numbers
    bool exact_bytes = false;  // ... for any precision of activations
    GroupKind group = GroupKind::tensor;
    double times = 1.0;
    double active = 0.0;  // of tokens: experts per token
    double nodes = 0.0;   // of tokens: most nodes that one is sent to; 0: no limit
    bool low = false;     // of tokens: may be sent in fewer bits
    Dispatch dispatch = Dispatch::of_stack;
    Meeting members = Meeting::tensor;
    Beside beside = Beside::nothing;
    double share = 1.0;   // share of the kernel that hides it
    double rounds = 0.0;  // number of rounds, of which the first or last is exposed; 0: not in rounds
    Surplus surplus{};    // of routed tokens
    bool in_graph = false;

    KernelClass kernel() const
    {
        return way == Way::ring ? KernelClass::context_p2p : class_of(row_of(group).of, kind);
    }
};

using AnyCall = std::variant<KernelCall, CollectiveCall>;

/// Collects the kernels and messages of one pass.
class Calls {
public:
    Calls& kernel(const KernelCall& call)
    {
        KernelCall* last = list_.empty() ? nullptr : std::get_if<KernelCall>(&list_.back());
        if (call.fuses && last != nullptr && last->fuses) {
            last->bytes += call.bytes;
        } else {
            list_.emplace_back(call);
        }
        return *this;
    }
    Calls& product(double m, double n, double k, bool wide = false)
    {
        const double flops = 2.0 * m * n * k;
        return kernel({.roof = wide ? Roof::wide_product : Roof::product,
                       .m = m,
                       .n = n,
                       .k = k,
                       .flops = flops,
                       .needed_flops = flops});
    }
    Calls& traffic(double bytes, Roof roof = Roof::memory, double launches = 1.0, bool fuses = false,
                   const Surplus& surplus = {})
    {
        return kernel({.kind = KernelClass::elementwise,
                       .roof = roof,
                       .bytes = bytes,
                       .launches = launches,
                       .fuses = fuses,
                       .surplus = surplus});
    }
    Calls& collective(const CollectiveCall& call)
    {
        list_.emplace_back(call);
        return *this;
    }
    /// Marks the kernels from call number `first` on as hiding exchanges of tokens.
    void hide_tokens(std::size_t first)
    {
        for (std::size_t i = first; i < list_.size(); ++i) {
            if (auto* kernel = std::get_if<KernelCall>(&list_[i])) {
                kernel->hides_tokens = true;
            }
        }
    }
    /// Marks the kernels and messages from call number `first` on as launched in a CUDA graph.
    void in_graph(std::size_t first)
    {
        for (std::size_t i = first; i < list_.size(); ++i) {
            std::visit([](auto& call) { call.in_graph = true; }, list_[i]);
        }
    }
    /// Adds the traffic of weights in few bits, which are read and written in 16 before a product reads them
    /// (bitsandbytes and GPTQ kernels for training). `stored_bytes`: per weight; 0: they have 16 bits.
    Calls& unpack(double stored_bytes, double weights)
    {
        constexpr double unpacked_bytes = 2.0;
        return stored_bytes > 0.0 ? traffic((stored_bytes + unpacked_bytes) * weights) : *this;
    }
    /// Adds elements of operands that are cast to fewer bits, in one kernel at the end of the pass.
    /// `in_experts`: of results of the activation of gated experts, or of their gradients.
    Calls& cast(double numbers, bool in_experts = false)
    {
        if (in_experts) {
            cast_in_experts_ += numbers;
        } else {
            cast_numbers_ += numbers;
        }
        return *this;
    }

    const std::vector<AnyCall>& list() const { return list_; }
    double cast_numbers() const { return cast_numbers_; }
    double cast_in_experts() const { return cast_in_experts_; }
    double needed_flops() const;

private:
    std::vector<AnyCall> list_;
    double cast_numbers_ = 0.0;
    double cast_in_experts_ = 0.0;
};

}  // namespace prismopt
