#include "model/network/operators.hpp"

namespace prismopt {

void Elementwise::pass(const Extent& e, double bytes, Calls& calls) const
{
    const double all = launches + (e.host_reads_counts(routing) ? launches_of_counts : 0.0);
    calls.kernel({.kind = KernelClass::elementwise,
                  .roof = roof,
                  .bytes = bytes * e.numbers(place, width, routing),
                  .launches = all,
                  .fuses = fuses,
                  .in_experts = of_experts && e.shape.cuda_graphs.has(Module::full_iteration),
                  .surplus = place == Place::routed ? e.surplus(routing) : Surplus{}});
}

void Elementwise::forward(const Extent& e, Calls& calls) const { pass(e, forward_bytes, calls); }

void Elementwise::backward(const Extent& e, Gradients /*gradients*/, Calls& calls) const
{
    pass(e, backward_bytes, calls);
}

Parameters Elementwise::parameters(const Extent& e) const
{
    return {.all = weights * (place == Place::columns ? width.local(e.tp) : width.whole())};
}

Kept Elementwise::kept(const Extent& e) const
{
    const double numbers = e.numbers(place, width, routing);
    const double copies = keeps_copies ? e.copies(routing) * e.load(routing) * width.whole() : 0.0;
    return {.numbers = keeps * numbers + copies,
            .products = keeps_low ? keeps * numbers : 0.0,
            .bytes = keeps_bytes * numbers};
}

}  // namespace prismopt
