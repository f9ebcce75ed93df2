#include "model/network/operators.hpp"

#include <algorithm>

namespace prismopt {

namespace {

// States of chunks, and those that are passed on, are each written as 32-bit numbers and read as 16-bit ones.
constexpr double state_numbers = 6.0;
// Backward kernels read what the forward ones do and its gradients, and compute the chunks' states again.
constexpr double backward_times = 3.0;

// Kernels of a pass: state-spaces/mamba, ops/triton/ssd_combined.py; fla-org/flash-linear-attention,
// ops/gated_delta_rule/chunk.py.
constexpr double state_space_kernels = 5.0;
constexpr double state_space_kernels_backward = 14.0;
constexpr double delta_kernels = 6.0;
constexpr double delta_kernels_backward = 10.0;

}  // namespace

double Scan::chunk_of(const Extent& e) const { return std::min(chunk, e.sequence); }

/// State space, by product (Dao and Gu, listing 1; state-spaces/mamba, ops/triton/ssd_*.py): states
/// of chunks and what they give, 2 d N each; inside a chunk C B' for each group, 2 g Q N, and its
/// causal half times x, d Q. d: heads * size, N: state, Q: chunk. Delta rule
/// (fla-org/flash-linear-attention, ops/gated_delta_rule/chunk.py), by head: three products with the
/// state, 6 k v; inside a chunk of C tokens C (6 k + 4 v), and C^2 for the triangular inverse. A
/// decay by channel has two triangular matrices in place of one.
Scan::Work Scan::once(const Extent& e) const
{
    const double d = heads * size;
    const double length = chunk_of(e);
    if (rule == Rule::state_space) {
        return {4.0 * d * state + d * length + 2.0 * groups * length * state,
                2.0 * d + 2.0 * groups * state + heads + state_numbers * d * state / length};
    }
    const double triangles = rule == Rule::delta ? 1.0 : 2.0;
    const double gates = rule == Rule::delta ? heads : heads * state;
    return {heads * (6.0 * state * size + length * (6.0 * state + 4.0 * size) + triangles * length * length),
            2.0 * d + 2.0 * heads * state + heads + gates + 2.0 * heads * (state + size) +
                state_numbers * d * state / length};
}

/// Backward, in the order above: 10 d N + 3 d Q + 6 g Q N; and 16 k v with three
/// times the products inside chunks.
Scan::Work Scan::adjoint(const Extent& e) const
{
    const double d = heads * size;
    const double length = chunk_of(e);
    const Work forward = once(e);
    if (rule == Rule::state_space) {
        return {10.0 * d * state + 3.0 * d * length + 6.0 * groups * length * state,
                backward_times * forward.numbers};
    }
    const double between = 6.0 * heads * state * size;
    return {16.0 / 6.0 * between + 3.0 * (forward.flops - between), backward_times * forward.numbers};
}

void Scan::kernel(const Extent& e, const Work& work, double needed, double kernels, Calls& calls)
{
    const double share = e.tokens / e.tp;
    calls.kernel({.kind = KernelClass::scan,
                  .roof = Roof::scan,
                  .flops = share * work.flops,
                  .needed_flops = share * needed,
                  .bytes = share * element_bytes * work.numbers,
                  .launches = kernels});
}

/// Context parallel members change from a share of the tokens to a share of the heads, and back
/// (Megatron-Core, ssm/mamba_context_parallel.py).
void Scan::exchange_heads(const Extent& e, Calls& calls) const
{
    if (e.shape.cp > 1) {
        // x, B, C, z and dt, or v, k, q, decays and steps; and the result.
        const bool space = rule == Rule::state_space;
        const double gates = rule == Rule::delta ? heads : heads * state;
        const double decays = space ? 0.0 : gates;
        const double columns =
            (space ? 3.0 : 2.0) * values().local(e.tp) + 2.0 * keys().local(e.tp) + (heads + decays) / e.tp;
        calls.collective({.kind = Collective::all_to_all,
                          .bytes = element_bytes * e.tokens * columns,
                          .group = GroupKind::context,
                          .members = Meeting::context});
    }
}

void Scan::forward(const Extent& e, Calls& calls) const
{
    exchange_heads(e, calls);
    kernel(e, once(e), once(e).flops, rule == Rule::state_space ? state_space_kernels : delta_kernels, calls);
}

void Scan::backward(const Extent& e, Gradients /*gradients*/, Calls& calls) const
{
    kernel(e, adjoint(e), 2.0 * once(e).flops,
           rule == Rule::state_space ? state_space_kernels_backward : delta_kernels_backward, calls);
    exchange_heads(e, calls);
}

/// Its result; a state space computes its inputs again from those of the convolution before it, and keeps the
/// gates' and steps' inputs (mamba_ssm, MambaSplitConv1dScanCombinedFn). The delta rule keeps queries and
/// keys of each head, values, decays, and a triangle.
Kept Scan::kept(const Extent& e) const
{
    const double d = heads * size;
    double numbers = 2.0 * d + heads;
    if (rule != Rule::state_space) {
        const double decays = rule == Rule::delta ? 2.0 * heads : 2.0 * heads * state;
        const double triangles = rule == Rule::delta ? 1.0 : 2.0;
        numbers = 2.0 * heads * state + 2.0 * d + heads + decays + heads * chunk_of(e) * triangles;
    }
    return {.numbers = e.tokens * numbers / e.tp};
}

}  // namespace prismopt
