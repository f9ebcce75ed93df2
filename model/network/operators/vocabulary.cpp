#include "model/network/operators.hpp"

namespace prismopt {

namespace {

constexpr double lookup_traffic = 4.0;   // bytes a 16-bit number: read, write
constexpr double scatter_traffic = 8.0;  // gradient read, sums read and written
// Share of the loss's traffic that comes in the forward pass; of Megatron-LM's
// unfused loss 38 of 52 bytes a logit.
constexpr double loss_forward = 0.6;

CollectiveCall sequence_message(const Extent& e, double columns, Collective kind)
{
    return {.kind = kind, .bytes = 2.0 * e.tokens * columns};
}

}  // namespace

void Lookup::forward(const Extent& e, Calls& calls) const
{
    calls.kernel(
        {.kind = KernelClass::lookup, .roof = Roof::memory, .bytes = lookup_traffic * e.tokens * columns});
    if (e.tp > 1.0) {
        calls.collective(sequence_message(
            e, columns, e.shape.shares_tokens() ? Collective::reduce_scatter : Collective::all_reduce));
    }
}

/// Frameworks do not put the gradient of the table off.
void Lookup::backward(const Extent& e, Gradients /*gradients*/, Calls& calls) const
{
    if (e.tp > 1.0 && e.shape.shares_tokens()) {
        calls.collective(sequence_message(e, columns, Collective::all_gather));
    }
    calls.kernel(
        {.kind = KernelClass::lookup, .roof = Roof::memory, .bytes = scatter_traffic * e.tokens * columns});
}

Parameters Lookup::parameters(const Extent& e) const
{
    const double table = rows * columns / e.tp;
    return {.all = table + positions * columns, .tied = tied ? table : 0.0};
}

Kept Lookup::kept(const Extent& e) const
{
    return {.bytes = keeps_bytes * e.numbers(Place::sequence, columns)};
}

void Loss::pass(double share, const Extent& e, Calls& calls) const
{
    const double logits = share * e.numbers(Place::columns, vocabulary);
    if (bytes > 0.0) {
        calls.traffic(bytes * logits);
    } else {
        calls.traffic(logits, Roof::loss);
    }
}

void Loss::forward(const Extent& e, Calls& calls) const { pass(loss_forward, e, calls); }

void Loss::backward(const Extent& e, Gradients /*gradients*/, Calls& calls) const
{
    pass(1.0 - loss_forward, e, calls);
}

Kept Loss::kept(const Extent& e) const { return {.logits = e.numbers(Place::columns, vocabulary)}; }

}  // namespace prismopt
