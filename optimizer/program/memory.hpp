#pragma once

/// Memory of this process.

#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

/// The most that it has had in memory so far; 0: unknown. (getrusage(2) also
/// counts the process that started it.)
inline double peak_memory_bytes()
{
    constexpr double kibibyte = 1024.0;  // unit of that file: proc_pid_status(5)
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) {
            return kibibyte * std::strtod(line.c_str() + std::string_view("VmHWM:").size(), nullptr);
        }
    }
    return 0.0;
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
