#pragma once

/// Errors in logs that state a lack of memory.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

enum class MemoryOf { gpu, host };

/// The first such error of a log.
struct OutOfMemory {
    MemoryOf of = MemoryOf::gpu;
    std::int64_t line = 0;  // of the log
    std::string text;       // from its name on, up to the first character beyond ASCII; shortened
};

/// Nothing: this line states none. `number`: of the line.
std::optional<OutOfMemory> out_of_memory_in(std::string_view line, std::int64_t number);

}  // namespace prismopt
