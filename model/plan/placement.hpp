#pragma once

/// Placement of stages and replicas on GPUs: the order of the dimensions, and the
/// dimension that crosses buildings.

#include "model/hardware/hardware.hpp"
#include "model/plan/infeasible.hpp"
#include "model/plan/plan.hpp"

#include <optional>

namespace prismopt {

/// Placement of a job's tensor-parallel groups. Groups are numbered building by building; within a building
/// the group of (replica, stage) is replica * replica_stride + stage * stage_stride, counting the
/// building's replicas and stages.
struct Placement {
    int tp = 1;
    int stages = 1;
    int replicas = 1;
    int stage_stride = 1;  // in groups
    int replica_stride = 1;
    int gpus_per_node = 8;
    // consecutive replicas that synchronise inside ops (divides `replicas`); see model/plan/coupling.hpp
    int coupled = 1;
    int buildings = 1;
    int building_gpus = 0;  // of the cluster; a job may leave some free
    Crossing crossing = Crossing::by_order;

    struct Position {
        int replica = 0;
        int stage = 0;
    };

    int group(int replica, int stage) const;
    Position position(int group) const;
    /// Returns the first GPU of the group.
    int gpu(int replica, int stage) const;
    int building(int replica, int stage) const;

    bool stages_cross() const { return crossing == Crossing::pp || crossing == Crossing::pp_interleaved; }
    int stages_inside() const { return stages_cross() ? stages / buildings : stages; }
    int replicas_inside() const { return crossing == Crossing::dp ? replicas / buildings : replicas; }
    int groups_inside() const { return stages_inside() * replicas_inside(); }
    /// Returns the number of GPUs that send at the same time when a stage's messages go to another: its
    /// neighbours, or all that use its building's circuit.
    int senders(int from_stage, int to_stage) const;
};

/// Returns the placement of a plan that has no placement_problem().
Placement place(const ParallelPlan& plan, const Cluster& cluster);

/// Returns the number of buildings that the plan uses; one if no dimension crosses.
int buildings_of(const ParallelPlan& plan, const Cluster& cluster);

/// Returns the plan of one building, with its share of the replicas, if replicas in different buildings train
/// locally between two exchanges (local_steps); else the plan.
ParallelPlan plan_of_building(ParallelPlan plan, const Cluster& cluster);

/// Returns the reason why the plan has no replicas that could use local updates, or nothing.
std::optional<Infeasible> local_updates_problem(const ParallelPlan& plan, const Cluster& cluster);

/// Returns the reason why the plan cannot cross buildings as it specifies, or nothing.
std::optional<Infeasible> placement_problem(const ParallelPlan& plan, const Cluster& cluster);

}  // namespace prismopt
