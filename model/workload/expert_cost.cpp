#include "model/workload/expert_cost.hpp"

#include <algorithm>

namespace prismopt {

namespace {

constexpr double routing_kernels = 30.0;  // top-k, counts, offsets, sorting, permutation; assumption
constexpr double permute_traffic = 2.0;   // one read or one write of a token on its way to an expert

}  // namespace

ExpertModel::Routing ExpertModel::routing() const
{
    const Experts& e = w_.experts;
    Routing r{};
    r.kept = e.capacity > 0.0 ? std::min(e.capacity, e.imbalance) : e.imbalance;
    r.routed = size_.tokens / size_.tp * e.active;
    r.fullest = r.routed * r.kept * shape_.etp;
    r.local = static_cast<double>(e.count) / shape_.ep;
    r.rows = r.fullest / r.local;
    r.inner = static_cast<double>(e.feed_forward) / shape_.etp;
    return r;
}

void ExpertModel::add_expert_product(PassBuilder& pass, const Routing& r, double rows, double columns, double depth) const
{
    const Seconds time = sped_up(KernelClass::gemm, grouped_gemm_time(r.local, rows, columns, depth, gpu_, w_.precision));
    // Padded to their capacity, the experts of a GPU are one batch; else each is a launch of its own.
    pass.kernel(KernelClass::gemm, time, w_.experts.capacity > 0.0 ? 1.0 : 1.0 + r.local);
}

void ExpertModel::add_experts(PassBuilder& pass, double passes, Gradients gradients) const
{
    const Experts& e = w_.experts;
    const double own = size_.tokens / size_.tp;  // tokens that one GPU routes: members of a tensor group share them out
    const Routing r = routing();
    const double products = gradients == Gradients::both ? passes : 1.0;
    const Bytes message{2.0 * size_.width * r.routed * r.kept * size_.hidden};
    const double copies = cluster_.stack.sends_once ? e.active : 0.0;
    const Seconds way =
        sped_up(KernelClass::tp_collective, token_exchange_time(message, copies, {shape_.ep, shape_.etp}, cluster_));
    const Seconds spread = collective(Collective::all_gather, message.si * shape_.etp, {shape_.etp, 1});
    const int group = shape_.ep * shape_.etp;
    const Meeting members = group > shape_.tp * shape_.cp ? Meeting::experts
                            : group > shape_.tp           ? Meeting::context
                                                          : Meeting::tensor;
    pass.kernel(KernelClass::gemm, Seconds{products * product(own, e.count, size_.hidden).si});
    pass.kernel(KernelClass::elementwise,
                elementwise(cluster_.stack.routing * permute_traffic * (own + 2.0 * r.routed) * size_.hidden), routing_kernels);
    pass.collective(way, members).collective(spread, members);
    add_expert_product(pass, r, r.rows, size_.columns_of(r.inner), size_.hidden);
    add_expert_product(pass, r, r.rows, size_.hidden, r.inner);
    if (products > 1.0) {
        add_expert_product(pass, r, size_.columns_of(r.inner), size_.hidden, r.rows);
        add_expert_product(pass, r, size_.hidden, r.inner, r.rows);
    }
    pass.kernel(KernelClass::elementwise, elementwise(passes * activation_traffic() * r.fullest * r.inner));
    if (low()) {
        pass.kernel(KernelClass::elementwise, elementwise(cast_traffic * r.fullest * (size_.hidden + r.inner)));
    }
    pass.collective(spread, members).collective(way, members);
    pass.kernel(KernelClass::elementwise,
                elementwise(cluster_.stack.routing * permute_traffic * (own + 2.0 * r.routed) * size_.hidden));
}

void ExpertModel::add_weight_gradients(PassBuilder& pass) const
{
    const Routing r = routing();
    pass.kernel(KernelClass::gemm, product(size_.tokens / size_.tp, w_.experts.count, size_.hidden));
    add_expert_product(pass, r, size_.columns_of(r.inner), size_.hidden, r.rows);
    add_expert_product(pass, r, size_.hidden, r.inner, r.rows);
}

}  // namespace prismopt
