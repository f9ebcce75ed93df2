#pragma once

/// The table of kernel names: rows of users' files, then those of the catalog.

#include "model/calibration/records/kernel_names.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Reads files in the format of model/catalog/kernel_names.toml. Throws InputError
/// with the line for other content.
KernelNames kernel_names(const std::vector<std::string>& paths);

}  // namespace prismopt
