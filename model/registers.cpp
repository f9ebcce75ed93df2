#include "model/registers.hpp"

#include <algorithm>
#include <cstdlib>

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

int asked_for()
{
    const char* lanes = std::getenv("PRISMOPT_LANES");
    return lanes == nullptr ? widest() : std::atoi(lanes);
}

}  // namespace

const int register_lanes = asked_for() >= 16 ? widest() : asked_for() >= 8 ? std::min(widest(), 8) : 4;

}  // namespace prismopt
