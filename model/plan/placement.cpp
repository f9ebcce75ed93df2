#include "model/plan/placement.hpp"

#include "model/plan/coupling.hpp"

#include <string>

namespace prismopt {

namespace {

/// One of `count` things dealt over the buildings in runs, as the n-th of its building.
struct Share {
    int building = 0;
    int nth = 0;
};

Share in_runs(int thing, int inside) { return {thing / inside, thing % inside}; }

Share of_stage(const Placement& at, int stage)
{
    switch (at.crossing) {
        case Crossing::pp: return in_runs(stage, at.stages_inside());
        case Crossing::pp_interleaved: return {stage % at.buildings, stage / at.buildings};
        case Crossing::by_order:
        case Crossing::dp:
        case Crossing::none: break;
    }
    return {0, stage};
}

Share of_replica(const Placement& at, int replica)
{
    return at.crossing == Crossing::dp ? in_runs(replica, at.replicas_inside()) : Share{0, replica};
}

}  // namespace

int Placement::building(int replica, int stage) const
{
    return of_stage(*this, stage).building + of_replica(*this, replica).building;
}

int Placement::group(int replica, int stage) const
{
    const int inside =
        of_replica(*this, replica).nth * replica_stride + of_stage(*this, stage).nth * stage_stride;
    return building(replica, stage) * groups_inside() + inside;
}

Placement::Position Placement::position(int group) const
{
    const int building = group / groups_inside();
    const int inside = group % groups_inside();
    const int own_stages = stages_inside();
    const int own_replicas = replicas_inside();
    Position position = stage_stride == 1 ? Position{inside / own_stages, inside % own_stages}
                                          : Position{inside % own_replicas, inside / own_replicas};
    switch (crossing) {
        case Crossing::dp: position.replica += building * own_replicas; break;
        case Crossing::pp: position.stage += building * own_stages; break;
        case Crossing::pp_interleaved: position.stage = position.stage * buildings + building; break;
        case Crossing::by_order:
        case Crossing::none: break;
    }
    return position;
}

int Placement::gpu(int replica, int stage) const
{
    const int at = group(replica, stage);
    return at / groups_inside() * building_gpus + at % groups_inside() * tp;
}

int Placement::senders(int from_stage, int to_stage) const
{
    if (building(0, from_stage) == building(0, to_stage)) {
        return tp * stage_stride;
    }
    // Of stages dealt out one by one each sends into another building.
    return tp * replicas_inside() * (crossing == Crossing::pp_interleaved ? stages_inside() : 1);
}

int buildings_of(const ParallelPlan& plan, const Cluster& cluster)
{
    const int building = cluster.building_gpus();
    const bool crosses = plan.crossing != Crossing::by_order && plan.crossing != Crossing::none;
    return crosses && building > 0 ? (plan.gpus() + building - 1) / building : 1;
}

Placement place(const ParallelPlan& plan, const Cluster& cluster)
{
    Placement placement;
    placement.tp = plan.tp * plan.cp;  // the members of a context parallel group meet in each layer as well
    placement.stages = plan.pp;
    placement.replicas = plan.dp;
    placement.buildings = buildings_of(plan, cluster);
    placement.crossing = placement.buildings > 1 ? plan.crossing : Crossing::by_order;
    placement.building_gpus = cluster.building_gpus();
    placement.stage_stride = plan.order == PlacementOrder::tp_pp_dp ? 1 : placement.replicas_inside();
    placement.replica_stride = plan.order == PlacementOrder::tp_pp_dp ? placement.stages_inside() : 1;
    placement.gpus_per_node = cluster.gpus_per_node();
    placement.coupled = barrier_widths(plan).replicas();
    return placement;
}

ParallelPlan plan_of_building(ParallelPlan plan, const Cluster& cluster)
{
    plan.dp /= plan.local_steps > 1 ? buildings_of(plan, cluster) : 1;
    return plan;
}

std::optional<Infeasible> local_updates_problem(const ParallelPlan& plan, const Cluster& cluster)
{
    if (plan.local_steps == 1 || (plan.crossing == Crossing::dp && buildings_of(plan, cluster) > 1)) {
        return std::nullopt;
    }
    const std::string what = "local_steps=" + std::to_string(plan.local_steps);
    return Infeasible{Reason::local_steps,
                      plan.crossing == Crossing::dp
                          ? what + " on " + std::to_string(plan.gpus()) + " GPUs in one building of " +
                                std::to_string(cluster.building_gpus())
                          : what + " needs crossing=dp",
                      0.0};
}

std::optional<Infeasible> placement_problem(const ParallelPlan& plan, const Cluster& cluster)
{
    const auto say = [](const std::string& detail) { return Infeasible{Reason::crossing, detail, 0.0}; };
    if (plan.crossing == Crossing::by_order) {
        return std::nullopt;
    }
    const int building = cluster.building_gpus();
    const std::string crossing = "crossing=" + std::string(name(plan.crossing));
    if (building == 0) {
        return say(crossing +
                   " on a cluster of one building; give a tier an `aggregate`, or use crossing=by-order");
    }
    if (plan.crossing == Crossing::none) {
        return plan.gpus() <= building
                   ? std::nullopt
                   : std::optional(say(std::to_string(plan.gpus()) + " GPUs in a building of " +
                                       std::to_string(building) + "; let dp or pp cross, or use fewer GPUs"));
    }
    const int buildings = buildings_of(plan, cluster);
    if (buildings == 1) {
        return std::nullopt;
    }
    const int whole = plan.crossing == Crossing::dp ? plan.dp : plan.pp;
    const std::string over = " over " + std::to_string(buildings) + " buildings";
    if (whole % buildings != 0) {
        return say((plan.crossing == Crossing::dp ? "dp=" : "pp=") + std::to_string(whole) + over +
                   ": every building needs an equal share");
    }
    if (plan.gpus() / buildings % cluster.gpus_per_node() != 0) {
        return say(std::to_string(plan.gpus()) + " GPUs" + over + ": every building needs whole nodes");
    }
    const BarrierWidths widths = barrier_widths(plan);
    if (plan.crossing == Crossing::dp && plan.dp / buildings % widths.replicas() != 0) {
        return say(
            "replicas that communicate in every layer would be in different buildings; use sharding=zero1, a "
            "lower ep, or "
            "crossing=pp");
    }
    if (plan.crossing != Crossing::dp && plan.model_copies() > 1) {
        return say("dualpipe keeps copies of a stage at both ends of the pipeline; use crossing=dp");
    }
    return std::nullopt;
}

}  // namespace prismopt
