#include "model/plan/coupling.hpp"

#include <numeric>

namespace prismopt {

bool expert_groups_divide(const ParallelPlan& plan)
{
    return static_cast<std::int64_t>(plan.tp) * plan.cp * plan.dp %
               (static_cast<std::int64_t>(plan.ep) * plan.etp) ==
           0;
}

BarrierWidths barrier_widths(const ParallelPlan& plan)
{
    const int replica = plan.tp * plan.cp;
    BarrierWidths widths{plan.tp, plan.cp};
    widths.experts = std::lcm(std::lcm(replica, plan.ep * plan.etp), plan.table_gpus()) / replica;
    if (shards_gradients(plan.sharding)) {
        const int replicas = plan.dp / widths.experts;
        if (plan.dp_overlap == DataParallelOverlap::on) {
            widths.pass = replicas;
        } else {
            widths.layer = replicas;
        }
    }
    return widths;
}

}  // namespace prismopt
