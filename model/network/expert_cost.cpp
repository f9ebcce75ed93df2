#include "model/network/expert_cost.hpp"

#include <algorithm>

namespace prismopt {

namespace {

constexpr double routing_kernels = 30.0;  // top-k, counts, offsets, sorting, permutation; assumption
constexpr double permute_traffic = 2.0;   // one read or one write of a token on its way to an expert

}  // namespace

ExpertModel::Routing ExpertModel::routing() const
{
    const Experts& e = workload.experts;
    Routing r{};
    r.kept = e.capacity > 0.0 ? std::min(e.capacity, e.imbalance) : e.imbalance;
    r.routed = size.tokens / size.tp * e.active;
    r.fullest = r.routed * r.kept * shape.etp;
    r.local = static_cast<double>(e.count) / shape.ep;
    r.rows = r.fullest / r.local;
    r.inner = static_cast<double>(e.feed_forward) / shape.etp;
    return r;
}

void ExpertModel::add_expert_product(PassBuilder& pass, const Routing& r, double rows, double columns, double depth) const
{
    const Seconds time = sped_up(KernelClass::gemm, grouped_gemm_time(r.local, rows, columns, depth, gpu, workload.precision));
    // Padded to their capacity, the experts of a GPU are one batch; else each is a launch of its own.
    pass.kernel(KernelClass::gemm, time, workload.experts.capacity > 0.0 ? 1.0 : 1.0 + r.local);
}

void ExpertModel::add_experts(PassBuilder& pass, double passes, Gradients gradients) const
{
    const Experts& e = workload.experts;
    const double own = size.tokens / size.tp;  // tokens that one GPU routes: members of a tensor group share them out
    const Routing r = routing();
    const double products = gradients == Gradients::both ? passes : 1.0;
    const Bytes message{2.0 * size.width * r.routed * r.kept * size.hidden};
    const double copies = cluster.stack.sends_once ? e.active : 0.0;
    const Seconds way = sped_up(KernelClass::tp_collective, token_exchange_time(message, copies, {shape.ep, shape.etp}, cluster));
    const Seconds spread = collective(Collective::all_gather, message.si * shape.etp, {shape.etp, 1});
    const int group = shape.ep * shape.etp;
    const Meeting members = group > shape.tp * shape.cp ? Meeting::experts
                            : group > shape.tp          ? Meeting::context
                                                        : Meeting::tensor;
    pass.kernel(KernelClass::gemm, Seconds{products * product(own, e.count, size.hidden).si});
    pass.kernel(KernelClass::elementwise,
                elementwise(cluster.stack.routing * permute_traffic * (own + 2.0 * r.routed) * size.hidden), routing_kernels);
    pass.collective(way, members).collective(spread, members);
    add_expert_product(pass, r, r.rows, size.columns_of(r.inner), size.hidden);
    add_expert_product(pass, r, r.rows, size.hidden, r.inner);
    if (products > 1.0) {
        add_expert_product(pass, r, size.columns_of(r.inner), size.hidden, r.rows);
        add_expert_product(pass, r, size.hidden, r.inner, r.rows);
    }
    pass.kernel(KernelClass::elementwise, elementwise(passes * activation_traffic() * r.fullest * r.inner));
    if (low()) {
        pass.kernel(KernelClass::elementwise, elementwise(cast_traffic * r.fullest * (size.hidden + r.inner)));
    }
    pass.collective(spread, members).collective(way, members);
    pass.kernel(KernelClass::elementwise,
                elementwise(cluster.stack.routing * permute_traffic * (own + 2.0 * r.routed) * size.hidden));
}

void ExpertModel::add_weight_gradients(PassBuilder& pass) const
{
    const Routing r = routing();
    pass.kernel(KernelClass::gemm, product(size.tokens / size.tp, workload.experts.count, size.hidden));
    add_expert_product(pass, r, size.columns_of(r.inner), size.hidden, r.rows);
    add_expert_product(pass, r, size.hidden, r.inner, r.rows);
}

}  // namespace prismopt
