#pragma once

/// JSON Schema of scenario files, for editors that complete and check TOML.

#include <string>

namespace prismopt {

/// JSON Schema draft 7: keys, value types and catalog names. Rules that involve several keys
/// are checked by the reader only.
std::string scenario_schema();

}  // namespace prismopt
