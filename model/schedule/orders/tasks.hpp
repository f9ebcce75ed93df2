#pragma once

/// What an order of tasks consists of: passes of microbatches over the chunks of a
/// stage. docs/methods/step-graph.md.

#include "model/plan/plan.hpp"

#include <compare>
#include <cstdint>

namespace prismopt {

/// Passes over a chunk. `backward` computes both gradients; schedules that split it have the gradient of the
/// input (B), which the stage before waits for, and that of the weights (W), which only the optimizer needs.
/// Paired passes are a forward pass of one microbatch and a backward pass of another, each with its
/// collectives beside the other's compute (DualPipe).
enum class Pass : std::uint8_t {
    forward,
    backward,
    input_gradient,
    weight_gradient,
    paired_forward,
    paired_backward
};

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

/// Assignment of the network's parts to stages. `loops`: part k is chunk k / p of stage k mod p.
/// `vee`: the second chunks go back, from the last stage to the first. `both_ways`: two copies of the
/// network, the first chunks of all stages from first to last, the second from last to first; half of
/// the microbatches go through each.
enum class ChunkMap { loops, vee, both_ways };

/// Seconds of a whole stage per microbatch.
struct StageTimes {
    double forward = 1.0;
    double input_gradient = 1.0;
    double weight_gradient = 1.0;

    double sum() const { return forward + input_gradient + weight_gradient; }
    auto operator<=>(const StageTimes&) const = default;
};

}  // namespace prismopt
