#pragma once

/// Accelerators, network links, libraries, stacks, networks, power and variability profiles of the built-in catalog.

#include "model/distribution/variability.hpp"
#include "model/hardware/hardware.hpp"
#include "model/hardware/power.hpp"
#include "model/network/workload.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Names of the built-in catalog entries, for messages and `--help`.
std::vector<std::string> catalog_accelerators();
std::vector<std::string> catalog_links();
std::vector<std::string> catalog_libraries();
std::vector<std::string> catalog_workloads();
std::vector<std::string> catalog_variabilities();
std::vector<std::string> catalog_stacks();
std::vector<std::string> catalog_powers();
/// A catalog entry; throws InputError with the nearest names.
Accelerator catalog_accelerator(const std::string& name);
Workload catalog_workload(const std::string& name);
NetworkTier catalog_link(const std::string& name);  // group_gpus and oversubscription are set by the scenario
Variability catalog_variability(const std::string& name);
SoftwareStack catalog_stack(const std::string& name);
/// The library of collectives of clusters that name none: the newest release.
inline constexpr const char* usual_library = "nccl";
/// The library of the stack's containers.
CollectiveLibrary library_of(const SoftwareStack& stack);
CollectiveLibrary catalog_library(const std::string& name);
Power catalog_power(const std::string& name);

}  // namespace prismopt
