#pragma once

/// Which GPUs serve which stage of which replica: the order of the dimensions, and what lies across buildings.

#include "model/hardware/collective.hpp"
#include "model/hardware/hardware.hpp"
#include "model/plan/plan.hpp"

#include <optional>

namespace prismopt {

/// Where the tensor parallel groups of a job sit. They are numbered building by building; within one, group of (replica, stage) is
/// replica * replica_stride + stage * stage_stride, of those replicas and stages that the building has.
struct Placement {
    int tp = 1;
    int stages = 1;
    int replicas = 1;
    int stage_stride = 1;  // in groups
    int replica_stride = 1;
    int gpus_per_node = 8;
    int coupled = 1;  // this many consecutive replicas meet inside ops (it divides `replicas`); see model/plan/coupling.hpp
    int buildings = 1;
    int building_gpus = 0;  // of the cluster; a job may leave some free
    Crossing crossing = Crossing::by_order;

    struct Seat {
        int replica = 0;
        int stage = 0;
    };

    int group(int replica, int stage) const;
    Seat seat(int group) const;
    /// First GPU of the group.
    int gpu(int replica, int stage) const;
    int building(int replica, int stage) const;

    bool stages_cross() const { return crossing == Crossing::pp || crossing == Crossing::pp_interleaved; }
    int stages_inside() const { return stages_cross() ? stages / buildings : stages; }
    int replicas_inside() const { return crossing == Crossing::dp ? replicas / buildings : replicas; }
    int groups_inside() const { return stages_inside() * replicas_inside(); }
    /// GPUs that send with one when a stage's messages go to another: its neighbours; or all that use its building's circuit.
    int senders(int from_stage, int to_stage) const;
};

/// The plan must have no placement_problem().
Placement place(const ParallelPlan& plan, const Cluster& cluster);

/// GPUs that reduce a stage's gradients.
Group gradient_group(const ParallelPlan& plan, const Placement& placement);

/// Buildings over which the plan spreads: one where no dimension is said to cross.
int buildings_of(const ParallelPlan& plan, const Cluster& cluster);

/// Why the plan cannot lie across buildings as it says.
std::optional<Infeasible> placement_problem(const ParallelPlan& plan, const Cluster& cluster);

}  // namespace prismopt
