#include "model/network/operators.hpp"

#include <algorithm>
#include <numeric>

namespace prismopt {

namespace {

// The fused backward pass computes the scores again: five products for the forward pass's two
// (Dao, arXiv 2307.08691, section
// 4.1).
constexpr double fused_backward = 2.5;
constexpr double fused_backward_traffic = 2.0;  // gradients as well
// Plain attention, bytes per score: product writes (2), masked softmax reads and writes (4), dropout reads,
// writes and stores its mask (5), second product reads (2).
constexpr double plain_scores_forward = 13.0;
// Backward: gradient of the second product writes (2) and reads probabilities (2), dropout (2 + 1 + 2),
// softmax reads two and writes one (6), gradients of the first product read twice (4).
constexpr double plain_scores_backward = 19.0;
// Kept of a score without recompute: softmax output, dropout mask, dropout output
// (Korthikanti et al., eq. 1: 5as^2b).
constexpr double plain_scores_kept = 5.0;
// Megatron-LM's fused softmax needs a multiple of this of (heads on a member) x (sequences); else the
// mask, the softmax, and casts to 32 bits and back are kernels of their own
// (megatron/model/fused_softmax.py, is_kernel_available).
constexpr int fused_softmax_matrices = 4;
// Beyond the traffic above, bytes a score: cast to 32 bits (6), mask (8), softmax
// (8), cast back (6) in place of 4.
constexpr double unfused_softmax_forward = 24.0;
constexpr double unfused_softmax_backward = 22.0;  // casts (6 + 6), softmax (12), mask (4) in place of 6
constexpr double unfused_softmax_kernels = 6.0;
// Keys by which fused kernels skip (Dao, arXiv 2307.08691, section 3.1: blocks of 64 or 128): a window's edge
// falls inside one, and its diagonal in another.
constexpr double tile = 128.0;
// Bytes of an element that is read and written in another order.
constexpr double rearranged = 4.0;

}  // namespace

/// Of a query, in the mean. A window, or as many keys from any place: w - w (w - 1) / (2 s) of a causal one.
double Attention::keys_in_reach(const Extent& e) const
{
    return e.mean_over_lengths([this](double s) { return keys_in_reach(s); });
}

double Attention::keys_in_reach(double s) const
{
    const double half = causal ? 0.5 : 1.0;
    if (others > 0.0) {
        return others;
    }
    if (chunk > 0.0 && chunk < s) {
        return half * chunk;
    }
    const double most = chosen > 0.0 ? chosen : window;
    if (most > 0.0 && most < s) {
        return causal ? most - most * (most - 1.0) / (2.0 * s) : most;
    }
    return half * s;
}

/// Fused kernels skip whole tiles of what the mask hides, plain ones nothing. Those of
/// chosen keys gather just these.
double Attention::keys_computed(const Extent& e) const
{
    if (kernel == AttentionKernel::plain) {
        return keys_of_rows(e);
    }
    return e.mean_over_lengths([this](double s) { return keys_computed(s); });
}

double Attention::keys_computed(double s) const
{
    if (others > 0.0 || (chosen > 0.0 && chosen < s)) {
        return keys_in_reach(s);
    }
    const double diagonal = causal ? 0.5 * tile : 0.0;
    const bool has_edge = window > 0.0 && window < s;
    const double whole = (causal ? 0.5 : 1.0) * s + diagonal;
    return std::min({s, whole, keys_in_reach(s) + diagonal + (has_edge ? 0.5 * tile : 0.0)});
}

double Attention::queries(const Extent& e) const { return e.tokens * heads / e.tp; }

/// Elements of queries, keys and values.
double Attention::operands(const Extent& e) const
{
    const double keys = others > 0.0 ? e.beside(others).tokens : e.tokens;
    return (e.tokens * heads * key_size + keys * key_heads * (key_size + value_size)) / e.tp;
}

/// Queries, keys, values and results, once each.
double Attention::traffic(const Extent& e) const
{
    constexpr double low_bytes = 1.0;
    return (low ? low_bytes : element_bytes) * operands(e) +
           element_bytes * e.tokens * heads * value_size / e.tp;
}

/// A ring of context-parallel members runs a kernel for the keys of each.
double Attention::keys_of_kernel(const Extent& e) const
{
    const bool ring = e.shape.context_exchange == ContextExchange::ring;
    return keys_computed(e) / (ring ? e.shape.ring_gpus() : 1);
}

/// Elements of keys, or of values, that a member has in attention: of its heads, of the tokens of all that
/// exchange heads with it. Heads are replicated where there are fewer than members.
double Attention::numbers_of_keys(const Extent& e, const Width& width) const
{
    const double members = e.shape.head_gpus();
    return members * e.beside(others).tokens * width.local(members * e.tp);
}

/// Whole rows of scores: of a sequence that samples share as well.
double Attention::keys_of_rows(const Extent& e) const
{
    if (others > 0.0) {
        return others;
    }
    return e.shares_sequences() ? e.sequence : e.mean_over_lengths([](double s) { return s; });
}

double Attention::scores(const Extent& e) const { return e.tokens * keys_of_rows(e) * heads / e.tp; }

/// Of products with so many keys.
double Attention::flops(const Extent& e, double keys) const
{
    return 2.0 * e.tokens * keys * heads / e.tp * (key_size + value_size);
}

/// Keys and values of the other members with the same heads; backward also their gradients on the way home.
void Attention::exchange_keys(const Extent& e, double times, Calls& calls) const
{
    if (e.shape.ring_gpus() == 1) {
        return;
    }
    const double members = e.shape.ring_gpus();
    const double divisor = e.shape.head_gpus();
    const double own = divisor * e.beside(others).tokens;
    // Of a window's keys only those before each of a member's two parts of the sequence travel.
    const double reach = 2.0 * e.shape.microbatch * std::max(window, chunk);
    const double others_tokens = (members - 1.0) * own;
    const double gathered =
        members / (members - 1.0) * (reach > 0.0 ? std::min(others_tokens, reach) : others_tokens);
    const bool ring = e.shape.context_exchange == ContextExchange::ring;
    calls.collective(
        {.way = ring ? CollectiveCall::Way::ring : CollectiveCall::Way::collective,
         .kind = Collective::all_gather,
         .bytes = element_bytes * gathered * (key().local(divisor * e.tp) + value().local(divisor * e.tp)),
         .group = GroupKind::context_ring,
         .times = times,
         .members = Meeting::context,
         .beside = CollectiveCall::Beside::kernel_before,
         .share = ring ? (members - 1.0) / members : 0.0});
}

/// Tensors with so many elements, each in an all-to-all of its own, from a share of the tokens to a share of
/// the heads or back; it is packed before and put in order after (DeepSpeed, sequence/layer.py,
/// single_all_to_all; Transformer Engine, context_parallel.py, flash_attn_a2a_communicate).
void Attention::exchange_heads(const Extent& e, const std::vector<double>& numbers, Calls& calls) const
{
    if (e.shape.head_gpus() == 1) {
        return;
    }
    const double tensors = static_cast<double>(numbers.size());
    const double all = std::accumulate(numbers.begin(), numbers.end(), 0.0);
    calls.traffic(rearranged * all, Roof::memory, tensors);
    calls.collective({.kind = Collective::all_to_all,
                      .bytes = element_bytes * all / tensors,
                      .group = GroupKind::context_heads,
                      .times = tensors,
                      .members = Meeting::context});
    calls.traffic(rearranged * all, Roof::memory, tensors);
}

void Attention::unfused_softmax(const Extent& e, double traffic, Calls& calls) const
{
    if (static_cast<int>(heads) / (e.shape.tp * e.shape.head_gpus()) * e.shape.microbatch %
            fused_softmax_matrices !=
        0) {
        calls.traffic(traffic * scores(e), Roof::memory, unfused_softmax_kernels);
    }
}

void Attention::forward(const Extent& e, Calls& calls) const
{
    const double computed = flops(e, keys_computed(e));
    const double needed = kernel == AttentionKernel::plain ? computed : flops(e, keys_in_reach(e));
    const Roof roof = kernel == AttentionKernel::flash ? Roof::attention : Roof::scores;
    exchange_heads(
        e, {e.numbers(Place::columns, query()), numbers_of_keys(e, key()), numbers_of_keys(e, value())},
        calls);
    calls.kernel({.kind = KernelClass::attention,
                  .roof = roof,
                  .m = queries(e),
                  .n = keys_of_kernel(e),
                  .k = key_size,
                  .value_size = value_size,
                  .flops = computed,
                  .needed_flops = needed,
                  .bytes = kernel == AttentionKernel::flash ? traffic(e) : 0.0,
                  .in_8_bits = low});
    calls.cast(low ? operands(e) : 0.0);
    if (kernel == AttentionKernel::flash) {
        exchange_keys(e, 1.0, calls);
    } else {
        calls.traffic(plain_scores_forward * scores(e));
        unfused_softmax(e, unfused_softmax_forward, calls);
    }
    exchange_heads(e, {e.numbers(Place::columns, output())}, calls);
}

void Attention::backward(const Extent& e, Gradients /*gradients*/, Calls& calls) const
{
    const double computed = flops(e, keys_computed(e));
    const double needed = 2.0 * (kernel == AttentionKernel::plain ? computed : flops(e, keys_in_reach(e)));
    exchange_heads(e, {e.numbers(Place::columns, output())}, calls);
    if (kernel == AttentionKernel::flash) {
        calls.kernel({.kind = KernelClass::attention,
                      .roof = Roof::attention_backward,
                      .m = queries(e),
                      .n = keys_of_kernel(e),
                      .k = key_size,
                      .value_size = value_size,
                      .flops = fused_backward * computed,
                      .needed_flops = needed,
                      .bytes = fused_backward_traffic * traffic(e),
                      .in_8_bits = low});
        calls.cast(low ? e.numbers(Place::columns, output()) : 0.0);
        exchange_keys(e, 2.0, calls);
    } else {
        calls.kernel({.kind = KernelClass::attention,
                      .roof = Roof::scores,
                      .k = key_size,
                      .flops = 2.0 * computed,
                      .needed_flops = needed});
        calls.traffic(plain_scores_backward * scores(e));
        unfused_softmax(e, unfused_softmax_backward, calls);
    }
    exchange_heads(
        e, {e.numbers(Place::columns, query()), numbers_of_keys(e, key()), numbers_of_keys(e, value())},
        calls);
}

/// A fused kernel keeps its result, which the next product keeps as well. They are two tensors if heads are
/// exchanged between them. What was cast to 8 bits for its products is kept as products keep their inputs.
Kept Attention::kept(const Extent& e) const
{
    const double scores_kept = kernel == AttentionKernel::plain ? plain_scores_kept * scores(e) : 0.0;
    const bool exchanged = e.shape.head_gpus() > 1 && kernel == AttentionKernel::flash;
    const double results = exchanged ? e.numbers(Place::columns, output()) : 0.0;
    const double cast = e.numbers(Place::columns, query()) + numbers_of_keys(e, key() + value());
    return {.numbers = cast + results,
            .products = low ? cast : 0.0,
            .bytes = scores_kept,
            .recomputable = scores_kept};
}

}  // namespace prismopt
