#pragma once

#include <string>

namespace prismopt {

/// Release ("0.1.0"), commit and compiler of this build.
std::string release();
std::string commit();
std::string compiler();

/// "prismopt 0.1.0 (commit)".
std::string program_name();

}  // namespace prismopt
