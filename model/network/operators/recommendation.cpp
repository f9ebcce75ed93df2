#include "model/network/operators.hpp"

namespace prismopt {

namespace {

constexpr double index_bytes = 8.0;
// A row's gradient is added where it lies: rows read, their sums' gradients read, rows written.
constexpr double update_traffic = 3.0;

/// All members have all tables' results of their own samples in the end.
void exchange_tables(const Extent& e, double bytes, bool exact, Calls& calls)
{
    const int members = e.shape.table_gpus();
    if (members > 1) {
        calls.collective({.kind = Collective::all_to_all,
                          .bytes = bytes,
                          .exact_bytes = exact,
                          .group = GroupKind::tables,
                          .members = meeting_of(e.shape, members)});
    }
}

}  // namespace

void Tables::forward(const Extent& e, Calls& calls) const
{
    exchange_tables(e, e.own() * lookups * index_bytes, true, calls);
    calls.kernel({.kind = KernelClass::lookup,
                  .roof = Roof::memory,
                  .bytes = e.own() * number_bytes * columns * (lookups + tables),
                  .exact_bytes = true});
    exchange_tables(e, e.own() * tables * columns * element_bytes, false, calls);
}

void Tables::backward(const Extent& e, Gradients gradients, Calls& calls) const
{
    if (gradients == Gradients::both) {
        weight_gradient(e, calls);
    }
}

void Tables::weight_gradient(const Extent& e, Calls& calls) const
{
    exchange_tables(e, e.own() * tables * columns * element_bytes, false, calls);
    calls.kernel({.kind = KernelClass::lookup,
                  .roof = Roof::memory,
                  .bytes = update_traffic * e.own() * number_bytes * columns * lookups,
                  .exact_bytes = true});
}

Parameters Tables::parameters(const Extent& e) const
{
    const double own = rows * columns / e.shape.table_gpus();
    return {.all = own, .rows = own, .row_bytes = number_bytes * own};
}

Kept Tables::kept(const Extent& e) const { return {.bytes = e.own() * lookups * index_bytes}; }

void PairProducts::forward(const Extent& e, Calls& calls) const
{
    const double flops = 2.0 * e.tokens / e.tp * vectors * vectors * size;
    calls.kernel({.roof = Roof::scores, .k = size, .flops = flops, .needed_flops = flops});
}

void PairProducts::backward(const Extent& e, Gradients /*gradients*/, Calls& calls) const
{
    const double flops = 4.0 * e.tokens / e.tp * vectors * vectors * size;
    calls.kernel({.roof = Roof::scores, .k = size, .flops = flops, .needed_flops = flops});
}

Kept PairProducts::kept(const Extent& e) const { return {.numbers = e.tokens / e.tp * vectors * size}; }

}  // namespace prismopt
