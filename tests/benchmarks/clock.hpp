#pragma once

#include <chrono>

namespace prismopt::bench {

/// Seconds that a call takes on the wall.
template <class Call>
double seconds_of(Call&& call)
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
