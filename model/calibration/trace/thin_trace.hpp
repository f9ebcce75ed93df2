#pragma once

/// Thinning of long traces.

#include "model/calibration/trace/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prismopt {

/// Returns about `most` operations, or fewer, of the given steps of a sorted trace: of fewer microbatches
/// (and operations of each kind), at least two; then of fewer replicas, at least `least_replicas`; then of
/// fewer steps, evenly spaced. Steps go last, because there are few of them to estimate their variance.
Trace thin_trace(const Trace& trace, std::vector<std::int32_t> steps, std::size_t most);

inline constexpr int least_replicas = 16;

}  // namespace prismopt
