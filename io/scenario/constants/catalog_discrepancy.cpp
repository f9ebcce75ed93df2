#include "io/scenario/constants/catalog_discrepancy.hpp"

#include "io/scenario/constants/learned.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <cmath>

namespace prismopt {

namespace {

constexpr Range log_deviation_range{"a standard deviation of logarithms", 0.0, 10.0, "0.1"};
constexpr Range length_range{"a length in octaves", 1e-6, 1e6, "4"};
constexpr Range groups_range{"a number of groups", 0, 1'000'000, "117"};
constexpr Range correlation_range{"a correlation", -1.0, 1.0, "0.8"};

Discrepancy read_discrepancy(Table table)
{
    const auto deviation = [&table](const char* key) {
        return table.at(key, std::string(key) + " = 0.1").number(log_deviation_range);
    };
    Discrepancy result{.deviation = deviation("deviation"),
                       .source = deviation("source"),
                       .repeat = deviation("repeat"),
                       .memory = deviation("memory"),
                       .memory_of_plan = deviation("memory_of_plan")};
    Table stacks = table.at("memory_of_stack", "memory_of_stack = {}")
                       .table("{ megatron-core = { rows = 40, deviation = 0.06 } }");
    for (const std::string& stack : stacks.keys()) {
        Table own = stacks.at(stack.c_str(), stack + " = {}").table("{ rows = 40, deviation = 0.06 }");
        result.memory_of_stack[stack] = {own.at("rows", "rows = 40").count(groups_range),
                                         own.at("deviation", "deviation = 0.06").number(log_deviation_range)};
    }
    result.groups = table.at("groups", "groups = 117").count(groups_range);
    Table lengths = table.at("lengths", "lengths = { tp = 4 }").table("{ tp = 4 }");
    for (std::size_t k = 0; k < PlanTraits::count; ++k) {
        const std::string key(PlanTraits::name(k));
        result.lengths[k] = lengths.at(key.c_str(), key + " = 4").number(length_range);
    }
    return result;
}

}  // namespace

Discrepancy catalog_discrepancy()
{
    const TomlFile& file = catalog_file("discrepancy.toml");
    return read_discrepancy(Table(file.root, file));
}

MachineCorrelations catalog_correlations()
{
    const TomlFile& file = catalog_file("pairs.toml");
    Table table(file.root, file);
    const auto correlation = [&table](const char* kind) {
        const std::string example = "{ correlation = 0.8, pairs = 60, families = 6 }";
        Table own = table.at(kind, std::string(kind) + " = " + example).table(example);
        own.at("pairs", "pairs = 60").count(groups_range);
        own.at("families", "families = 6").count(groups_range);
        return own.at("correlation", "correlation = 0.8").number(correlation_range);
    };
    return {.accelerator = correlation("accelerator"),
            .software = correlation("software"),
            .gpus = correlation("gpus")};
}

MemoryError memory_error_of(const Learned& learned, const std::string& stack)
{
    return learned.empty() ? catalog_discrepancy().memory_error_on(stack) : learned.memory;
}

MemoryLimit with_error(MemoryLimit limit, const std::string& stack, const MemoryError& learned)
{
    const bool measured = learned.mean != 0.0;
    static const Discrepancy of_catalog = catalog_discrepancy();
    limit.bias = learned.mean;
    limit.deviation =
        measured ? std::hypot(learned.deviation, learned.own) : of_catalog.memory_on(stack).deviation;
    return limit;
}

std::string discrepancy_text(const Discrepancy& discrepancy, const std::string& date)
{
    std::string text = fmt::format(
        "# Written by jobs/fit_constants: by how much measured step times deviate from predicted ones, "
        "beyond the uncertainty of "
        "the\n"
        "# fitted constants. docs/methods/posterior.md. Standard deviations are of natural logarithms.\n\n"
        "groups = {}  # of measured plans of one job, left out of the fit of the constants, {}\n"
        "deviation = {:.4f}  # of the part that differs between plans\n"
        "source = {:.4f}  # of the part that all plans of a job on a cluster share\n"
        "repeat = {:.4f}  # of repeated measurements of one plan\n"
        "memory = {:.4f}  # of measured over predicted peak memory: the part that is common to the plans of "
        "a source\n"
        "memory_of_plan = {:.4f}  # the part that differs between plans\n"
        "# How far plans may differ until their errors are independent (by a factor of e): octaves of "
        "degrees, changes of "
        "kinds.\n"
        "lengths = {{",
        discrepancy.groups, date, discrepancy.deviation, discrepancy.source, discrepancy.repeat,
        discrepancy.memory, discrepancy.memory_of_plan);
    for (std::size_t k = 0; k < PlanTraits::count; ++k) {
        text += fmt::format("{} {} = {:.2f}", k == 0 ? "" : ",", PlanTraits::name(k), discrepancy.lengths[k]);
    }
    text +=
        " }  # of the same fit\n# Of measured over predicted peak memory, by software "
        "stack.\nmemory_of_stack = {";
    for (const auto& [stack, scatter] : discrepancy.memory_of_stack) {
        text += fmt::format("{} {} = {{ rows = {}, deviation = {:.4f} }}", text.ends_with('{') ? "" : ",",
                            stack, scatter.rows, scatter.deviation);
    }
    return text + " }\n";
}

}  // namespace prismopt
