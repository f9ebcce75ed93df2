#include "io/scenario/catalog_facts.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/catalog_entry.hpp"
#include "io/toml/catalog_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

UsualSample usual_sample(const std::string& workload, const Catalog& catalog)
{
    static const auto fields =
        Fields<UsualSample>("sample", "what a batch counts")
            .text("name", &UsualSample::name, "image", "what it is")
            .required()
            .integer("tokens", &UsualSample::tokens, {"its tokens", 1, 1e7, "256"})
            .required()
            .integer("batch", &UsualSample::batch, {"samples per step in its training", 1, 1e7, "2048"})
            .text("target", &UsualSample::target, "classes", "what it learns of them");
    UsualSample result;
    if (const auto sample = catalog.entry("workloads", workload).find("sample")) {
        Table table = sample->table(fields.example());
        fields.read_whole(table, Keys::all, result);
    }
    return result;
}

std::vector<BatchRun> batch_runs()
{
    static const auto fields =
        Fields<BatchRun>("a run", "a published training")
            .number("parameters", &BatchRun::parameters, {"parameters", 1e6, 1e14, "405e9"})
            .required()
            .number("batch", &BatchRun::batch, {"tokens per step", 1, 1e12, "16.8e6"})
            .required()
            .number("learning_rate", &BatchRun::learning_rate, {"peak learning rate", 0, 1, "8e-5"})
            .number("epsilon", &BatchRun::epsilon, {"epsilon of Adam", 0, 1, "1e-8"})
            .flag("stable", &BatchRun::stable, "whether its authors call it stable")
            .required()
            .text("report", &BatchRun::report, "few spikes", "what they say")
            .required()
            .text("source", &BatchRun::source, "a paper", "where")
            .required();
    std::vector<BatchRun> runs;
    for (const std::string& name : Catalog::built_in().names("batch_runs")) {
        runs.push_back(named_entry("batch_runs", name, fields));
    }
    return runs;
}

std::optional<PublishedBatch> published_batch(const std::string& workload, int tokens, const Catalog& catalog)
{
    if (const int samples = usual_sample(workload, catalog).batch; samples > 0) {
        return PublishedBatch{static_cast<double>(samples), ""};
    }
    if (catalog.is_own("workloads", workload)) {  // another network, whatever its name
        return std::nullopt;
    }
    const std::vector<BatchRun> runs = batch_runs();
    const auto run = std::find_if(runs.begin(), runs.end(),
                                  [&workload](const BatchRun& one) { return one.name == workload; });
    return run == runs.end() ? std::nullopt : std::optional(PublishedBatch{run->batch / tokens, run->source});
}

namespace {

constexpr const char* numerics = "numerics.toml";
constexpr Range deviation_range{"RMS deviation", 0, 1e6, "0.002"};

/// The row of this list for which `matches` holds.
template <class Matches>
FormatDeviation measured_deviation(const char* list, const std::string& format, const char* backward,
                                   const Matches& matches)
{
    const TomlFile& file = catalog_file(numerics);
    for (const Value& value : Table(file.root, file).at(list, "").list("")) {
        Table row = value.table("");
        if (row.at("format", "").text("") == format && matches(row)) {
            return {row.at("forward", "").number(deviation_range),
                    row.at(backward, "").number(deviation_range)};
        }
    }
    throw InputError(fmt::format("model/catalog/{} has no row of {} for {}; run prismopt numerics --write",
                                 numerics, list, format));
}

}  // namespace

FormatDeviation linear_deviation(const std::string& format)
{
    return measured_deviation("linear", format, "gradients", [](Table&) { return true; });
}

FormatDeviation attention_deviation(const std::string& format, const std::string& kernel)
{
    return measured_deviation("attention", format, "backward",
                              [&kernel](Table& row) { return row.at("kernel", "").text("") == kernel; });
}

const Fields<ListPrice>& list_price_fields()
{
    static const auto fields =
        Fields<ListPrice>("list", "list price of a GPU-hour, with its share of the node and network")
            .quantity("price", &ListPrice::price, "2.50 USD/h", "price")
            .required()
            .text("source", &ListPrice::source, "a price list", "whose price it is")
            .required();
    return fields;
}

const Fields<ListPrice>& price_fields()
{
    static const auto fields =
        Fields<ListPrice>("[prices.NAME]",
                          "the price of the accelerator of that name, for scenarios without gpu_price")
            .nested(
                "list", [](ListPrice& price) -> ListPrice& { return price; }, list_price_fields)
            .required();
    return fields;
}

