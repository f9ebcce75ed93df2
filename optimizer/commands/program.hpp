#pragma once

#include <string>

namespace prismopt {

/// "0.1.0", and the commit that was built.
std::string release();
std::string commit();

/// "prismopt 0.1.0 (commit)".
std::string program_name();

/// That, and what it was built with: a line each.
std::string version_text();

}  // namespace prismopt
