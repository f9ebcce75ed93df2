#pragma once

#include <ctime>

namespace prismopt {

/// Processor time of all threads, so that what else runs on the machine does not count.
inline double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Thrown where an estimate has used its processor time.
struct OutOfTime {};

}  // namespace prismopt
