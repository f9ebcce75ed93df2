#pragma once

#include <chrono>
#include <ctime>

namespace prismopt::bench {

/// Seconds of this thread's processor that a call takes: what other programs take is not counted.
template <class Call>
double seconds_of(Call&& call)
{
    const auto now = [] {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    };
    const double start = now();
    call();
    return now() - start;
}

/// Seconds on the wall, for what several threads do.
template <class Call>
double wall_seconds_of(Call&& call)
{
    const auto start = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The compiler may not drop what wrote this.
template <class T>
void keep(T& value)
{
    asm volatile("" : : "r"(&value) : "memory");
}

}  // namespace prismopt::bench
