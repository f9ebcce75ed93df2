#pragma once

/// The built-in catalog: accelerators, network links, workloads and variability profiles, with the source of each number.

#include <string>
#include <vector>

namespace prismopt {

/// One TOML file of model/catalog, embedded in the program.
struct CatalogFile {
    std::string name;
    std::string text;
};

std::vector<CatalogFile> catalog_files();

}  // namespace prismopt
