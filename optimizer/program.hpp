#pragma once

#include <string>

namespace prismopt {

/// "prismopt 0.1.0 (commit)".
std::string program_name();

}  // namespace prismopt
