#pragma once

/// Pipeline schedules: the order in which each stage works on microbatches and chunks. docs/methods/step-graph.md.
///
/// A schedule is a row in a table of model/schedule/orders/: a function that orders the tasks of one stage, the placement of its
/// chunks in the network, and the bubble and memory that its paper states.

#include "model/plan/plan.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace prismopt {

/// Passes over a chunk. `backward` computes both gradients; schedules that split it have the gradient of the input (B), which the
/// stage before waits for, and that of the weights (W), which only the optimizer needs. Paired passes are a forward pass of one
/// microbatch and a backward pass of another, each with its collectives beside the other's compute (DualPipe).
enum class Pass : std::uint8_t { forward, backward, input_gradient, weight_gradient, paired_forward, paired_backward };

constexpr bool is_forward(Pass pass) { return pass == Pass::forward || pass == Pass::paired_forward; }
/// Returns whether the pass sends a gradient to the chunk before.
constexpr bool gives_input_gradient(Pass pass) { return !is_forward(pass) && pass != Pass::weight_gradient; }
/// Returns whether the pass ends the work on a microbatch of a chunk.
constexpr bool gives_weight_gradient(Pass pass) { return !is_forward(pass) && pass != Pass::input_gradient; }

/// One pass of one microbatch over one chunk of a stage.
struct Task {
    Pass pass = Pass::forward;
    std::uint16_t chunk = 0;
    std::uint16_t microbatch = 0;

    auto operator<=>(const Task&) const = default;
};

/// Shape of a schedule: p stages, m microbatches, v chunks per stage.
struct ScheduleShape {
    Schedule schedule = Schedule::one_f_one_b;
    int stages = 1;
    int microbatches = 1;
    int chunks = 1;
    int group = 0;  // N of interleaved: consecutive microbatches of a chunk; 0: p

    auto operator<=>(const ScheduleShape&) const = default;
};

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

/// Assignment of the network's parts to stages. `loops`: part k is chunk k / p of stage k mod p. `vee`: the second chunks go
/// back, from the last stage to the first. `both_ways`: two copies of the network, the first chunks of all stages from first to
/// last, the second from last to first; half of the microbatches go through each.
enum class ChunkMap { loops, vee, both_ways };
ChunkMap chunk_map(Schedule schedule);

/// Returns the part of the network at a place.
int part_of_network(const ScheduleShape& shape, StageChunk position);
/// Returns the place of the part before (`step` -1) or after (1) on the way of the same microbatches; nothing beyond the ends.
std::optional<StageChunk> neighbour(const ScheduleShape& shape, StageChunk position, int step);
/// Range of microbatches, [first, first + count).
struct MicrobatchRange {
    int first = 0;
    int count = 0;
};
/// Returns the microbatches that go through a chunk.
MicrobatchRange microbatches_of(const ScheduleShape& shape, int chunk);

/// Seconds of a whole stage per microbatch.
struct StageTimes {
    double forward = 1.0;
    double input_gradient = 1.0;
    double weight_gradient = 1.0;

    double sum() const { return forward + input_gradient + weight_gradient; }
    auto operator<=>(const StageTimes&) const = default;
};

/// Returns the bubble of equal stages without transfers by the formula of the schedule's paper: the time of the longest stage
/// from its first forward pass to its last weight gradient, less its work. Nothing if the paper has no formula for the shape.
std::optional<double> known_bubble(const ScheduleShape& shape, const StageTimes& times);

/// Returns the largest number of (chunk, microbatch) that a stage holds between forward pass and weight gradient, as stated by
/// the schedule's paper.
int most_held(const ScheduleShape& shape, int stage);
/// Returns a lower bound of the number of microbatches that a stage holds in all of its chunks at one time: exact for GPipe and
/// 1F1B. It is one at least: before its first backward pass, a stage holds the first microbatch in each of its chunks (in one of
/// them if a pipeline has two copies of the network).
int least_held(const ScheduleShape& shape, int stage);

}  // namespace prismopt
