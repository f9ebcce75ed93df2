#include "model/network/operators.hpp"

namespace prismopt {

namespace {

/// Bytes per number of what experts with biases (gpt-oss) do outside of their products, in 16 bits. Their
/// results: forward the product of bias and routing weight, its sum with the results, and the joined results
/// of all experts; backward the same joined, and a product and a sum for each gradient, of bias and routing
/// weights (Megatron-Core, transformer/moe/experts.py, TEGroupedMLP._apply_bias). Inputs of their activation:
/// limited, and both halves joined; backward the limits with the input that they read again, and the halves
/// joined (fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl with a clamp value).
constexpr double results_forward = 2.0 + 6.0 + 4.0;
constexpr double results_backward = 4.0 + 2.0 * (4.0 + 2.0);
constexpr double inputs_forward = 4.0 + 4.0;
constexpr double inputs_backward = 6.0 + 4.0;

/// Graphs of whole iterations hold no kernels whose sizes the host must know: there the products do it.
void add_outside(const GroupedLinear& of, double numbers, double of_results, double of_inputs,
                 const Extent& e, Calls& calls)
{
    if (of.bias && !e.shape.cuda_graphs.has(Module::full_iteration)) {
        calls.traffic((of.split == Linear::Split::rows ? of_results : of_inputs) * numbers, Roof::memory, 1.0,
                      false, e.surplus(of.routing));
    }
}

}  // namespace

void GroupedLinear::product(const Extent& e, double m, double n, double k, double casts, Calls& calls) const
{
    const double experts = e.local_experts(routing);
    const double flops = 2.0 * experts * m * n * k;
    // Padded to their capacity, the experts of a GPU are one batch; else their sizes differ,
    // and stacks launch each by itself.
    calls.kernel({.kind = KernelClass::grouped_gemm,
                  .roof = wide ? Roof::wide_product : Roof::product,
                  .groups = experts,
                  .m = m,
                  .n = n,
                  .k = k,
                  .flops = flops,
                  .needed_flops = flops / e.load(routing),  // of the mean, not the fullest
                  .experts = routing.capacity > 0.0 ? 0.0 : experts,
                  .casts = wide ? 0.0 : casts,
                  .surplus = e.surplus(routing)});
}

bool GroupedLinear::casts_beside(const Extent& e) const
{
    return gated && e.shape.cuda_graphs.has(Module::full_iteration);
}

void GroupedLinear::forward(const Extent& e, Calls& calls) const
{
    calls.unpack(stored_bytes, parameters(e).all);
    product(e, e.fullest(routing) / e.local_experts(routing), out_columns(e), in_columns(e), 1.0, calls);
    calls.cast(wide ? 0.0 : e.fullest(routing) * in_columns(e),
               split == Linear::Split::rows && casts_beside(e));
    add_outside(*this, e.fullest(routing) * out_columns(e), results_forward, inputs_forward, e, calls);
}

void GroupedLinear::backward(const Extent& e, Gradients gradients, Calls& calls) const
{
    calls.unpack(stored_bytes, parameters(e).all);
    add_outside(*this, e.fullest(routing) * out_columns(e), results_backward, inputs_backward, e, calls);
    product(e, e.fullest(routing) / e.local_experts(routing), in_columns(e), out_columns(e), 1.0, calls);
    if (gradients == Gradients::both) {
        weight_gradient(e, calls);
    }
    calls.cast(wide ? 0.0 : e.fullest(routing) * out_columns(e),
               split == Linear::Split::columns && casts_beside(e));
}

void GroupedLinear::weight_gradient(const Extent& e, Calls& calls) const
{
    product(e, in_columns(e), out_columns(e), e.fullest(routing) / e.local_experts(routing), 0.0, calls);
}

Parameters GroupedLinear::parameters(const Extent& e) const
{
    const double columns = out_columns(e);
    const double own = e.local_experts(routing) * (in_columns(e) * columns + (bias ? columns : 0.0));
    return {.all = own, .expert = own};
}

/// What tensor parallel GPUs of an expert gather is kept once among them.
Kept GroupedLinear::kept(const Extent& e) const
{
    const double tokens = e.fullest(routing);
    const double shared = e.shape.etp;
    const bool rows = split == Linear::Split::rows;
    const double input = tokens * (rows ? in_columns(e) : in_columns(e) / shared);
    const double own = keeps_input ? input : 0.0;
    return {.numbers = own,
            .products = wide ? 0.0 : own,
            .held_numbers = input + tokens * (rows ? out_columns(e) / shared : out_columns(e)),
            .held_products = wide ? 0.0 : input};
}

}  // namespace prismopt
