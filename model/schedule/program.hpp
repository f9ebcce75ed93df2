#pragma once

/// A schedule compiled to a straight line: tasks of all stages in one order that runs, with the places where results wait.
/// Depends only on the shape; shared by all designs that agree on it.

#include "model/schedule/schedule.hpp"

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace prismopt {

struct ProgramOp {
    std::uint16_t stage = 0;
    std::uint16_t chunk = 0;
    std::uint16_t microbatch = 0;
    Pass pass = Pass::forward;
    bool first_of_chunk = false;  // first forward of the chunk: waits for the chunk's parameters
    bool last_of_chunk = false;   // last weight gradient of the chunk: its gradients are complete
    std::uint32_t part = 0;       // stage * v + chunk
    std::uint32_t law = 0;        // index of its law: part * Program::passes + pass
    // Slots, `Program::start` where there is no such op:
    std::int32_t in = 0;      // with the end of the op on the neighbouring chunk that feeds this one
    std::int32_t before = 0;  // with the end of the stage's op before this one
    std::int32_t out = 0;     // for its own end; may be one of the two
};

/// Passes of microbatches that a stage keeps tensors of at one time, over all its chunks.
struct HeldPasses {
    int saved = 0;  // from forward to the gradient of the input
    int held = 0;   // from there to that of the weights, where it comes later
};

struct Program {
    /// The slot of the time at which the step starts.
    static constexpr std::int32_t start = 0;

    ScheduleShape shape;
    // Every op after all that it waits for; of a pair the forward takes no time, the backward that of both.
    std::vector<ProgramOp> ops;
    int passes = 2;                                  // the ops' passes are below it
    std::int32_t slots = 0;                          // reused as soon as all have read them: the live state of a run
    std::vector<std::int32_t> last;                  // [stage]: slot with the end of its last op
    std::vector<std::vector<HeldPasses>> most_held;  // [stage]: the largest, none of them less than another in both
};

/// The compiled schedule, from a cache of this thread; or why there is none. A schedule whose tasks wait for each other in a
/// circle is infeasible too ("schedule deadlocks").
using CompiledProgram = std::variant<std::shared_ptr<const Program>, Infeasible>;
CompiledProgram compiled_program(const ScheduleShape& shape);

/// The same without the cache.
CompiledProgram compile_program(const ScheduleShape& shape, const TaskOrders& orders);

}  // namespace prismopt
