#include "io/scenario/sections/catalog.hpp"

#include "io/scenario/sections/sections.hpp"
#include "io/toml/catalog_file.hpp"

namespace prismopt {

namespace {

constexpr const char* accelerators = "accelerators.toml";
constexpr const char* links = "links.toml";
constexpr const char* libraries = "libraries.toml";
constexpr const char* workloads = "workloads.toml";
constexpr const char* variabilities = "variability.toml";
constexpr const char* stacks = "stacks.toml";
constexpr const char* powers = "power.toml";

}  // namespace

std::vector<std::string> catalog_accelerators() { return catalog_names(accelerators); }
std::vector<std::string> catalog_links() { return catalog_names(links); }
std::vector<std::string> catalog_libraries() { return catalog_names(libraries); }
std::vector<std::string> catalog_workloads() { return catalog_names(workloads); }
std::vector<std::string> catalog_variabilities() { return catalog_names(variabilities); }
std::vector<std::string> catalog_stacks() { return catalog_names(stacks); }
std::vector<std::string> catalog_powers() { return catalog_names(powers); }

/// The entry of that name, which knows from then on whose numbers it began with.
template <class Kind>
Kind traced(Kind entry)
{
    entry.catalog_entry = entry.name;
    return entry;
}

Accelerator catalog_accelerator(const std::string& name) { return traced(named_entry(accelerators, name, accelerator_fields())); }

Workload catalog_workload(const std::string& name)
{
    Table table = catalog_entry(workloads, name);
    table.find("sample");  // usual_sample()
    Workload result = read_network(table);
    result.name = name;
    return result;
}

NetworkTier catalog_link(const std::string& name) { return traced(named_entry(links, name, link_fields())); }

CollectiveLibrary catalog_library(const std::string& name) { return named_entry(libraries, name, library_fields()); }

CollectiveLibrary library_of(const SoftwareStack& stack)
{
    return catalog_library(stack.collectives.empty() ? usual_library : stack.collectives);
}

SoftwareStack catalog_stack(const std::string& name) { return named_entry(stacks, name, stack_fields()); }

Power catalog_power(const std::string& name) { return named_entry(powers, name, power_profile_fields()); }

Variability catalog_variability(const std::string& name) { return read_entry(variabilities, name, variability_profile_fields()); }

}  // namespace prismopt
