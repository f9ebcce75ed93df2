#pragma once

/// The one list of what a plan chooses along the axes of a space.

#include "io/scenario.hpp"
#include "model/plan.hpp"

namespace prismopt {

/// Calls visit(name, plan's choice, values that the space allows) for each axis but gpus, in the order in which they are set: what rules
/// out most comes first. Names are those of [space] and of --design.
template <class Visit>
void for_axes(ParallelPlan& plan, const SpaceSettings& space, Visit&& visit)
{
    visit("tp", plan.tp, space.tp);
    visit("cp", plan.cp, space.cp);
    visit("pp", plan.pp, space.pp);
    visit("ep", plan.ep, space.ep);
    visit("etp", plan.etp, space.etp);
    visit("order", plan.order, space.order);
    visit("crossing", plan.crossing, space.crossing);
    visit("microbatch", plan.microbatch, space.microbatch);
    visit("schedule", plan.schedule, space.schedule);
    visit("v", plan.chunks, space.v);
    visit("group", plan.group, space.group);
    visit("split", plan.split, space.split);
    visit("recompute", plan.recompute, space.recompute);
    visit("recomputed_layers", plan.recomputed_layers, space.recomputed_layers);
    visit("sharding", plan.sharding, space.sharding);
    visit("dp_overlap", plan.dp_overlap, space.dp_overlap);
    visit("tp_overlap", plan.tp_overlap, space.tp_overlap);
    visit("context_exchange", plan.context_exchange, space.context_exchange);
    visit("offload", plan.offload, space.offload);
    visit("post_validation", plan.post_validation, space.post_validation);
    visit("checkpoint_interval", plan.checkpoint_interval, space.checkpoint_interval);
    visit("node_order", plan.node_order, space.node_order);
    visit("spares", plan.spares, space.spares);
}

}  // namespace prismopt