std::optional<ListPrice> list_price(const std::string& accelerator, const Catalog& catalog)
{
    return catalog.has(prices_kind, accelerator)
               ? std::optional(read_entry(prices_kind, accelerator, price_fields(), catalog))
               : std::nullopt;
}

const Fields<UsualCluster>& usual_cluster_fields()
{
    static const auto fields =
        Fields<UsualCluster>(
            "[usual_clusters.NAME]",
            "node and network of accelerators whose names begin with these words, for `prismopt init`")
            .integer("node_gpus", &UsualCluster::node_gpus, {"GPUs that its link joins", 1, 1e6, "8"})
            .required()
            .text("node_link", &UsualCluster::node_link, "nvlink4", "their link")
            .required()
            .text("network_link", &UsualCluster::network_link, "ib-ndr", "the link between these")
            .required()
            .quantity(
                "network", &UsualCluster::network, "25 Gb/s",
                "bandwidth of all ports of a node together; default: a port of the network link for each GPU")
            .text("bridge", &UsualCluster::bridge, "nvlink-bridge-a100",
                  "link of pairs of cards, which some nodes have")
            .choice("topology", &UsualCluster::topology, "full_mesh", "how the first tier joins its GPUs")
            .integer("axes", &UsualCluster::axes, {"axes of a torus", 2, 3, "3"})
            .integer("ring", &UsualCluster::ring, {"length from which on an axis is closed", 2, 1e4, "16"});
    return fields;
}

namespace {

/// Whole words: "a10" is a beginning of "a10-x", not of "a100" or "a10g".
bool begins_with_words(std::string_view name, std::string_view begin)
{
    return name.starts_with(begin) && (name.size() == begin.size() || name[begin.size()] == '-');
}

}  // namespace

std::optional<UsualCluster> usual_cluster(const std::string& accelerator, const Catalog& catalog)
{
    std::string longest;
    for (const std::string& begin : catalog.names(usual_clusters_kind)) {
        if (begins_with_words(accelerator, begin) && begin.size() > longest.size()) {
            longest = begin;
        }
    }
    return longest.empty()
               ? std::nullopt
               : std::optional(read_entry(usual_clusters_kind, longest, usual_cluster_fields(), catalog));
}

namespace {

const Fields<ListPrice>& instance_price_fields()
{
    static const auto fields =
        Fields<ListPrice>("list of an instance", "list price of an hour of the instance")
            .quantity("price", &ListPrice::price, "98.32 USD/h", "price")
            .required()
            .text("source", &ListPrice::source, "a price list", "whose price it is")
            .required();
    return fields;
}

}  // namespace

const Fields<Instance>& instance_fields()
{
    static const auto fields =
        Fields<Instance>(
            "[instances.NAME]",
            "an instance that a cloud rents, or a machine of yours, for `prismopt init --instance`")
            .text("accelerator", &Instance::accelerator, "h200-sxm", "its accelerators")
            .required()
            .integer("gpus", &Instance::gpus, {"GPUs of the instance", 1, 1e4, "8"})
            .required()
            .integer(
                "node_gpus", &Instance::node_gpus,
                {"GPUs that a link joins, of a domain of several instances; default: those of the instance",
                 1, 1e6, "72"})
            .text("node_link", &Instance::node_link, "nvlink4",
                  "their link; default: the usual one of the accelerator")
            .text("network_link", &Instance::network_link, "efa-3200g", "the link between these")
            .required()
            .quantity("network", &Instance::network, "3200 Gb/s",
                      "bandwidth of all adapters of the instance together")
            .required()
            .quantity("host_memory", &Instance::host_memory, "2048 GiB", "memory of its host")
            .nested("list", &Instance::list, instance_price_fields)
            .text("source", &Instance::source, "a page of the cloud", "where these facts are from")
            .required();
    return fields;
}

Instance catalog_instance(const std::string& name, const Catalog& catalog)
{
    return read_entry(instances_kind, name, instance_fields(), catalog);
}

const Fields<int>& host_fields()
{
    static const auto fields =
        Fields<int>("[hosts.NAME]", "the host of the accelerator of that name")
            .integer("gpus", [](int& gpus) -> int& { return gpus; }, {"GPUs of a host", 1, 1024, "8"})
            .required();
    return fields;
}

int host_gpus(const std::string& accelerator, const Catalog& catalog)
{
    return read_entry(hosts_kind, accelerator, host_fields(), catalog);
}

int gpus_of_host(const Accelerator& accelerator, const Catalog& catalog)
{
    const std::string& entry =
        accelerator.catalog_entry.empty() ? accelerator.name : accelerator.catalog_entry;
    return catalog.has(hosts_kind, entry) ? host_gpus(entry, catalog) : 0;
}

}  // namespace prismopt
