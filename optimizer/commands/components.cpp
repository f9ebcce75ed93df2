#include "optimizer/api/components.hpp"
#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/plots/xy_plots.hpp"
#include "optimizer/api/scenarios.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace prismopt {

namespace {

namespace po = boost::program_options;

constexpr double giga = 1e9;
constexpr double micro = 1e-6;

std::string size_text(double bytes)
{
    constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024.0 && unit + 1 < units.size()) {
        bytes /= 1024.0;
        ++unit;
    }
    return fmt::format("{:.4g} {}", bytes, units[unit]);
}

void print_tables(const std::vector<CollectiveTimes>& collectives)
{
    for (const CollectiveTimes& times : collectives) {
        fmt::print("\n{}, {}\n{:>12}{:>14}{:>16}{:>16}  {}\n", times.collective, times.members.text(), "size",
                   "time us", "algbw GB/s", "busbw GB/s", "algorithm");
        for (const CollectiveRow& row : times.rows) {
            fmt::print("{:>12}{:>14.1f}{:>16.2f}{:>16.2f}  {}\n", size_text(row.bytes), row.seconds / micro,
                       row.bytes / row.seconds / giga, row.bus_bandwidth / giga, row.algorithm);
        }
    }
}

void print_kernels(const KernelTimes& kernels)
{
    fmt::print(
        "\nKernels of {} on one GPU, {} sequence{} of {} tokens, {}, tp={} cp={}; share of the peak of their "
        "precision by "
        "the operations that the network needs, or of the memory bandwidth\n",
        kernels.network, kernels.microbatch, kernels.microbatch == 1 ? "" : "s", kernels.sequence,
        kernels.precision, kernels.tp, kernels.cp);
    fmt::print("{:<22}{:<10}{:<26}{:<44}{:>11}{:>9}\n", "layer", "pass", "kernel", "shape", "time us",
               "share %");
    for (const KernelRow& row : kernels.rows) {
        fmt::print("{:<22}{:<10}{:<26}{:<44}{:>11.1f}{:>9}\n", fmt::format("{} ({})", row.layer, row.layers),
                   row.pass, row.kernel, row.shape, row.seconds / micro, percent_figure(row.share));
    }
}

nlohmann::json components_json(const Cluster& cluster, const std::vector<CollectiveTimes>& collectives,
                               const KernelTimes& kernels)
{
    nlohmann::json json{{"cluster", cluster.name},
                        {"library", cluster.library.name},
                        {"collectives", nlohmann::json::array()},
                        {"kernels", nlohmann::json::array()}};
    for (const CollectiveTimes& times : collectives) {
        nlohmann::json rows = nlohmann::json::array();
        for (const CollectiveRow& row : times.rows) {
            rows.push_back({{"bytes", row.bytes},
                            {"seconds", row.seconds},
                            {"bus_bandwidth", row.bus_bandwidth},
                            {"algorithm", row.algorithm}});
        }
        json["collectives"].push_back({{"collective", times.collective},
                                       {"members", times.members.count()},
                                       {"nodes", times.members.nodes},
                                       {"rows", rows}});
    }
    for (const KernelRow& row : kernels.rows) {
        json["kernels"].push_back({{"layer", row.layer},
                                   {"layers", row.layers},
                                   {"pass", row.pass},
                                   {"kernel", row.kernel},
                                   {"shape", row.shape},
                                   {"seconds", row.seconds},
                                   {"flops", row.flops},
                                   {"share", row.share}});
    }
    return json;
}

std::string collective_in(const po::variables_map& values)
{
    return values.count("collective") > 0 ? values["collective"].as<std::string>() : "";
}

std::optional<int> members_of(const po::variables_map& values)
{
    return values.count("members") > 0 ? std::optional(values["members"].as<int>()) : std::nullopt;
}

std::string value_text(const TierValue& of, double value)
{
    return of.key == "latency" ? fmt::format("\"{:.3g} us\"", value / micro) : fmt::format("{:.3g}", value);
}

void print_values(const std::vector<TierValue>& values)
{
    constexpr double limit = 0.99;
    fmt::print("\nValues of [[cluster.tier]] that explain the file (prior: the scenario's):\n");
    for (const TierValue& of : values) {
        if (of.key == "efficiency") {
            fmt::print(
                "  bandwidth = \"{:.4g} GB/s\"   # tier \"{}\", of the scenario; the file determines its "
                "product with "
                "efficiency{}\n",
                of.bandwidth / giga, of.tier, of.value < limit ? "" : ", and needs more than this bandwidth");
        }
        fmt::print("  {} = {}   # tier \"{}\", {}; now {}\n", of.key, value_text(of, of.value), of.tier,
                   of.determined ? "+-" + percent_text(of.deviation, 0) : "not determined by this file",
                   value_text(of, of.before));
    }
}

