#include "model/network/operators.hpp"

namespace prismopt {

namespace {

using Beside = CollectiveCall::Beside;

/// Into a region that tensor parallelism divides: the sequence gathered, or nothing where it is whole.
void enter(bool alone, const Extent& e, double columns, Beside beside, double rounds, Calls& calls)
{
    if (alone && e.tp > 1.0 && e.shape.shares_tokens()) {
        calls.collective({.kind = Collective::all_gather,
                          .bytes = 2.0 * e.tokens * columns,
                          .beside = beside,
                          .rounds = rounds});
    }
}

/// Out of it: sums, split again over the sequence.
void leave(bool alone, const Extent& e, double columns, Beside beside, double rounds, Calls& calls)
{
    if (alone && e.tp > 1.0) {
        calls.collective(
            {.kind = e.shape.shares_tokens() ? Collective::reduce_scatter : Collective::all_reduce,
             .bytes = 2.0 * e.tokens * columns,
             .beside = beside,
             .rounds = rounds});
    }
}

/// Asynchronous tensor parallelism: a collective in rounds beside the product that needs or makes its
/// data (Wang et al., ASPLOS 2023).
bool in_rounds(const Extent& e, bool rounds)
{
    return e.shape.tp_overlap == TensorParallelOverlap::on && rounds;
}

Place output_place(const Linear& linear)
{
    switch (linear.split) {
        case Linear::Split::none: return linear.tokens;
        case Linear::Split::rows: return Place::sequence;
        case Linear::Split::columns: break;
    }
    return Place::columns;
}

}  // namespace

/// What is once for each sample each member computes for itself.
double Linear::own_tokens(const Extent& e) const
{
    if (rows_each > 0.0) {
        return e.tokens;
    }
    return tokens == Place::own ? e.own() : e.tokens / e.sequence_split;
}

void Linear::forward(const Extent& layer, Calls& calls) const
{
    const Extent e = layer.beside(rows_each);
    calls.unpack(stored_bytes, parameters(layer).all);
    switch (split) {
        case Split::columns:
            enter(alone, e, in.whole(), in_rounds(e, rounds) ? Beside::kernel_after : Beside::nothing,
                  in_rounds(e, rounds) ? e.tp : 0.0, calls);
            calls.product(e.tokens, out.local(e.tp), in.whole(), wide);
            break;
        case Split::rows:
            calls.product(e.tokens, out.whole(), in.local(e.tp), wide);
            leave(alone, e, out.whole(), in_rounds(e, rounds) ? Beside::kernel_before : Beside::nothing,
                  in_rounds(e, rounds) ? e.tp : 0.0, calls);
            break;
        case Split::none: calls.product(own_tokens(e), out.whole(), in.whole(), wide); break;
    }
    if (!wide) {
        calls.cast(split == Split::none
                       ? own_tokens(e) * in.whole()
                       : e.numbers(split == Split::rows ? Place::columns : Place::sequence, in));
    }
}

void Linear::backward(const Extent& layer, Gradients gradients, Calls& calls) const
{
    const Extent e = layer.beside(rows_each);
    calls.unpack(stored_bytes, parameters(layer).all);
    switch (split) {
        case Split::columns:
            calls.product(e.tokens, in.whole(), out.local(e.tp), wide);
            // The input again, for the gradient of the weights.
            enter(alone, e, in.whole(), Beside::kernel_before, 0.0, calls);
            if (gradients == Gradients::both) {
                weight_gradient(layer, calls);
            }
            leave(alone, e, in.whole(),
                  gradients == Gradients::both ? Beside::kernel_before : Beside::nothing, 0.0, calls);
            break;
        case Split::rows:
            enter(alone, e, out.whole(), in_rounds(e, rounds) ? Beside::kernel_after : Beside::nothing,
                  in_rounds(e, rounds) ? e.tp : 0.0, calls);
            calls.product(e.tokens, in.local(e.tp), out.whole(), wide);
            if (gradients == Gradients::both) {
                weight_gradient(layer, calls);
            }
            break;
        case Split::none:
            calls.product(own_tokens(e), in.whole(), out.whole(), wide);
            if (gradients == Gradients::both) {
                weight_gradient(layer, calls);
            }
            break;
    }
    if (!wide) {
        calls.cast(split == Split::none
                       ? own_tokens(e) * out.whole()
                       : e.numbers(split == Split::rows ? Place::sequence : Place::columns, out));
    }
}

void Linear::weight_gradient(const Extent& layer, Calls& calls) const
{
    const Extent e = layer.beside(rows_each);
    switch (split) {
        case Split::columns: calls.product(in.whole(), out.local(e.tp), e.tokens, wide); break;
        case Split::rows: calls.product(in.local(e.tp), out.whole(), e.tokens, wide); break;
        case Split::none: calls.product(in.whole(), out.whole(), own_tokens(e), wide); break;
    }
}

Parameters Linear::parameters(const Extent& e) const
{
    const double rows = split == Split::rows ? in.local(e.tp) : in.whole();
    const double columns = split == Split::columns ? out.local(e.tp) : out.whole();
    const double numbers = counted ? rows * columns : 0.0;
    return {.all = numbers + (bias ? columns : 0.0), .tied = tied ? numbers : 0.0};
}

Kept Linear::kept(const Extent& layer) const
{
    const Extent e = layer.beside(rows_each);
    // The input of a product on a share of the tokens is kept as the operator before it left it.
    const Place at = split == Split::rows ? Place::columns : Place::sequence;
    const Place to = output_place(*this);
    const double input = keeps_input ? e.numbers(at, in) : 0.0;
    return {.numbers = input,
            .products = wide ? 0.0 : input,
            .held_numbers = input + e.numbers(to, out),
            .held_products = wide ? 0.0 : input};
}

}  // namespace prismopt
