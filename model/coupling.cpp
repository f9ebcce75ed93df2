#include "model/coupling.hpp"

#include <numeric>

namespace prismopt {

BarrierWidths barrier_widths(const ParallelPlan& plan)
{
    const int replica = plan.tp * plan.cp;
    BarrierWidths widths{plan.tp, plan.cp};
    widths.experts = std::lcm(replica, plan.ep * plan.etp) / replica;
    if (plan.sharding == Sharding::zero2 || plan.sharding == Sharding::zero3) {
        (plan.dp_overlap == DataParallelOverlap::on ? widths.pass : widths.layer) = plan.dp / widths.experts;
    }
    return widths;
}

}  // namespace prismopt
