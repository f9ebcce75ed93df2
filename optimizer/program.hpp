#pragma once

#include <string>

namespace prismopt {

/// "prismopt 0.1.0 (commit)".
std::string program_name();

/// That, and what it was built with: a line each.
std::string version_text();

}  // namespace prismopt
