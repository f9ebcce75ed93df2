#include "model/base/registers.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace prismopt {

namespace {

/// The levels of the x86-64 ABI that on_registers() is compiled for.
#if defined(__x86_64__) && defined(__clang__)  // which does not know them by name
bool has_level_4()
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
bool has_level_3()
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
#elif defined(__x86_64__)
bool has_level_4() { return __builtin_cpu_supports("x86-64-v4"); }
bool has_level_3() { return __builtin_cpu_supports("x86-64-v3"); }
#else
bool has_level_4() { return false; }
bool has_level_3() { return false; }
#endif

int widest()
{
    if (has_level_4()) {
        return 16;
    }
    return has_level_3() ? 8 : 4;
}

/// As many, or fewer where the environment asks for that.
int used()
{
    const char* lanes = std::getenv("PRISMOPT_LANES");
    const std::string_view asked = lanes == nullptr ? "" : lanes;
    if (asked == "4") {
        return 4;
    }
    return asked == "8" ? std::min(widest(), 8) : widest();
}

}  // namespace

const int register_lanes = used();

}  // namespace prismopt
