#pragma once

/// Names of machines in tables of measured runs.

#include <string>

namespace prismopt {

/// Returns the accelerator of the catalog that a table names by this text, as a whole and without regard to case; empty if the
/// catalog does not know the text (model/catalog/machine_names.toml).
std::string accelerator_named(const std::string& text);

}  // namespace prismopt
