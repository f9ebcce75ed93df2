#pragma once

/// Where the ops of a schedule repeat.

#include "model/schedule/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Returns stretches of ops that repeat at least four times, as long as they can be. Looks at a
/// few places only: schedules repeat for most of their length, once or twice (all forward
/// passes, then all backward passes).
std::vector<Repeats> find_repeats(std::span<const ProgramOp> ops, std::span<const std::uint32_t> fed_by,
                                  int stages);

}  // namespace prismopt
