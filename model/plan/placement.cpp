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
    if (plan.local_steps == 1) {
        return std::nullopt;
    }
    if (plan.crossing != Crossing::dp) {
        return Infeasible{Conflict::local_steps_and_crossing, {{FactKey::local_steps, plan.local_steps}}};
    }
    if (buildings_of(plan, cluster) > 1) {
        return std::nullopt;
    }
    return Infeasible{Conflict::local_steps_and_gpus,
                      {{FactKey::local_steps, plan.local_steps},
                       {FactKey::gpus, plan.gpus()},
                       {FactKey::building_gpus, cluster.building_gpus()}}};
}

std::optional<Infeasible> placement_problem(const ParallelPlan& plan, const Cluster& cluster)
{
    if (plan.crossing == Crossing::by_order) {
        return std::nullopt;
    }
    const int building = cluster.building_gpus();
    if (building == 0) {
        return Infeasible{Conflict::one_building, {{FactKey::crossing, plan.crossing}}};
    }
    if (plan.crossing == Crossing::none) {
        if (plan.gpus() <= building) {
            return std::nullopt;
        }
        return Infeasible{Conflict::gpus_and_building,
                          {{FactKey::gpus, plan.gpus()}, {FactKey::building_gpus, building}}};
    }
    const int buildings = buildings_of(plan, cluster);
    if (buildings == 1) {
        return std::nullopt;
    }
    const bool replicas_cross = plan.crossing == Crossing::dp;
    if (replicas_cross && plan.dp % buildings != 0) {
        return Infeasible{Conflict::replicas_and_buildings,
                          {{FactKey::dp, plan.dp}, {FactKey::buildings, buildings}}};
    }
    if (!replicas_cross && plan.pp % buildings != 0) {
        return Infeasible{Conflict::stages_and_buildings,
                          {{FactKey::pp, plan.pp}, {FactKey::buildings, buildings}}};
    }
    if (plan.gpus() / buildings % cluster.gpus_per_node() != 0) {
        return Infeasible{Conflict::nodes_and_buildings,
                          {{FactKey::gpus, plan.gpus()}, {FactKey::buildings, buildings}}};
    }
    const BarrierWidths widths = barrier_widths(plan);
    if (replicas_cross && plan.dp / buildings % widths.replicas() != 0) {
        return Infeasible{Conflict::replicas_that_share_layers};
    }
    if (!replicas_cross && plan.model_copies() > 1) {
        return Infeasible{Conflict::copies_at_both_ends};
    }
    return std::nullopt;
}

}  // namespace prismopt
