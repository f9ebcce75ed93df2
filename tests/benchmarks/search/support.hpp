#pragma once

/// What the parts of the study share: folders of scenarios, and a stopwatch.

#include <chrono>
#include <string>

namespace prismopt::bench {

inline const std::string here = std::string(PRISMOPT_SOURCE_DIR) + "/tests/benchmarks/search/scenarios/";
inline const std::string shipped = std::string(PRISMOPT_SOURCE_DIR) + "/jobs/scenarios/";

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace prismopt::bench
