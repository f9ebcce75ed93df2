#pragma once

/// Lines of text files.

#include "io/traces/trace_stream.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace prismopt {

/// Calls `line` with each line and its number. Throws InputError for more than 256 MB: `what`, such as
/// "list of outages", is smaller.
void for_each_line(TraceStream& stream, const std::string& path, const char* what,
                   const std::function<void(const std::string& line, std::uint32_t number)>& line);

}  // namespace prismopt
