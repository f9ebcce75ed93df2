#pragma once

#include <string>

namespace prismopt {

/// "give ...": the forms of measurements that read_trace_files() reads, for messages about others.
std::string known_forms();

}  // namespace prismopt