void print_comparison(const CollectiveComparison& compared, const std::string& path)
{
    fmt::print("{}: {}, {}\n", path, compared.collective, compared.members.text());
    fmt::print("\n{:>12}{:>14}{:>14}{:>9}{:>16}{:>9}\n", "size", "measured us", "predicted us", "error %",
               "with values us", "error %");
    for (const MeasuredCollectiveRow& row : compared.rows) {
        const double measured = row.measured_s;
        fmt::print("{:>12}{:>14.1f}{:>14.1f}{:>+9.1f}{:>16.1f}{:>+9.1f}\n", size_text(row.bytes),
                   measured / micro, row.predicted_s / micro, 100.0 * (row.predicted_s / measured - 1.0),
                   row.explained_s / micro, 100.0 * (row.explained_s / measured - 1.0));
    }
    fmt::print("\n{:<18}{:>12}{:>16}\n", "size", "error now %", "with values %");
    for (const ErrorOfRegion& of : compared.regions) {
        fmt::print("{:<18}{:>12.1f}{:>16.1f}\n", of.region, 100.0 * of.now, 100.0 * of.explained);
    }
    print_values(compared.values);
}

Plot plot_of(const CollectiveTimes& times)
{
    PlotSeries predicted{"predicted", {}, true};
    for (const CollectiveRow& row : times.rows) {
        predicted.points.push_back(plot_point(std::log2(row.bytes), row.bus_bandwidth / giga));
    }
    return {fmt::format("{}, {}", times.collective, times.members.text()),
            "log2 of bytes",
            "bus bandwidth, GB/s",
            {std::move(predicted)}};
}

Plot plot_of(const CollectiveComparison& compared)
{
    Plot plot = plot_of(compared.curve);
    PlotSeries measured{"measured", {}, false};
    PlotSeries explained{"with these values", {}, true};
    for (const MeasuredCollectiveRow& row : compared.rows) {
        const double bus_bytes = compared.bus_factor * row.bytes / giga;
        measured.points.push_back(plot_point(std::log2(row.bytes), bus_bytes / row.measured_s));
        explained.points.push_back(plot_point(std::log2(row.bytes), bus_bytes / row.explained_s));
    }
    plot.series.push_back(std::move(measured));
    plot.series.push_back(std::move(explained));
    return plot;
}

}  // namespace

int components_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()(
        "measured", po::value<std::vector<std::string>>()->composing()->value_name("FILE"),
        "what a program of nccl-tests or of the OSU benchmarks printed: compare, and print the values of "
        "[[cluster.tier]] that explain it")("collective", po::value<std::string>()->value_name("NAME"),
                                            "its collective, if the file does not name it")(
        "members", po::value<int>()->value_name("N"), "its number of GPUs, if the file does not list them")(
        "design", po::value<std::string>()->value_name("PLAN")->default_value("", "one sequence on one GPU"),
        "plan whose kernels are listed, for example \"tp=8 microbatch=2\"")(
        "json", po::bool_switch(), "print one JSON object instead of tables")(
        "svg", po::value<std::string>()->value_name("FILE"), "write plots of bus bandwidth by size");
    add_catalog_option(options);
    const auto values = parse_options("components", options, "SCENARIO", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const auto& path = (*values)["SCENARIO"].as<std::string>();
    const Scenario scenario = read_scenario(path, catalogs_of(*values));
    if (!scenario.machines.empty()) {
        throw InputError(fmt::format(
            "{} has several clusters, and components are those of one; keep one [cluster]", path));
    }
    const Cluster& cluster = scenario.cluster;
    std::vector<std::string> inputs{path};
    std::vector<Plot> plots;
    const bool json = (*values)["json"].as<bool>();
    const auto& design = (*values)["design"].as<std::string>();
    if (values->count("measured") > 0) {
        if (json || !design.empty()) {
            throw InputError("--measured prints tables of collectives only; leave --json and --design out");
        }
        for (const std::string& file : (*values)["measured"].as<std::vector<std::string>>()) {
            inputs.push_back(file);
            for (const CollectiveComparison& compared :
                 compare_collectives(cluster, file, collective_in(*values), members_of(*values))) {
                print_comparison(compared, file);
                plots.push_back(plot_of(compared));
            }
        }
    } else {
        const std::vector<CollectiveTimes> collectives = collective_times(cluster);
        const KernelTimes kernels = kernel_times(scenario, design);
        if (json) {
            fmt::print("{}\n", components_json(cluster, collectives, kernels).dump(2));
        } else {
            fmt::print("Collectives of {}, library {}\n", cluster.name, cluster.library.name);
            print_tables(collectives);
            print_kernels(kernels);
        }
        if (values->count("svg") > 0) {
            for (const CollectiveTimes& times : collective_times(cluster, 2.0)) {
                plots.push_back(plot_of(times));
            }
        }
    }
    if (values->count("svg") > 0) {
        write_output("svg", (*values)["svg"].as<std::string>(), plots_svg(plots), inputs);
    }
    return exit_done;
}

}  // namespace prismopt
