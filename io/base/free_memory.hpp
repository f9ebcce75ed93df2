#pragma once

/// Memory of this process, and what it may still get.

#include <cstdint>

namespace prismopt {

/// Bytes that this process holds in memory; 0 where the system does not say.
std::uint64_t resident_memory();

/// Bytes that it may still take: what the machine has available, less where its control groups or its limit
/// of address space allow less. The largest number where the system does not say.
std::uint64_t free_memory();

}  // namespace prismopt
