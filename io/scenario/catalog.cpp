#include "io/scenario/catalog.hpp"

#include "io/scenario/sections/sections.hpp"
#include "io/toml/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace prismopt {

namespace {

constexpr const char* accelerators = "accelerators.toml";
constexpr const char* links = "links.toml";
constexpr const char* libraries = "libraries.toml";
constexpr const char* workloads = "workloads.toml";
constexpr const char* variabilities = "variability.toml";
constexpr const char* stacks = "stacks.toml";
constexpr const char* powers = "power.toml";
constexpr const char* prices = "prices.toml";
constexpr const char* hosts = "hosts.toml";
constexpr const char* batches = "batch_runs.toml";
constexpr const char* numerics = "numerics.toml";

std::vector<std::string> names(const std::string& file_name)
{
    const TomlFile& file = catalog_file(file_name);
    return Table(file.root, file).keys();
}

Table entry(const std::string& file_name, const std::string& name)
{
    const TomlFile& file = catalog_file(file_name);
    Table all(file.root, file);
    const auto found = all.find(name);
    if (!found) {
        const std::string near = nearest(name, all.keys());
        throw InputError(fmt::format("\"{}\" is not in the catalog (entries: {}); {}", name, listed(all.keys()),
                                     near.empty() ? "choose one of these" : fmt::format("did you mean \"{}\"?", near)));
    }
    return found->table("a section");
}

/// The entry of that name.
template <class Kind>
Kind read_entry(const std::string& file_name, const std::string& name, const Fields<Kind>& fields)
{
    Kind result;
    Table table = entry(file_name, name);
    fields.read_whole(table, Keys::all, result);
    return result;
}

/// ... with its name in it.
template <class Kind>
Kind named(const std::string& file_name, const std::string& name, const Fields<Kind>& fields)
{
    Kind result = read_entry(file_name, name, fields);
    result.name = name;
    return result;
}

}  // namespace

const TomlFile& catalog_file(const std::string& name)
{
    static const std::map<std::string, TomlFile> files = [] {
        std::map<std::string, TomlFile> result;
        for (const EmbeddedFile& file : catalog_files()) {
            result.emplace(file.name, parse_toml(file.text, "model/catalog/" + file.name));
        }
        return result;
    }();
    const auto found = files.find(name);
    if (found == files.end()) {
        throw InputError(fmt::format("model/catalog/{} is missing from the program; run jobs/fit_constants and rebuild", name));
    }
    return found->second;
}

std::vector<std::string> catalog_accelerators() { return names(accelerators); }
std::vector<std::string> catalog_links() { return names(links); }
std::vector<std::string> catalog_libraries() { return names(libraries); }
std::vector<std::string> catalog_workloads() { return names(workloads); }
std::vector<std::string> catalog_variabilities() { return names(variabilities); }
std::vector<std::string> catalog_stacks() { return names(stacks); }
std::vector<std::string> catalog_powers() { return names(powers); }

/// The entry of that name, which knows from then on whose numbers it began with.
template <class Kind>
Kind traced(Kind entry)
{
    entry.catalog_entry = entry.name;
    return entry;
}

Accelerator catalog_accelerator(const std::string& name) { return traced(named(accelerators, name, accelerator_fields())); }

Workload catalog_workload(const std::string& name)
{
    Table table = entry(workloads, name);
    table.find("sample");  // usual_sample()
    Workload result = read_network(table);
    result.name = name;
    return result;
}

NetworkTier catalog_link(const std::string& name) { return traced(named(links, name, link_fields())); }

CollectiveLibrary catalog_library(const std::string& name) { return named(libraries, name, library_fields()); }

CollectiveLibrary library_of(const SoftwareStack& stack)
{
    return catalog_library(stack.collectives.empty() ? usual_library : stack.collectives);
}

SoftwareStack catalog_stack(const std::string& name) { return named(stacks, name, stack_fields()); }

Power catalog_power(const std::string& name) { return named(powers, name, power_profile_fields()); }

UsualSample usual_sample(const std::string& workload)
{
    static const auto fields = Fields<UsualSample>("sample", "what a batch counts")
                                   .text("name", &UsualSample::name, "image", "what it is")
                                   .required()
                                   .integer("tokens", &UsualSample::tokens, {"its tokens", 1, 1e7, "256"})
                                   .required()
                                   .integer("batch", &UsualSample::batch, {"samples per step in its training", 1, 1e7, "2048"});
    UsualSample result;
    if (const auto sample = entry(workloads, workload).find("sample")) {
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
    for (const std::string& name : names(batches)) {
        runs.push_back(named(batches, name, fields));
    }
    return runs;
}

namespace {

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
    const std::vector<std::string> priced = names(prices);
    if (std::find(priced.begin(), priced.end(), accelerator) == priced.end()) {
        return std::nullopt;
    }
    Table of = entry(prices, accelerator);
    Table table = of.at("list", example).table(example);
    ListPrice result;
    result.price = table.at("price", example).quantity<DollarsPerSecond>("2.50 USD/h");
    result.source = table.at("source", example).text("a price list");
    table.refuse_unknown_keys();
    of.refuse_unknown_keys();
    return result;
}

int host_gpus(const std::string& accelerator)
{
    constexpr Range range{"GPUs of a host", 1, 1024, "8"};
    Table of = entry(hosts, accelerator);
    const int gpus = of.at("gpus", "gpus = 8").count(range);
    of.refuse_unknown_keys();
    return gpus;
}

Variability catalog_variability(const std::string& name) { return read_entry(variabilities, name, variability_profile_fields()); }

}  // namespace prismopt
