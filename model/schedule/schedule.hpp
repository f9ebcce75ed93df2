#pragma once

/// Pipeline schedules: for each stage, the order in which it works on microbatches and chunks.
///
/// A schedule is a row in model/schedule/orders/rules.hpp: a function that orders one stage's tasks, where its chunks sit in the
/// network, and what its paper promises.

#include "model/plan/plan.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace prismopt {

/// `backward` computes both gradients; schedules that split it have the input's gradient (B), which the stage before waits for,
/// and the weights' (W), which only the optimizer needs. Paired passes are a forward of one microbatch and a backward of another
/// whose collectives run beside the other's compute (DualPipe).
enum class Pass : std::uint8_t { forward, backward, input_gradient, weight_gradient, paired_forward, paired_backward };

constexpr bool is_forward(Pass pass) { return pass == Pass::forward || pass == Pass::paired_forward; }
/// Hands a gradient to the chunk before.
constexpr bool gives_input_gradient(Pass pass) { return !is_forward(pass) && pass != Pass::weight_gradient; }
/// Ends the work on a microbatch of a chunk.
constexpr bool gives_weight_gradient(Pass pass) { return !is_forward(pass) && pass != Pass::input_gradient; }

struct Task {
    Pass pass = Pass::forward;
    std::uint16_t chunk = 0;
    std::uint16_t microbatch = 0;

    auto operator<=>(const Task&) const = default;
};

/// What a schedule is asked for: p stages, m microbatches, v chunks a stage.
struct ScheduleShape {
    Schedule schedule = Schedule::one_f_one_b;
    int stages = 1;
    int microbatches = 1;
    int chunks = 1;
    int group = 0;  // N of interleaved: microbatches of a chunk in a row; 0: p

    auto operator<=>(const ScheduleShape&) const = default;
};

/// Of a plan in a phase with this global batch.
ScheduleShape schedule_shape(const ParallelPlan& plan, int global_batch);

using TaskOrders = std::vector<std::vector<Task>>;  // [stage], each in the order it runs

/// Orders of all stages, or why the schedule is not defined for the shape.
std::variant<TaskOrders, Infeasible> task_orders(const ScheduleShape& shape);

/// Why the schedule is not defined for the shape, or nothing.
std::optional<Infeasible> undefined(const ScheduleShape& shape);

/// Whether every backward of the schedule is split, as those of the zero-bubble schedules are.
bool splits_backward(Schedule schedule);

/// A place that holds a part of the network.
struct Seat {
    int stage = 0;
    int chunk = 0;

    bool operator==(const Seat&) const = default;
};

/// How the network's parts are dealt to stages. `loops`: part k is chunk k / p of stage k mod p. `vee`: the second chunk goes back,
/// from the last stage to the first. `both_ways`: two copies of the network, the first chunks of all stages from first to last, the
/// second from last to first; half of the microbatches go through each.
enum class ChunkMap { loops, vee, both_ways };
ChunkMap chunk_map(Schedule schedule);

/// Which of the network's parts a seat holds.
int part_of_network(const ScheduleShape& shape, Seat seat);
/// The seat of the part before (`step` -1) or after (1) on the way of the same microbatches; nothing beyond the ends.
std::optional<Seat> neighbour(const ScheduleShape& shape, Seat seat, int step);
/// Microbatches that go through a chunk are [first, first + count).
struct MicrobatchRange {
    int first = 0;
    int count = 0;
};
MicrobatchRange microbatches_of(const ScheduleShape& shape, int chunk);

/// Seconds that a whole stage works on one microbatch.
struct StageTimes {
    double forward = 1.0;
    double input_gradient = 1.0;
    double weight_gradient = 1.0;

    double sum() const { return forward + input_gradient + weight_gradient; }
    auto operator<=>(const StageTimes&) const = default;
};

/// Bubble of equal stages without transfers, as the schedule's paper gives it: what the longest stage's time from its first forward
/// to its last weight gradient has beyond its work. Nothing where the paper has no formula for the shape.
std::optional<double> known_bubble(const ScheduleShape& shape, const StageTimes& times);

/// The most (chunk, microbatch) that a stage holds between forward and weight gradient: what the schedule promises.
int most_held(const ScheduleShape& shape, int stage);

}  // namespace prismopt
