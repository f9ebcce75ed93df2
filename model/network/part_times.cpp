#include "model/network/part_times.hpp"

namespace prismopt {

namespace {

constexpr double parameter_message = 2.0;  // bytes of a parameter gathered for its layer

}  // namespace

PartTimes::Sharded PartTimes::sharded_messages(double parameters) const
{
    if (shape.sharding != Sharding::zero2 && shape.sharding != Sharding::zero3) {
        return {Seconds{0.0}, Seconds{0.0}, Seconds{0.0}, 1.0};
    }
    const Group group{shape.sharding_gpus, shape.tp};
    const Group between{shape.sharding_groups, shape.tp * shape.sharding_gpus};  // hybrid: shards are summed over the groups
    const double gradient = cluster.stack.gradient_bytes * parameters;
    const Seconds gathered = collective(Collective::all_gather, parameter_message * parameters, group);
    const Seconds reduced = collective(Collective::reduce_scatter, gradient, group) +
                            collective(Collective::all_reduce, gradient / shape.sharding_gpus, between);
    const double hidden = shape.dp_overlap == DataParallelOverlap::on ? 1.0 : 0.0;
    return {gathered, shape.sharding == Sharding::zero3 ? gathered + reduced : reduced, reduced, hidden};
}

void PartTimes::pair(PartCost& part) const
{
    part.paired_forward = side_by_side(part.forward, part.backward, cluster.stack);
    part.paired_backward = side_by_side(part.backward, part.forward, cluster.stack);
}

}  // namespace prismopt
