#include "io/authoring/starter_machine.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/gpu_price.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

namespace prismopt {

using namespace literals;

namespace {

UsualCluster usual_cluster_of(const std::string& accelerator, const Catalog& catalog)
{
    const auto found = usual_cluster(accelerator, catalog);
    if (!found) {
        throw InputError(
            fmt::format("--accelerator {} is in the catalog, but its usual node and network are not; add "
                        "them to yours as "
                        "[usual_clusters.{}] (docs/catalog.md), or start from another accelerator and write "
                        "the tiers yourself",
                        accelerator, accelerator));
    }
    return *found;
}

std::string bits(BytesPerSecond bandwidth)
{
    return fmt::format("{:.4g} Gb/s", 8.0 * bandwidth.si / (1_GB_per_s).si);
}

/// What differs between the usual cluster of the accelerator and the instance.
void apply(const Instance& instance, UsualCluster& cluster)
{
    cluster.node_gpus = instance.node_gpus > 0 ? instance.node_gpus : instance.gpus;
    if (!instance.node_link.empty()) {
        cluster.node_link = instance.node_link;
    }
    cluster.network_link = instance.network_link;
    cluster.network = instance.network * (static_cast<double>(cluster.node_gpus) / instance.gpus);
    cluster.bridge.clear();  // clouds join no pairs beyond what an entry says
}

/// What the user gives instead of the usual.
void apply(const StarterChoice& choice, const Catalog& catalog, UsualCluster& cluster)
{
    if (choice.node_gpus > 0) {
        if (cluster.topology == Topology::torus) {
            throw InputError(fmt::format(
                "--gpus-per-node {} does not apply to a torus; leave it out, and change the shape of the "
                "first tier",
                choice.node_gpus));
        }
        cluster.node_gpus = choice.node_gpus;
    }
    if (!choice.network.empty()) {
        cluster.network_link = chosen_name("network", choice.network, catalog.names(links_kind));
    }
    const bool shared =
        cluster.network.si > 0.0 && !choice.network.empty();  // one port of the other link, too
    if (shared || choice.one_port) {
        cluster.network = catalog_link(cluster.network_link, catalog).bandwidth;
    }
}

/// What offload may take.
std::string host_line(Bytes memory)
{
    return memory.si > 0.0
               ? fmt::format("host_memory = \"{:.6g} GiB\"            # of a host, for offload\n",
                             memory.si / (1_GiB).si)
               : "# host_memory = \"512 GiB\"          # of a host: a limit on offload; default: none\n";
}

std::string remark_on(const std::string& name, const Instance& instance)
{
    const std::string memory =
        instance.host_memory.si > 0.0
            ? fmt::format(", {:.4g} GiB of host memory", instance.host_memory.si / (1_GiB).si)
            : "";
    return fmt::format("# {}: {} x {}, network of {}{}; {}\n", name, instance.gpus, instance.accelerator,
                       bits(instance.network), memory, instance.source);
}

/// A power that no public source states does not change the time of a step.
std::string power_line(const Accelerator& accelerator)
{
    return accelerator.power.si > 0.0 ? ""
                                      : "accelerator_override = { power = \"500 W (placeholder)\" }   # no "
                                        "public figure; give your own\n";
}

std::string price_line(const std::string& accelerator, const Catalog& catalog)
{
    const auto price = list_price(accelerator, catalog);
    return price ? fmt::format("# gpu_price = \"{}\"          # default: this list price: {}\n",
                               hourly(price->price), price->source)
                 : "gpu_price = \"1 USD/h (placeholder)\"  # no public list price; give your own\n";
}

std::string price_line(const std::string& name, const Instance& instance, const Catalog& catalog)
{
    const ListPrice& list = instance.list;
    if (!list.source.empty()) {
        return fmt::format("gpu_price = \"{}\"            # {}, {}: {}\n", hourly(list.price / instance.gpus),
                           name, hourly(list.price), list.source);
    }
    const auto other = list_price(instance.accelerator, catalog);
    return other ? fmt::format(
                       "# gpu_price = \"{}\"          # default, which is not the price of {}: {}; write "
                       "yours\n",
                       hourly(other->price), name, other->source)
                 : price_line(instance.accelerator, catalog);
}

/// The price that the user gives instead of the line.
std::string given_price(const StarterChoice& choice, const std::string& line)
{
    return choice.price.empty() ? line : fmt::format("gpu_price = \"{}\"\n", choice.price);
}

void refuse_untimed(const std::string& name, const Accelerator& accelerator)
{
    if (accelerator.memory_bandwidth.si <= 0.0) {
        throw InputError(fmt::format(
            "--accelerator {} has no memory_bandwidth in the catalog, as no public source states it; start "
            "from another "
            "accelerator, and give memory_bandwidth in accelerator_override (docs/accelerators.md)",
            name));
    }
}

}  // namespace

StarterMachine starter_machine(const StarterChoice& choice, const Catalog& catalog)
{
    StarterMachine machine;
    if (choice.instance.empty()) {
        machine.accelerator =
            chosen_name("accelerator", choice.accelerator, catalog.names(accelerators_kind));
        machine.cluster = usual_cluster_of(machine.accelerator, catalog);
        machine.figures = given_price(choice, price_line(machine.accelerator, catalog)) + host_line({});
    } else {
        const std::string name = chosen_name("instance", choice.instance, catalog.names(instances_kind));
        const Instance instance = catalog_instance(name, catalog);
        machine.accelerator = instance.accelerator;
        machine.cluster = usual_cluster_of(machine.accelerator, catalog);
        apply(instance, machine.cluster);
        machine.remark = remark_on(name, instance);
        machine.figures =
            given_price(choice, price_line(name, instance, catalog)) + host_line(instance.host_memory);
    }
    const Accelerator accelerator = catalog_accelerator(machine.accelerator, catalog);
    refuse_untimed(machine.accelerator, accelerator);
    machine.priced =
        !choice.price.empty() || list_price(machine.accelerator, catalog) ||
        (!choice.instance.empty() && !catalog_instance(choice.instance, catalog).list.source.empty());
    machine.figures += power_line(accelerator);
    apply(choice, catalog, machine.cluster);
    return machine;
}

std::string other_price_text(const StarterChoice& choice, const Catalog& catalog)
{
    if (choice.instance.empty() || !choice.price.empty()) {
        return "";
    }
    const std::string name = chosen_name("instance", choice.instance, catalog.names(instances_kind));
    const Instance instance = catalog_instance(name, catalog);
    const auto other = list_price(instance.accelerator, catalog);
    if (!instance.list.source.empty() || !other) {
        return "";
    }
    return fmt::format(
        "the catalog has no list price of {}: costs are at {} per GPU, the list price of another offer ({}); "
        "--price gives yours",
        name, hourly(other->price), other->source);
}

int odd_factor(int number)
{
    while (number % 2 == 0) {
        number /= 2;
    }
    return number;
}

namespace {

/// "2 nodes of 8 GPUs, and 4 GPUs of another".
std::string partial_nodes_text(int whole, int node, int rest)
{
    return fmt::format("{} of {} GPUs, and {} of another",
                       whole == 1 ? "a node" : fmt::format("{} nodes", whole), node, rest);
}

}  // namespace

UnitsInUse units_in_use(const StarterChoice& choice, const UsualCluster& cluster)
{
    const int node = cluster.node_gpus;
    const int even = static_cast<int>(std::bit_floor(static_cast<unsigned>(node)));
    if (choice.gpus <= node || cluster.topology == Topology::torus || even == node) {
        const int rest = choice.gpus % node;
        const bool partial_nodes = choice.gpus > node && rest != 0;
        return {choice.gpus, node, partial_nodes ? partial_nodes_text(choice.gpus / node, node, rest) : ""};
    }
    const bool shared_evenly = choice.global_batch == 0 || choice.global_batch % odd_factor(choice.gpus) == 0;
    if (choice.gpus % node == 0 && !shared_evenly) {
        const int domains = choice.gpus / node;
        return {domains * even, even,
                fmt::format(
                    "{} of the {} GPUs of each of {} domains: a batch of {} is not divisible among {} GPUs",
                    even, node, domains, choice.global_batch, choice.gpus)};
    }
    if (choice.gpus % node != 0 && choice.gpus % even == 0) {
        return {choice.gpus, even,
                fmt::format("{} domains, of each of which jobs use {} of the {} GPUs", choice.gpus / even,
                            even, node)};
    }
    const int rest = choice.gpus % node;
    return {choice.gpus, node, rest == 0 ? "" : partial_nodes_text(choice.gpus / node, node, rest)};
}

std::vector<int> gpu_choices(const UnitsInUse& units, int global_batch)
{
    const int unit = std::min(units.unit, units.gpus);
    std::vector<int> choices;
    for (const int divisor : {4, 2, 1}) {
        if (units.gpus % (divisor * unit) == 0) {
            choices.push_back(units.gpus / divisor);
        }
    }
    if (units.gpus % unit != 0) {
        const int whole = units.gpus / unit * unit;
        choices = {units.gpus};
        if (global_batch % odd_factor(whole) == 0) {
            choices.insert(choices.begin(), whole);
        }
    }
    return choices;
}

std::vector<int> asked_gpu_choices(const UnitsInUse& units, int global_batch)
{
    constexpr int most_divisor = 8;
    const int unit = std::min(units.unit, units.gpus);
    const auto counts = [&](int gpus) {
        return gpus % unit == 0 && global_batch % odd_factor(gpus) == 0 &&
               static_cast<std::int64_t>(gpus) * most_divisor >= units.gpus;
    };
    std::set<int> choices;
    for (const int odd : {1, 3, 9}) {
        for (std::int64_t gpus = odd; gpus <= units.gpus; gpus *= 2) {
            if (counts(static_cast<int>(gpus))) {
                choices.insert(static_cast<int>(gpus));
            }
        }
    }
    for (int numerator = 1; numerator <= most_divisor; ++numerator) {
        const std::int64_t gpus = static_cast<std::int64_t>(units.gpus) * numerator;
        if (gpus % most_divisor == 0 && counts(static_cast<int>(gpus / most_divisor))) {
            choices.insert(static_cast<int>(gpus / most_divisor));
        }
    }
    if (global_batch % odd_factor(units.gpus) == 0) {
        choices.insert(units.gpus);
    }
    return choices.empty() ? gpu_choices(units, global_batch)
                           : std::vector<int>(choices.begin(), choices.end());
}

std::vector<int> spare_choices(const UnitsInUse& units, const UsualCluster& cluster)
{
    constexpr int many_nodes = 64;  // then failures are frequent, and repairs overlap
    const int nodes = units.gpus / units.unit;
    if (cluster.topology == Topology::torus || nodes < 2 || units.gpus % units.unit != 0) {
        return {0};
    }
    return nodes < many_nodes ? std::vector{0, 1, 2} : std::vector{0, 4, 16};
}

std::string bridge_lines(const UsualCluster& cluster)
{
    constexpr int pair = 2;
    return cluster.bridge.empty() || cluster.node_gpus <= pair
               ? ""
               : fmt::format(
                     "# [[cluster.tier]]                   # if bridges join pairs of cards\n# name = "
                     "\"pair\"\n# link = \"{}\"\n"
                     "# group = {}\n\n",
                     cluster.bridge, pair);
}

std::string network_share_line(const UsualCluster& cluster, const Catalog& catalog)
{
    constexpr double rounding = 1e-9;
    const double ports = cluster.node_gpus * catalog_link(cluster.network_link, catalog).bandwidth.si;
    const bool shared = cluster.network.si > 0.0 && ports > cluster.network.si * (1.0 + rounding);
    return shared
               ? fmt::format("oversubscription = {:.4g}                # the {} GPUs of a node share {}\n",
                             ports / cluster.network.si, cluster.node_gpus, bits(cluster.network))
               : "# oversubscription = 2                # downlink over uplink bandwidth of the tier below\n";
}

std::string evidence_of(const std::string& accelerator, const Catalog& catalog)
{
    if (catalog.is_own(accelerators_kind, accelerator)) {
        return "of your own catalog";
    }
    const int rows = rows_on(fitted_model(), accelerator);
    return rows > 0 ? fmt::format("fitted to {} measured runs", rows)
                    : "declared: from data sheets, without measured runs (docs/accelerators.md)";
}

std::string chosen_name(const std::string& option, const std::string& asked,
                        const std::vector<std::string>& names)
{
    if (std::find(names.begin(), names.end(), asked) != names.end()) {
        return asked;
    }
    std::vector<std::string> matching;
    std::copy_if(names.begin(), names.end(), std::back_inserter(matching),
                 [&](const std::string& name) { return same_name(asked, name); });
    if (matching.size() == 1) {
        return matching.front();
    }
    throw InputError(fmt::format("--{} {} is not in the catalog{}; choose from: {}", option, asked,
                                 guess_of(asked, names), listed(names)));
}

}  // namespace prismopt
