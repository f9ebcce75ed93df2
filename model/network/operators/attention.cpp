#include "model/network/operators.hpp"

namespace prismopt {

namespace {

// The fused backward pass computes the scores again: five products for the forward pass's two (Dao, arXiv 2307.08691, section 4.1).
constexpr double fused_backward = 2.5;
// Plain attention, bytes per score: product writes (2), masked softmax reads and writes (4), dropout reads, writes and stores its mask
// (5), second product reads (2).
constexpr double plain_scores_forward = 13.0;
// Backward: gradient of the second product writes (2) and reads probabilities (2), dropout (2 + 1 + 2), softmax reads two and writes
// one (6), gradients of the first product read twice (4).
constexpr double plain_scores_backward = 19.0;
// Kept of a score without recompute: softmax output, dropout mask, dropout output (Korthikanti et al., eq. 1: 5as^2b).
constexpr double plain_scores_kept = 5.0;
// Megatron-LM's fused softmax needs a multiple of this of (heads on a member) x (sequences); else the mask, the softmax, and casts to
// 32 bits and back are kernels of their own (megatron/model/fused_softmax.py, is_kernel_available).
constexpr int fused_softmax_matrices = 4;
// Beyond the traffic above, bytes a score: cast to 32 bits (6), mask (8), softmax (8), cast back (6) in place of 4.
constexpr double unfused_softmax_forward = 24.0;
constexpr double unfused_softmax_backward = 22.0;  // casts (6 + 6), softmax (12), mask (4) in place of 6
constexpr double unfused_softmax_kernels = 6.0;

}  // namespace

double Attention::scores(const Extent& e) const { return e.tokens * e.shape.sequence * heads / e.tp; }

double Attention::work(const Extent& e) const
{
    const double seen = causal && kernel == AttentionKernel::flash ? 0.5 : 1.0;
    return 2.0 * scores(e) * (key_size + value_size) * seen;
}

/// Keys and values of the other members of the context parallel group; backward also their gradients on the way home.
void Attention::exchange_context(const Extent& e, double times, Calls& calls) const
{
    if (e.shape.cp == 1) {
        return;
    }
    const double members = e.shape.cp;
    const bool ring = e.shape.context_exchange == ContextExchange::ring;
    calls.collective({.way = ring ? CollectiveCall::Way::ring : CollectiveCall::Way::collective,
                      .kind = Collective::all_gather,
                      .bytes = 2.0 * e.tokens * (key().local(e.tp) + value().local(e.tp)) * members,
                      .of = ProcessGroup::context,
                      .group = {e.shape.cp, e.shape.tp},
                      .times = times,
                      .members = Meeting::context,
                      .beside = CollectiveCall::Beside::kernel_before,
                      .share = ring ? (members - 1.0) / members : 0.0});
}

void Attention::unfused_softmax(const Extent& e, double traffic, Calls& calls) const
{
    if (static_cast<int>(heads) / e.shape.tp * e.shape.microbatch % fused_softmax_matrices != 0) {
        calls.traffic(traffic * scores(e), Roof::memory, unfused_softmax_kernels);
    }
}

void Attention::forward(const Extent& e, Calls& calls) const
{
    const double flops = work(e);
    const Roof roof = kernel == AttentionKernel::flash ? Roof::attention : Roof::scores;
    calls.kernel({.kind = KernelClass::attention, .roof = roof, .k = key_size, .flops = flops, .needed_flops = flops});
    if (kernel == AttentionKernel::flash) {
        exchange_context(e, 1.0, calls);
    } else {
        calls.traffic(plain_scores_forward * scores(e));
        unfused_softmax(e, unfused_softmax_forward, calls);
    }
}

void Attention::backward(const Extent& e, Gradients /*gradients*/, Calls& calls) const
{
    const double flops = 2.0 * work(e);
    if (kernel == AttentionKernel::flash) {
        calls.kernel({.kind = KernelClass::attention,
                      .roof = Roof::attention_backward,
                      .flops = fused_backward * work(e),
                      .needed_flops = flops});
        exchange_context(e, 2.0, calls);
    } else {
        calls.kernel(
            {.kind = KernelClass::attention, .roof = Roof::scores, .k = key_size, .flops = flops, .needed_flops = flops});
        calls.traffic(plain_scores_backward * scores(e));
        unfused_softmax(e, unfused_softmax_backward, calls);
    }
}

Kept Attention::kept(const Extent& e) const
{
    const double scores_kept = kernel == AttentionKernel::plain ? plain_scores_kept * scores(e) : 0.0;
    return {.numbers = e.numbers(Place::columns, query() + key() + value()), .bytes = scores_kept, .recomputable = scores_kept};
}

}  // namespace prismopt
