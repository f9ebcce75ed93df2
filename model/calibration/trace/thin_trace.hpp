#pragma once

/// Fewer operations of a long trace that tell as much.

#include "model/calibration/trace/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prismopt {

/// About so many operations of some steps of a sorted trace, or fewer: of fewer microbatches (and numbers of each kind), two at least; then
/// of fewer replicas, `least_replicas` at least; then of fewer steps, evenly spaced. Steps go last: few draws tell how they vary.
Trace thin_trace(const Trace& trace, std::vector<std::int32_t> steps, std::size_t most);

inline constexpr int least_replicas = 16;

}  // namespace prismopt
