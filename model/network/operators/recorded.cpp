#include "model/network/operators.hpp"

namespace prismopt {

namespace {

using Traffic = Recorded::Traffic;
using Product = Recorded::Product;
using Scores = Recorded::Scores;
using Heads = Recorded::Heads;
using Rows = Recorded::Rows;

// By depth: input read and result written; backward the gradient and the input read,
// and the input's gradient written.
constexpr double depth_forward = 2.0;
constexpr double depth_backward = 3.0;
// Of rows that are looked up: read; backward their sums read and written, as 32-bit numbers
// where results are 16-bit ones.
constexpr double row_forward = 2.0;
constexpr double row_backward = 6.0;

double samples(const Extent& e) { return e.shape.microbatch; }

/// One column in each group: nothing for the tensor cores.
bool by_depth(const Product& p) { return p.n == 1.0 && p.input_columns == 1.0 && p.groups > 1.0; }

/// Numbers of a sample.
double input(const Product& p) { return p.groups * p.input_rows * p.input_columns; }

void product(double groups, double m, double n, double k, Calls& calls)
{
    const double work = 2.0 * groups * m * n * k;
    calls.kernel({.groups = groups, .m = m, .n = n, .k = k, .flops = work, .needed_flops = work});
}

void depth_product(const Product& p, double times, double traffic, const Extent& e, Calls& calls)
{
    const double mean_rows = 0.5 * (p.m + p.input_rows);
    calls.kernel({.roof = Roof::memory,
                  .needed_flops = times * 2.0 * samples(e) * p.groups * p.m * p.k,
                  .bytes = traffic * element_bytes * samples(e) * p.groups * mean_rows});
}

void scores(const Scores& s, double times, const Extent& e, Calls& calls)
{
    const double work = times * 2.0 * samples(e) * s.groups * s.m * s.n * s.k;
    calls.kernel({.roof = Roof::scores, .k = s.k, .flops = work, .needed_flops = work});
}

/// The sequence that attention sees is what was captured, not the phase's.
LayerShape shape_of(const Heads& heads, const Extent& e)
{
    LayerShape shape = e.shape;
    shape.sequence = heads.queries;
    return shape;
}

void forward_of(const Traffic& t, const Extent& e, Calls& calls) { calls.traffic(samples(e) * t.forward); }

void forward_of(const Product& p, const Extent& e, Calls& calls)
{
    if (by_depth(p)) {
        depth_product(p, 1.0, depth_forward, e, calls);
        return;
    }
    product(p.groups, samples(e) * p.m, p.n, p.k, calls);
    calls.cast(samples(e) * input(p));
}

void forward_of(const Scores& s, const Extent& e, Calls& calls) { scores(s, 1.0, e, calls); }

void forward_of(const Heads& h, const Extent& e, Calls& calls)
{
    const LayerShape shape = shape_of(h, e);
    h.attention.forward(Extent(shape), calls);
}

void forward_of(const Rows& r, const Extent& e, Calls& calls)
{
    calls.traffic(samples(e) * r.columns * (row_forward * r.lookups + element_bytes * r.results));
}

/// Gradients of inputs that are no weights.
void backward_of(const Traffic& t, const Extent& e, Calls& calls) { calls.traffic(samples(e) * t.backward); }

void backward_of(const Product& p, const Extent& e, Calls& calls)
{
    if (by_depth(p)) {
        depth_product(p, 2.0, depth_backward, e, calls);
        return;
    }
    product(p.groups, samples(e) * p.input_rows, p.input_columns,
            p.m * p.n * p.k / (p.input_rows * p.input_columns), calls);
    calls.cast(samples(e) * input(p));
}

void backward_of(const Scores& s, const Extent& e, Calls& calls) { scores(s, 2.0, e, calls); }

void backward_of(const Heads& h, const Extent& e, Calls& calls)
{
    const LayerShape shape = shape_of(h, e);
    h.attention.backward(Extent(shape), Gradients::both, calls);
}

void backward_of(const Rows& r, const Extent& e, Calls& calls)
{
    calls.traffic(samples(e) * r.columns * (row_backward * r.lookups + element_bytes * r.results));
}

}  // namespace

void Recorded::forward(const Extent& e, Calls& calls) const
{
    std::visit([&](const auto& own_work) { forward_of(own_work, e, calls); }, work);
}

void Recorded::backward(const Extent& e, Gradients gradients, Calls& calls) const
{
    std::visit([&](const auto& own_work) { backward_of(own_work, e, calls); }, work);
    if (gradients == Gradients::both) {
        weight_gradient(e, calls);
    }
}

/// By depth it is part of the kernel of the input's gradient.
void Recorded::weight_gradient(const Extent& e, Calls& calls) const
{
    if (const auto* p = std::get_if<Product>(&work); p != nullptr && !by_depth(*p)) {
        product(p->groups, p->k, p->n, samples(e) * p->m, calls);
    }
}

Kept Recorded::kept(const Extent& e) const
{
    if (const auto* h = std::get_if<Heads>(&work);
        h != nullptr && h->attention.kernel == AttentionKernel::plain) {
        const double scores_kept = samples(e) * (element_bytes * keeps + keeps_bytes);
        return {.bytes = scores_kept, .recomputable = scores_kept};
    }
    Kept kept{.numbers = samples(e) * keeps, .bytes = samples(e) * keeps_bytes};
    if (const auto* p = std::get_if<Product>(&work); p != nullptr && !by_depth(*p)) {
        kept.held_numbers = samples(e) * (input(*p) + p->groups * p->m * p->n);
    }
    return kept;
}

}  // namespace prismopt
