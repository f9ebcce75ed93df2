#pragma once

/// The built-in catalog: accelerators, network links, workloads and variability profiles, with the source of each number.

#include "io/scenario/embedded_file.hpp"
#include "model/hardware/hardware.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// The TOML files of model/catalog.
std::vector<EmbeddedFile> catalog_files();

/// Of one GPU with its share of a node, and where that is from.
struct ListPrice {
    DollarsPerSecond price;
    std::string source;
};
ListPrice list_price(const std::string& accelerator);

/// GPUs of one host of such accelerators.
int host_gpus(const std::string& accelerator);

}  // namespace prismopt
