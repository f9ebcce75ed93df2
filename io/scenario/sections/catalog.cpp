#include "io/scenario/sections/catalog.hpp"

#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/sections/sections.hpp"
#include "io/scenario/sections/software.hpp"
#include "io/toml/catalog_entry.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace prismopt {

std::vector<std::string> catalog_accelerators() { return Catalog::built_in().names(accelerators_kind); }
std::vector<std::string> catalog_links() { return Catalog::built_in().names(links_kind); }
std::vector<std::string> catalog_workloads() { return Catalog::built_in().names(workloads_kind); }
std::vector<std::string> catalog_libraries() { return Catalog::built_in().names(libraries_kind); }
std::vector<std::string> catalog_variabilities() { return Catalog::built_in().names(variability_kind); }
std::vector<std::string> catalog_stacks() { return Catalog::built_in().names(stacks_kind); }

namespace {

/// An entry of the program knows from then on whose numbers it began with.
template <class Kind>
Kind traced(std::string_view kind, const std::string& name, const Fields<Kind>& fields,
            const Catalog& catalog)
{
    Kind entry = named_entry(kind, name, fields, catalog);
    entry.catalog_entry = catalog.is_own(kind, name) ? "" : name;
    return entry;
}

/// An entry of the user is known to be no measured one.
template <class Kind>
Kind marked(std::string_view kind, const std::string& name, const Fields<Kind>& fields,
            const Catalog& catalog)
{
    Kind entry = named_entry(kind, name, fields, catalog);
    entry.own = catalog.is_own(kind, name);
    return entry;
}

}  // namespace

Accelerator catalog_accelerator(const std::string& name, const Catalog& catalog)
{
    return traced(accelerators_kind, name, accelerator_fields(), catalog);
}

Workload catalog_workload(const std::string& name, const Catalog& catalog)
{
    Table table = catalog.entry(workloads_kind, name);
    table.find("sample");  // usual_sample()
    Workload result = read_network(table);
    result.name = name;
    return result;
}

NetworkTier catalog_link(const std::string& name, const Catalog& catalog)
{
    return traced(links_kind, name, link_fields(), catalog);
}

CollectiveLibrary catalog_library(const std::string& name, const Catalog& catalog)
{
    return marked(libraries_kind, name, library_fields(), catalog);
}

CollectiveLibrary library_of(const SoftwareStack& stack, const Catalog& catalog)
{
    return catalog_library(stack.collectives.empty() ? usual_library : stack.collectives, catalog);
}

SoftwareStack catalog_stack(const std::string& name, const Catalog& catalog)
{
    return marked(stacks_kind, name, stack_fields(), catalog);
}

Power catalog_power(const std::string& name, const Catalog& catalog)
{
    return named_entry(power_kind, name, power_profile_fields(), catalog);
}

Variability catalog_variability(const std::string& name, const Catalog& catalog)
{
    return read_entry(variability_kind, name, variability_profile_fields(), catalog);
}

namespace {

/// A kind of entries, with its keys, and with how one is read.
struct KindRow {
    std::string_view kind;
    std::string_view help;
    const SectionTable& (*keys)();
    void (*read)(const std::string&, const Catalog&);
};

template <class T, const Fields<T>& (*fields)()>
const SectionTable& keys_of()
{
    return fields();
}

template <auto read>
void reads(const std::string& name, const Catalog& catalog)
{
    read(name, catalog);
}

void check_links(Table entry, const Catalog& catalog)
{
    for (const char* key : {"node_link", "network_link", "bridge"}) {
        if (const auto link = entry.find(key)) {
            link->choice(catalog.names(links_kind), "links in the catalog");
        }
    }
}

void read_usual_cluster(const std::string& name, const Catalog& catalog)
{
    read_entry(usual_clusters_kind, name, usual_cluster_fields(), catalog);
    check_links(catalog.entry(usual_clusters_kind, name), catalog);
}

void read_instance(const std::string& name, const Catalog& catalog)
{
    catalog_instance(name, catalog);
    Table entry = catalog.entry(instances_kind, name);
    entry.find("accelerator")->choice(catalog.names(accelerators_kind), "accelerators in the catalog");
    check_links(std::move(entry), catalog);
}

void read_network_and_sample(const std::string& name, const Catalog& catalog)
{
    catalog_workload(name, catalog);
    usual_sample(name, catalog);
}

/// The stack of scenarios that name none has a name, too.
void read_stack_and_library(const std::string& name, const Catalog& catalog)
{
    if (name == SoftwareStack{}.name) {
        catalog.entry(stacks_kind, name)
            .fail({fmt::format("is called \"{}\"", name), "this is the name of no software in particular",
                   "choose another name"});
    }
    catalog_stack(name, catalog);
    if (const auto library = catalog.entry(stacks_kind, name).find("collectives")) {
        library->choice(catalog.names(libraries_kind), "libraries in the catalog");
    }
}

void read_software_and_constants(const std::string& name, const Catalog& catalog)
{
    for (const SoftwareRelease& release : catalog_software(name, catalog).releases) {
        software_of({name, release.name}, catalog);
    }
}

constexpr std::array kind_rows{
    KindRow{accelerators_kind, "an accelerator", keys_of<Accelerator, accelerator_fields>,
            reads<catalog_accelerator>},
    KindRow{links_kind, "a network link", keys_of<NetworkTier, link_fields>, reads<catalog_link>},
    KindRow{stacks_kind, "a software stack", keys_of<SoftwareStack, stack_fields>, read_stack_and_library},
    KindRow{software_kind, "a training program", keys_of<SoftwareEntry, software_fields>,
            read_software_and_constants},
    KindRow{libraries_kind, "a library of collectives", keys_of<CollectiveLibrary, library_fields>,
            reads<catalog_library>},
    KindRow{workloads_kind, "a network", workload_table, read_network_and_sample},
    KindRow{power_kind, "a power profile", keys_of<Power, power_profile_fields>, reads<catalog_power>},
    KindRow{variability_kind, "a profile of variability", keys_of<Variability, variability_profile_fields>,
            reads<catalog_variability>},
    KindRow{prices_kind, "the list price of an accelerator", keys_of<ListPrice, price_fields>,
            reads<list_price>},
    KindRow{hosts_kind, "the host of an accelerator", keys_of<int, host_fields>, reads<host_gpus>},
    KindRow{usual_clusters_kind, "the usual cluster of an accelerator",
            keys_of<UsualCluster, usual_cluster_fields>, read_usual_cluster},
    KindRow{instances_kind, "an instance of a cloud, or a machine of yours",
            keys_of<Instance, instance_fields>, read_instance},
};

}  // namespace

const SectionTable& catalog_table()
{
    static const SectionTable table = [] {
        SectionTable result("A catalog of your own",
                            "a file that `catalog` or `--catalog` names: entries by kind and name "
                            "([a catalog of your own](catalog.md))");
        for (const KindRow& row : kind_rows) {
            result.add(
                {.key = std::string(row.kind),
                 .help = std::string(row.help),
                 .example = fmt::format("[{}.NAME]", row.kind),
                 .shapes = {{.kind = ValueShape::Kind::section, .section = row.keys, .by_name = true}}});
        }
        return result;
    }();
    return table;
}

void refuse_wrong_entries(const Catalog& catalog)
{
    for (const KindRow& row : kind_rows) {
        for (const std::string& name : catalog.own_names(row.kind)) {
            row.read(name, catalog);
        }
    }
}

}  // namespace prismopt
