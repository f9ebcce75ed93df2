#pragma once

/// A compiled schedule: the tasks of all stages in one executable order, with slots for their end times.
/// Depends only on the shape; shared by all designs with that shape.

#include "model/schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace prismopt {

/// One op of a program.
struct ProgramOp {
    std::uint16_t stage = 0;
    std::uint16_t chunk = 0;
    std::uint16_t microbatch = 0;
    Pass pass = Pass::forward;
    bool first_of_chunk = false;     // first forward of the chunk: waits for the chunk's parameters
    bool last_of_chunk = false;      // last weight gradient of the chunk: its gradients are complete
    std::uint32_t stage_chunk = 0;   // stage * v + chunk
    std::uint32_t distribution = 0;  // index of its duration: part * Program::passes + pass
    // Slots of end times; `Program::start` if there is no such op:
    std::int32_t in = 0;      // of the op on the neighbouring chunk that feeds this one
    std::int32_t before = 0;  // of the stage's op before this one
    std::int32_t out = 0;     // of this op; may equal one of the two
};

/// Numbers of microbatch passes whose tensors a stage holds at one time, over all its chunks.
struct HeldPasses {
    int saved = 0;  // from the forward pass to the gradient of the input
    int held = 0;   // from there to the gradient of the weights, if that comes later
};

/// Consecutive ops that do the same again and again, once the pipeline is full: ops[i] and
/// ops[i + period] are of the same part and pass and wait for ops as far before them, for first <= i <
/// end - period. Each stage has an op in a period.
struct Repeats {
    std::size_t first = 0;
    std::size_t end = 0;
    std::size_t period = 0;
    std::size_t omitted = 0;  // further repetitions, which a shortened program lacks

    std::size_t count() const { return (end - first) / period; }
};

/// A compiled schedule.
struct Program {
    /// Slot of the start time of the step.
    static constexpr std::int32_t start = 0;

    ScheduleShape shape;
    // Every op follows all ops that it waits for. In a pair, the forward pass takes no time and
    // the backward pass that of both.
    std::vector<ProgramOp> ops;
    int passes = 2;                       // passes of ops are below this number
    std::vector<std::uint32_t> fed_by;    // [op]: the op that feeds it is so many ops before it; 0: none
    std::uint32_t longest_wait = 0;       // largest distance in fed_by
    std::vector<Repeats> repeats;         // in their order
    std::vector<std::uint32_t> op_count;  // [distribution]: number of its ops
    std::int32_t slots = 0;  // number of slots, reused as soon as all readers are done; shortened: zero
    std::vector<std::int32_t> last;                  // [stage]: slot with the end of its last op
    std::vector<std::vector<HeldPasses>> most_held;  // [stage]: maxima over time, without dominated ones
    std::size_t omitted = 0;                         // ops that a shortened program lacks

    /// Returns the number of ops of one microbatch per stage, which fill the pipeline.
    std::size_t ops_of_pipeline() const { return (ops.size() + omitted) / shape.microbatches * shape.stages; }

    /// Returns the number of repetitions that a shortened program lacks: as many others stay as fill the
    /// pipeline four times, and all that an op behind them may wait for.
    std::size_t spare(const Repeats& repeated) const;
};

/// A compiled schedule, or the reason why there is none.
using CompiledProgram = std::variant<std::shared_ptr<const Program>, Infeasible>;
/// Returns the compiled schedule, from a cache of this thread. A schedule that deadlocks is
/// infeasible ("schedule deadlocks").
CompiledProgram compiled_program(const ScheduleShape& shape);

/// Returns the same program, from another cache, without its spare repetitions, and without slots of ends:
/// for the noise-free step, paths and memory, which are those of the whole program to the last bit. It takes
/// little memory however many microbatches there are.
CompiledProgram shortened_program(const ScheduleShape& shape);

/// Compiles a schedule without the cache.
CompiledProgram compile_program(const ScheduleShape& shape, const TaskOrders& orders);

}  // namespace prismopt
