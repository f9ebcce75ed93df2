#pragma once

/// Memory of this process.

#include <sys/resource.h>

#include <optional>

namespace prismopt {

/// The most that it has had in memory so far.
inline double peak_memory_bytes()
{
    constexpr double kibibyte = 1024.0;  // unit of ru_maxrss: getrusage(2)
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return kibibyte * static_cast<double>(use.ru_maxrss);
}

/// Limit of its address space, as `ulimit -v` and some batch systems set it.
inline std::optional<double> memory_limit_bytes()
{
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return std::nullopt;
    }
    return static_cast<double>(limit.rlim_cur);
}

}  // namespace prismopt
