#pragma once

/// Facts of the catalog beside its accelerators, links, networks and stacks, with the source of each number.

#include "io/toml/catalog.hpp"
#include "io/toml/fields.hpp"
#include "model/base/units.hpp"
#include "model/hardware/hardware.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

// Kinds of entries, by which Catalog finds them.
inline constexpr std::string_view prices_kind = "prices";
inline constexpr std::string_view hosts_kind = "hosts";
inline constexpr std::string_view usual_clusters_kind = "usual_clusters";
inline constexpr std::string_view instances_kind = "instances";

/// List price per GPU with its share of the node, with its source.
struct ListPrice {
    DollarsPerSecond price;
    std::string source;

    bool operator==(const ListPrice&) const = default;
};
const Fields<ListPrice>& price_fields();
/// Nothing where no public source has one.
std::optional<ListPrice> list_price(const std::string& accelerator,
                                    const Catalog& catalog = Catalog::built_in());

/// A published training with what its authors say of spikes of the loss.
struct BatchRun {
    std::string name;
    double parameters = 0.0;     // all of a mixture of experts
    double batch = 0.0;          // the largest, tokens
    double epsilon = 0.0;        // of Adam; 0: not stated
    double learning_rate = 0.0;  // peak, of Adam; 0: none
    bool stable = false;         // as its authors judge
    std::string report;
    std::string source;
};
std::vector<BatchRun> batch_runs();

/// RMS deviation of an operator's result from FP64, in units of the RMS of that.
struct FormatDeviation {
    double forward = 0.0;
    double backward = 0.0;  // of gradients
};
/// Of products of linear layers in a number format, as measured by `prismopt numerics`.
FormatDeviation linear_deviation(const std::string& format);
/// Of attention with operands in a number format: kernel "plain" or "flash".
FormatDeviation attention_deviation(const std::string& format, const std::string& kernel);

/// What a step's batch counts of a catalog network.
struct UsualSample {
    std::string name = "sequence";
    int tokens = 4096;     // its length
    int batch = 0;         // samples per step in its training; 0: not stated
    std::string target{};  // what it learns of them, where networks differ in that; empty: not stated
};
UsualSample usual_sample(const std::string& workload, const Catalog& catalog = Catalog::built_in());

/// Batch of the published training of a catalog network.
struct PublishedBatch {
    double samples = 0.0;     // per step
    std::string source = {};  // empty: the comment of the network's entry has it
};
/// That of the network's entry or, of the program's networks, the largest of the run of that name.
/// `tokens`: of a sample. Nothing where neither states one.
std::optional<PublishedBatch> published_batch(const std::string& workload, int tokens,
                                              const Catalog& catalog = Catalog::built_in());

/// What an accelerator usually comes with.
struct UsualCluster {
    int node_gpus = 1;         // that its link joins
    std::string node_link;     // of links.toml
    std::string network_link;  // between these
    BytesPerSecond network;    // of all ports of a node together; zero: each GPU has a port of its own
    std::string bridge;        // link of pairs of cards that some nodes have; empty: none
    Topology topology = Topology::switched;
    int axes = 0;  // of a torus
    int ring = 0;  // its axes of so many or more are closed
};
const Fields<UsualCluster>& usual_cluster_fields();
/// The entry with the most words of the accelerator's name; nothing for an
/// accelerator of which none is known.
std::optional<UsualCluster> usual_cluster(const std::string& accelerator,
                                          const Catalog& catalog = Catalog::built_in());

/// An instance that a cloud rents.
struct Instance {
    std::string accelerator;
    int gpus = 0;
    int node_gpus = 0;         // that a link joins; 0: those of the instance
    std::string node_link;     // that joins them; empty: the usual one of the accelerator
    std::string network_link;  // between these
    BytesPerSecond network;    // of all adapters together
    Bytes host_memory;         // zero: not stated
    ListPrice list;            // of the instance; zero: not stated
    std::string source;        // of these facts
};
const Fields<Instance>& instance_fields();
Instance catalog_instance(const std::string& name, const Catalog& catalog = Catalog::built_in());

const Fields<int>& host_fields();
/// GPUs per host with this accelerator.
int host_gpus(const std::string& accelerator, const Catalog& catalog = Catalog::built_in());
/// The same for an accelerator that may be changed; 0: the catalog does not say.
int gpus_of_host(const Accelerator& accelerator, const Catalog& catalog);

}  // namespace prismopt
