#include "model/registers.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace prismopt {

namespace {

int widest()
{
#if defined(__x86_64__)
    // The levels of the x86-64 ABI (x86-64-v4, -v3) by the features that on_registers() was compiled for.
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return 16;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
        return 8;
    }
#endif
    return 4;
}

/// As many, or fewer where the environment asks for that.
int used()
{
    const char* lanes = std::getenv("PRISMOPT_LANES");
    const std::string_view asked = lanes == nullptr ? "" : lanes;
    return asked == "4" ? 4 : asked == "8" ? std::min(widest(), 8) : widest();
}

}  // namespace

const int register_lanes = used();

}  // namespace prismopt
