#pragma once

/// The built-in catalog: accelerators, network links, workloads and variability profiles, with the source of each number.

#include "io/embedded_file.hpp"

#include <vector>

namespace prismopt {

/// The TOML files of model/catalog.
std::vector<EmbeddedFile> catalog_files();

}  // namespace prismopt
