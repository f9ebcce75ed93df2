#pragma once

/// Pipeline schedules: the order in which each stage works on microbatches and
/// chunks. docs/methods/step-graph.md.
///
/// A schedule is a row in a table of model/schedule/orders/: a function that orders the tasks of one stage,
/// the placement of its chunks in the network, and the bubble and memory that its paper states.

#include "model/plan/infeasible.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/orders/tasks.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace prismopt {

/// Returns the shape of a plan's schedule in a phase with this global batch.
ScheduleShape schedule_shape(const ParallelPlan& plan, int global_batch);

using TaskOrders = std::vector<std::vector<Task>>;  // [stage], each in execution order

/// Returns the orders of all stages, or the reason why the schedule is not defined for the shape.
std::variant<TaskOrders, Infeasible> task_orders(const ScheduleShape& shape);

/// Returns the reason why the schedule is not defined for the shape, or nothing.
std::optional<Infeasible> undefined(const ScheduleShape& shape);

/// Returns whether the schedule splits every backward pass, as the zero-bubble schedules do.
bool splits_backward(Schedule schedule);

/// Place of a part of the network: a chunk of a stage.
struct StageChunk {
    int stage = 0;
    int chunk = 0;

    bool operator==(const StageChunk&) const = default;
};

ChunkMap chunk_map(Schedule schedule);

/// Returns the part of the network at a place.
int network_chunk_of(const ScheduleShape& shape, StageChunk position);
/// Returns the place of the part before (`step` -1) or after (1) on the way of the same
/// microbatches; nothing beyond the ends.
std::optional<StageChunk> neighbour(const ScheduleShape& shape, StageChunk position, int step);
/// Range of microbatches, [first, first + count).
struct MicrobatchRange {
    int first = 0;
    int count = 0;
};
/// Returns the microbatches that go through a chunk.
MicrobatchRange microbatches_of(const ScheduleShape& shape, int chunk);

/// Returns the bubble of equal stages without transfers by the formula of the schedule's paper: the time of
/// the longest stage from its first forward pass to its last weight gradient, less its work. Nothing if the
/// paper has no formula for the shape.
std::optional<double> known_bubble(const ScheduleShape& shape, const StageTimes& times);

/// Returns the largest number of (chunk, microbatch) that a stage holds between forward pass and weight
/// gradient, as stated by the schedule's paper.
int most_held(const ScheduleShape& shape, int stage);
/// Returns a lower bound of the number of microbatches that a stage holds in all of its chunks at one time:
/// exact for GPipe and 1F1B. It is one at least: before its first backward pass, a stage holds the first
/// microbatch in each of its chunks (in one of them if a pipeline has two copies of the network).
int least_held(const ScheduleShape& shape, int stage);

}  // namespace prismopt
