#include "io/scenario/catalog_facts.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/catalog_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

UsualSample usual_sample(const std::string& workload)
{
    static const auto fields = Fields<UsualSample>("sample", "what a batch counts")
                                   .text("name", &UsualSample::name, "image", "what it is")
                                   .required()
                                   .integer("tokens", &UsualSample::tokens, {"its tokens", 1, 1e7, "256"})
                                   .required()
                                   .integer("batch", &UsualSample::batch, {"samples per step in its training", 1, 1e7, "2048"})
                                   .text("target", &UsualSample::target, "classes", "what it learns of them");
    UsualSample result;
    if (const auto sample = catalog_entry("workloads.toml", workload).find("sample")) {
        Table table = sample->table(fields.example());
        fields.read_whole(table, Keys::all, result);
    }
    return result;
}

std::vector<BatchRun> batch_runs()
{
    static const auto fields = Fields<BatchRun>("a run", "a published training")
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
    for (const std::string& name : catalog_names("batch_runs.toml")) {
        runs.push_back(named_entry("batch_runs.toml", name, fields));
    }
    return runs;
}

namespace {

constexpr const char* numerics = "numerics.toml";
constexpr Range deviation_range{"RMS deviation", 0, 1e6, "0.002"};

/// The row of this list for which `matches` holds.
template <class Matches>
FormatDeviation measured_deviation(const char* list, const std::string& format, const char* backward, const Matches& matches)
{
    const TomlFile& file = catalog_file(numerics);
    for (const Value& value : Table(file.root, file).at(list, "").list("")) {
        Table row = value.table("");
        if (row.at("format", "").text("") == format && matches(row)) {
            return {row.at("forward", "").number(deviation_range), row.at(backward, "").number(deviation_range)};
        }
    }
    throw InputError(
        fmt::format("model/catalog/{} has no row of {} for {}; run prismopt numerics --write", numerics, list, format));
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

std::optional<ListPrice> list_price(const std::string& accelerator)
{
    constexpr auto example = "list = { price = \"2.50 USD/h\", source = \"a price list\" }";
    const std::vector<std::string> priced = catalog_names("prices.toml");
    if (std::find(priced.begin(), priced.end(), accelerator) == priced.end()) {
        return std::nullopt;
    }
    Table of = catalog_entry("prices.toml", accelerator);
    Table table = of.at("list", example).table(example);
    ListPrice result;
    result.price = table.at("price", example).quantity<DollarsPerSecond>("2.50 USD/h");
    result.source = table.at("source", example).text("a price list");
    table.refuse_unknown_keys();
    of.refuse_unknown_keys();
    return result;
}

std::optional<UsualCluster> usual_cluster(const std::string& accelerator)
{
    static const auto fields =
        Fields<UsualCluster>("a usual cluster", "what an accelerator usually comes with")
            .integer("node_gpus", &UsualCluster::node_gpus, {"GPUs that its link joins", 1, 1e6, "8"})
            .required()
            .text("node_link", &UsualCluster::node_link, "nvlink4", "their link")
            .required()
            .text("network_link", &UsualCluster::network_link, "ib-ndr", "the link between these")
            .required()
            .choice("topology", &UsualCluster::topology, "full_mesh", "how the first tier joins its GPUs")
            .integer("axes", &UsualCluster::axes, {"axes of a torus", 2, 3, "3"})
            .integer("ring", &UsualCluster::ring, {"length from which on an axis is closed", 2, 1e4, "16"});
    std::string longest;
    for (const std::string& begin : catalog_names("usual_clusters.toml")) {
        longest = accelerator.starts_with(begin) && begin.size() > longest.size() ? begin : longest;
    }
    return longest.empty() ? std::nullopt : std::optional(read_entry("usual_clusters.toml", longest, fields));
}

int host_gpus(const std::string& accelerator)
{
    constexpr Range range{"GPUs of a host", 1, 1024, "8"};
    Table of = catalog_entry("hosts.toml", accelerator);
    const int gpus = of.at("gpus", "gpus = 8").count(range);
    of.refuse_unknown_keys();
    return gpus;
}

}  // namespace prismopt
