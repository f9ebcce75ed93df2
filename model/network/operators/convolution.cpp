#include "model/network/operators.hpp"

namespace prismopt {

namespace {

// By depth: input read and result written; backward the gradient and the input read,
// and the input's gradient written.
constexpr double forward_traffic = 2.0;
constexpr double backward_traffic = 3.0;

}  // namespace

void Convolution::product(double m, double n, double k, Calls& calls) const
{
    const double flops = 2.0 * m * n * k;
    calls.kernel({.kind = KernelClass::convolution,
                  .roof = wide ? Roof::wide_product : Roof::product,
                  .m = m,
                  .n = n,
                  .k = k,
                  .flops = flops,
                  .needed_flops = flops});
}

void Convolution::forward(const Extent& e, Calls& calls) const
{
    if (by_depth) {
        const double numbers = e.numbers(Place::columns, out);
        calls.kernel({.kind = KernelClass::convolution,
                      .roof = Roof::memory,
                      .needed_flops = 2.0 * taps * numbers,
                      .bytes = forward_traffic * element_bytes * numbers});
        return;
    }
    product(e.tokens, out.whole(), taps * in.whole(), calls);
    calls.cast(wide ? 0.0 : e.tokens * inputs_each * in.whole());
}

void Convolution::backward(const Extent& e, Gradients gradients, Calls& calls) const
{
    if (by_depth) {
        const double numbers = e.numbers(Place::columns, out);
        calls.kernel({.kind = KernelClass::convolution,
                      .roof = Roof::memory,
                      .needed_flops = 4.0 * taps * numbers,
                      .bytes = backward_traffic * element_bytes * numbers});
        return;
    }
    product(inputs_each * e.tokens, in.whole(), taps / inputs_each * out.whole(), calls);
    if (gradients == Gradients::both) {
        weight_gradient(e, calls);
    }
    calls.cast(wide ? 0.0 : e.tokens * inputs_each * in.whole());
}

/// By depth it is part of the kernel of the input's gradient.
void Convolution::weight_gradient(const Extent& e, Calls& calls) const
{
    if (!by_depth) {
        product(taps * in.whole(), out.whole(), e.tokens, calls);
    }
}

Parameters Convolution::parameters(const Extent& e) const
{
    const double columns = by_depth ? out.local(e.tp) : out.whole();
    return {.all = columns * (taps * (by_depth ? 1.0 : in.whole()) + (bias ? 1.0 : 0.0))};
}

Kept Convolution::kept(const Extent& e) const
{
    const double input = by_depth ? e.numbers(Place::columns, in) : e.tokens * inputs_each * in.whole();
    const double result = by_depth ? 0.0 : e.tokens * out.whole();
    const double own = keeps_input ? input : 0.0;
    return {.numbers = own,
            .products = by_depth || wide ? 0.0 : own,
            .held_numbers = by_depth ? 0.0 : input + result,
            .held_products = by_depth || wide ? 0.0 : input};
}

}  // namespace prismopt
