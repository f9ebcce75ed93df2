#pragma once

/// The one parallel loop over the threads of a process, and what long-running work calls between its steps.

#include <cstdint>
#include <functional>

namespace prismopt {

/// Threads that parallel_for() uses: OMP_NUM_THREADS, or all processors of the process.
int parallel_threads();

/// Calls body(thread, i) for each i below `count`, on all threads, each i as soon as a thread is free;
/// `thread` counts from 0. Results must not depend on which thread computes them. A call from inside `body`
/// runs on the calling thread only.
void parallel_for(std::int64_t count, const std::function<void(int thread, std::int64_t i)>& body);

/// Function that long-running work calls several times per second. It throws to cancel the work; what it
/// throws passes through.
using Pause = std::function<void()>;

}  // namespace prismopt
