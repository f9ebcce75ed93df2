#pragma once

#include <string>

namespace prismopt {

/// Release ("0.1.0") and commit of this build.
std::string release();
std::string commit();

/// "prismopt 0.1.0 (commit)".
std::string program_name();

/// Program name, compiler and libraries, one per line.
std::string version_text();

}  // namespace prismopt
