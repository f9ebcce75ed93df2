#pragma once

/// Accelerators, network links, libraries, stacks, networks, power and variability profiles of the catalog:
/// of the program's, or of one with a user's entries.

#include "io/toml/catalog.hpp"
#include "model/distribution/variability.hpp"
#include "model/hardware/hardware.hpp"
#include "model/hardware/power.hpp"
#include "model/network/workload.hpp"

#include <string>
#include <vector>

namespace prismopt {

// Kinds of entries, by which Catalog finds them.
inline constexpr std::string_view accelerators_kind = "accelerators";
inline constexpr std::string_view links_kind = "links";
inline constexpr std::string_view libraries_kind = "libraries";
inline constexpr std::string_view stacks_kind = "stacks";
inline constexpr std::string_view workloads_kind = "workloads";
inline constexpr std::string_view power_kind = "power";
inline constexpr std::string_view variability_kind = "variability";

/// Names of the program's entries, for messages and `--help`.
std::vector<std::string> catalog_accelerators();
std::vector<std::string> catalog_links();
std::vector<std::string> catalog_libraries();
std::vector<std::string> catalog_workloads();
std::vector<std::string> catalog_stacks();
std::vector<std::string> catalog_variabilities();
/// An entry; throws InputError with the nearest names. A user's accelerator or link is
/// of no entry that the fit knows.
Accelerator catalog_accelerator(const std::string& name, const Catalog& catalog = Catalog::built_in());
Workload catalog_workload(const std::string& name, const Catalog& catalog = Catalog::built_in());
/// group_gpus and oversubscription are set by the scenario.
NetworkTier catalog_link(const std::string& name, const Catalog& catalog = Catalog::built_in());
Variability catalog_variability(const std::string& name, const Catalog& catalog = Catalog::built_in());
SoftwareStack catalog_stack(const std::string& name, const Catalog& catalog = Catalog::built_in());
/// The library of collectives of clusters that name none: the newest release.
inline constexpr const char* usual_library = "nccl";
/// The library of the stack's containers.
CollectiveLibrary library_of(const SoftwareStack& stack, const Catalog& catalog = Catalog::built_in());
CollectiveLibrary catalog_library(const std::string& name, const Catalog& catalog = Catalog::built_in());
Power catalog_power(const std::string& name, const Catalog& catalog = Catalog::built_in());

class SectionTable;
/// The keys of a file of the user.
const SectionTable& catalog_table();

/// Reads each entry of the user, so that a mistake is found before the entry is used. Throws InputError.
void refuse_wrong_entries(const Catalog& catalog);

}  // namespace prismopt
