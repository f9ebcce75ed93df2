#pragma once

/// JSON Schema of scenario files, for editors that complete and check TOML.

#include <string>

namespace prismopt {

/// Draft 7. Keys, kinds of values and names of the catalog; what depends on several keys only the reader checks.
std::string scenario_schema();

}  // namespace prismopt
