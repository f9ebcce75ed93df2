#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/components/kernel_table.hpp"
#include "optimizer/commands/output.hpp"

#include "io/base/csv_stream.hpp"
#include "io/plots/xy_plots.hpp"
#include "io/traces/collective_table.hpp"
#include "model/hardware/collective.hpp"
#include "model/hardware/machine_constants.hpp"
#include "optimizer/accuracy/collective_accuracy.hpp"
#include "optimizer/accuracy/collective_fit.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace prismopt {

namespace {

namespace po = boost::program_options;

constexpr std::array kinds{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all};
constexpr std::array algorithms{"ring", "tree", "hierarchical", "in network", "direct", "torus"};  // as Algorithm

constexpr double smallest = 1024.0;  // bytes
constexpr double largest = 4.0 * 1024.0 * 1024.0 * 1024.0;

/// Members in each of some nodes, neighbours there.
struct Members {
    int inside = 1;
    int nodes = 1;

    int count() const { return inside * nodes; }
    Group in(const Cluster& cluster) const
    {
        return group_of(std::array{Spacing{inside, 1}, Spacing{nodes, cluster.gpus_per_node()}}, 0, cluster);
    }
    std::string text() const
    {
        return fmt::format("{} GPUs: {} in each of {} node{}", count(), inside, nodes, nodes == 1 ? "" : "s");
    }
};

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

/// GB/s, as nccl-tests define them.
double bus_bandwidth(Collective kind, int members, double bytes, double seconds)
{
    return bus_factor(kind, members) * bytes / seconds * 1e-9;
}

/// A node, two nodes, all nodes, and one GPU in each of all.
std::vector<Members> usual_members(const Cluster& cluster)
{
    const int node = cluster.gpus_per_node();
    std::vector<Members> list;
    std::set<std::pair<int, int>> seen;
    for (const Members& members :
         {Members{node, 1}, {node, std::min(2, cluster.nodes())}, {node, cluster.nodes()}, {1, cluster.nodes()}}) {
        if (members.count() > 1 && seen.emplace(members.inside, members.nodes).second) {
            list.push_back(members);
        }
    }
    return list;
}

nlohmann::json print_table(Collective kind, const Members& members, const Cluster& cluster, bool json)
{
    nlohmann::json rows = nlohmann::json::array();
    if (!json) {
        fmt::print("\n{}, {}\n{:>12}{:>14}{:>16}{:>16}  {}\n", name(kind), members.text(), "size", "time us", "algbw GB/s",
                   "busbw GB/s", "algorithm");
    }
    const Group group = members.in(cluster);
    for (double bytes = smallest; bytes <= largest; bytes *= 4.0) {
        const CollectiveTime found = collective_time(kind, Bytes{bytes}, group, cluster);
        const char* algorithm = algorithms[static_cast<std::size_t>(found.algorithm)];
        const double bus = bus_bandwidth(kind, members.count(), bytes, found.time.si);
        if (json) {
            rows.push_back(
                {{"bytes", bytes}, {"seconds", found.time.si}, {"bus_bandwidth", bus * 1e9}, {"algorithm", algorithm}});
        } else {
            fmt::print("{:>12}{:>14.1f}{:>16.2f}{:>16.2f}  {}\n", size_text(bytes), found.time.si * 1e6,
                       bytes / found.time.si * 1e-9, bus, algorithm);
        }
    }
    return {{"collective", name(kind)}, {"members", members.count()}, {"nodes", members.nodes}, {"rows", rows}};
}

Collective kind_in(const po::variables_map& values, const CollectiveTable& table, const std::string& path)
{
    if (values.count("collective") > 0) {
        const auto text = values["collective"].as<std::string>();
        const auto of_nccl = collective_of_nccl(text);
        const auto kind = of_nccl ? of_nccl : parse<Collective>(text);
        if (!kind) {
            throw InputError(fmt::format("--collective {} is unknown; choose from: {}", text, choices<Collective>()));
        }
        return *kind;
    }
    const auto kind = collective_of_nccl(table.program);
    if (!kind) {
        throw InputError(table.program.empty()
                             ? fmt::format("{} does not name its program; add for example --collective all_reduce", path)
                             : fmt::format("{}: {}_perf is not among the modelled collectives ({})", path, table.program,
                                           choices<Collective>()));
    }
    return *kind;
}

Members members_in(const po::variables_map& values, const CollectiveTable& table, const std::string& path, const Cluster& cluster)
{
    const int ranks = values.count("members") > 0 ? values["members"].as<int>() : table.ranks;
    if (table.ranks > 0 && ranks != table.ranks) {
        throw InputError(fmt::format("--members {}: {} lists {} ranks; leave --members out", ranks, path, table.ranks));
    }
    if (table.single_rank) {
        throw InputError(
            fmt::format("{} is of a single rank (bus bandwidth 0), whose collectives are copies in its memory; run the "
                        "benchmark on all GPUs of a group",
                        path));
    }
    if (ranks < 2) {
        throw InputError(fmt::format("{} does not list two ranks or more; add for example --members 16", path));
    }
    const int node = cluster.gpus_per_node();
    const bool listed = table.hosts > 0 && ranks == table.ranks;
    const int host = gpus_of_host(cluster.accelerator, Catalog::built_in());
    const int hosts_of_node = host > 0 ? std::max(1, node / host) : 1;
    const int nodes = listed ? (table.hosts + hosts_of_node - 1) / hosts_of_node : (ranks + node - 1) / node;
    const Members members{ranks / nodes, nodes};
    if (members.count() != ranks || members.inside > node || members.nodes > cluster.nodes()) {
        throw InputError(fmt::format(
            "{} has {} ranks on {} nodes, which do not fit the {} nodes of {} GPUs of the scenario; correct its cluster", path,
            ranks, nodes, cluster.nodes(), node));
    }
    return members;
}

/// What the file may tell of the tiers that the group uses.
std::vector<CollectiveConstant> constants_of_tiers(const Group& group, const Cluster& cluster)
{
    constexpr double spread = 0.5;  // far beyond what tables of one link differ by
    std::vector<CollectiveConstant> constants;
    int below = group.size;
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        const bool used = group.tiers[t].units < below;
        below = group.tiers[t].units;
        for (const char* key : {"efficiency", "latency", "in_network"}) {
            const MachineConstant<NetworkTier>& constant = constant_of<NetworkTier>(key);
            NetworkTier tier = cluster.tiers[t];
            const double value = constant.of(tier);
            if (used && value > 0.0) {
                const auto set = [&constant, t](Cluster& other, double to) { constant.of(other.tiers[t]) = to; };
                constants.push_back({fmt::format("{}.{}", tier.name, key), value, spread, 1.0, set});
            }
        }
    }
    return constants;
}

void print_measured(const std::vector<MeasuredCollective>& rows, const std::vector<double>& now,
                    const std::vector<double>& explained)
{
    fmt::print("\n{:>12}{:>14}{:>14}{:>9}{:>16}{:>9}\n", "size", "measured us", "predicted us", "error %", "with values us",
               "error %");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double measured = rows[i].measured_s;
        fmt::print("{:>12}{:>14.1f}{:>14.1f}{:>+9.1f}{:>16.1f}{:>+9.1f}\n", size_text(rows[i].message.si), measured * 1e6,
                   now[i] * 1e6, 100.0 * (now[i] / measured - 1.0), explained[i] * 1e6, 100.0 * (explained[i] / measured - 1.0));
    }
    fmt::print("\n{:<18}{:>12}{:>16}\n", "size", "error now %", "with values %");
    const std::vector<RegionErrors> before = errors_by_region(rows, now);
    const std::vector<RegionErrors> after = errors_by_region(rows, explained);
    for (std::size_t i = 0; i < before.size(); ++i) {
        fmt::print("{:<18}{:>12.1f}{:>16.1f}\n", before[i].region, 100.0 * before[i].error, 100.0 * after[i].error);
    }
}

std::string value_text(const std::string& constant, double value)
{
    return constant.ends_with("latency") ? fmt::format("\"{:.3g} us\"", value * 1e6) : fmt::format("{:.3g}", value);
}

/// The bandwidth beside a fitted efficiency, of which a file determines the product only.
void print_bandwidth(const std::string& tier_name, double efficiency, const Cluster& cluster)
{
    constexpr double limit = 0.99;
    const auto tier =
        std::find_if(cluster.tiers.begin(), cluster.tiers.end(), [&](const NetworkTier& t) { return t.name == tier_name; });
    fmt::print(
        "  bandwidth = \"{:.4g} GB/s\"   # tier \"{}\", of the scenario; the file determines its product with efficiency{}\n",
        tier->bandwidth.si * 1e-9, tier_name, efficiency < limit ? "" : ", and needs more than this bandwidth");
}

void print_values(const std::vector<CollectiveConstant>& before, const std::vector<CollectiveConstant>& after,
                  const Cluster& cluster)
{
    fmt::print("\nValues of [[cluster.tier]] that explain the file (prior: the scenario's):\n");
    for (std::size_t k = 0; k < after.size(); ++k) {
        const std::string& constant = after[k].name;
        const std::size_t dot = constant.rfind('.');
        if (constant.ends_with(".efficiency")) {
            print_bandwidth(constant.substr(0, dot), after[k].value, cluster);
        }
        const bool told = after[k].deviation < 0.9 * before[k].deviation;
        fmt::print("  {} = {}   # tier \"{}\", {}; now {}\n", constant.substr(dot + 1), value_text(constant, after[k].value),
                   constant.substr(0, dot), told ? "+-" + percent_text(after[k].deviation, 0) : "not determined by this file",
                   value_text(constant, before[k].value));
    }
}

PlotSeries series(const std::string& label, Collective kind, const Members& members, const std::vector<double>& bytes,
                  const std::vector<double>& seconds, bool joined)
{
    PlotSeries result{label, {}, joined};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        result.points.push_back(plot_point(std::log2(bytes[i]), bus_bandwidth(kind, members.count(), bytes[i], seconds[i])));
    }
    return result;
}

Plot plot_of(Collective kind, const Members& members, const Cluster& cluster)
{
    std::vector<double> bytes;
    std::vector<double> seconds;
    for (double size = smallest; size <= largest; size *= 2.0) {
        bytes.push_back(size);
        seconds.push_back(collective_time(kind, Bytes{size}, members.in(cluster), cluster).time.si);
    }
    return {fmt::format("{}, {}", name(kind), members.text()),
            "log2 of bytes",
            "bus bandwidth, GB/s",
            {series("predicted", kind, members, bytes, seconds, true)}};
}

void compare_with(const CollectiveTable& table, const std::string& path, const po::variables_map& values, const Cluster& cluster,
                  std::vector<Plot>& plots)
{
    const Collective kind = kind_in(values, table, path);
    const Members members = members_in(values, table, path, cluster);
    std::vector<MeasuredCollective> rows;
    std::vector<double> bytes;
    std::vector<double> measured;
    for (const CollectiveTable::Row& row : table.rows) {
        const double size = number_in(row.size) * (table.per_member ? members.count() : 1);
        if (size <= 0.0) {
            continue;
        }
        MeasuredCollective& of = rows.emplace_back();
        of.system = path;
        of.cluster = cluster;
        of.group = members.in(cluster);
        of.kind = kind;
        of.message = Bytes{size};
        of.measured_s = row.seconds;
        bytes.push_back(size);
        measured.push_back(row.seconds);
    }
    if (rows.empty()) {
        throw InputError(
            fmt::format("{} has no row with a size and a time; print sizes from 8 bytes on (-b 8 -e 1G -f 2)", path));
    }
    const std::vector<CollectiveConstant> before = constants_of_tiers(members.in(cluster), cluster);
    const std::vector<CollectiveConstant> after = fit_collectives(rows, before);
    fmt::print("{}: {}, {}\n", path, name(kind), members.text());
    print_measured(rows, predicted_times(rows, {}), predicted_times(rows, after));
    print_values(before, after, cluster);
    plots.push_back(plot_of(kind, members, cluster));
    plots.back().series.push_back(series("measured", kind, members, bytes, measured, false));
    plots.back().series.push_back(series("with these values", kind, members, bytes, predicted_times(rows, after), true));
}

/// The plan of --design; without it one sequence on one GPU.
LayerShape layer_shape_of(const Scenario& scenario, const std::string& design)
{
    const Phase& phase = scenario.phases.front();
    const ParallelPlan plan = design.empty() ? ParallelPlan{} : parse_design(design, scenario);
    return layer_shape(plan, phase.sequence, phase.global_batch);
}

nlohmann::json print_kernels(const Scenario& scenario, const LayerShape& shape, bool json)
{
    const Workload& workload = scenario.workload;
    nlohmann::json rows = nlohmann::json::array();
    if (!json) {
        fmt::print(
            "\nKernels of {} on one GPU, {} sequence{} of {} tokens, {}, tp={} cp={}; share of the peak of their precision by "
            "the operations that the network needs, or of the memory bandwidth\n",
            workload.name, shape.microbatch, shape.microbatch == 1 ? "" : "s", shape.sequence, name(workload.precision), shape.tp,
            shape.cp);
        fmt::print("{:<22}{:<10}{:<26}{:<44}{:>11}{:>9}\n", "layer", "pass", "kernel", "shape", "time us", "share %");
    }
    for (const KernelRow& row : kernel_rows(network_of(workload), workload.precision, shape, scenario.cluster)) {
        if (json) {
            rows.push_back({{"layer", row.layer},
                            {"layers", row.layers},
                            {"pass", row.pass},
                            {"kernel", row.kernel},
                            {"shape", row.shape},
                            {"seconds", row.seconds},
                            {"flops", row.flops},
                            {"share", row.share}});
        } else {
            fmt::print("{:<22}{:<10}{:<26}{:<44}{:>11.1f}{:>9}\n", fmt::format("{} ({})", row.layer, row.layers), row.pass,
                       row.kernel, row.shape, row.seconds * 1e6, percent_figure(row.share));
        }
    }
    return rows;
}

}  // namespace

int components_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("measured", po::value<std::vector<std::string>>()->composing()->value_name("FILE"),
                          "what a program of nccl-tests or of the OSU benchmarks printed: compare, and print the values of "
                          "[[cluster.tier]] that explain it")("collective", po::value<std::string>()->value_name("NAME"),
                                                              "its collective, if the file does not name it")(
        "members", po::value<int>()->value_name("N"), "its number of GPUs, if the file does not list them")(
        "design", po::value<std::string>()->value_name("PLAN")->default_value("", "one sequence on one GPU"),
        "plan whose kernels are listed, for example \"tp=8 microbatch=2\"")(
        "json", po::bool_switch(), "print one JSON object instead of tables")("svg", po::value<std::string>()->value_name("FILE"),
                                                                              "write plots of bus bandwidth by size");
    add_catalog_option(options);
    const auto values = parse_options("components", options, "SCENARIO", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const auto& path = (*values)["SCENARIO"].as<std::string>();
    const Scenario scenario = read_scenario(path, catalogs_of(*values));
    const Cluster& cluster = scenario.cluster;
    std::vector<std::string> inputs{path};
    std::vector<Plot> plots;
    if (values->count("measured") > 0) {
        if ((*values)["json"].as<bool>() || !(*values)["design"].as<std::string>().empty()) {
            throw InputError("--measured prints tables of collectives only; leave --json and --design out");
        }
        for (const std::string& file : (*values)["measured"].as<std::vector<std::string>>()) {
            inputs.push_back(file);
            TraceStream stream(file);
            std::vector<Fault> faults;
            for (const CollectiveTable& table : read_collective_tables(stream, file, faults)) {
                compare_with(table, file, *values, cluster, plots);
            }
            for (const Fault& fault : faults) {
                log_warning(fmt::format("{}:{}: {} rows with {} are skipped", file, fault.first_line, fault.count, fault.reason));
            }
        }
    } else {
        const bool json = (*values)["json"].as<bool>();
        const LayerShape shape = layer_shape_of(scenario, (*values)["design"].as<std::string>());
        nlohmann::json tables = nlohmann::json::array();
        if (!json) {
            fmt::print("Collectives of {}, library {}\n", cluster.name, cluster.library.name);
        }
        for (const Members& members : usual_members(cluster)) {
            for (const Collective kind : kinds) {
                tables.push_back(print_table(kind, members, cluster, json));
                plots.push_back(plot_of(kind, members, cluster));
            }
        }
        const nlohmann::json kernels = print_kernels(scenario, shape, json);
        if (json) {
            const nlohmann::json all{
                {"cluster", cluster.name}, {"library", cluster.library.name}, {"collectives", tables}, {"kernels", kernels}};
            fmt::print("{}\n", all.dump(2));
        }
    }
    if (values->count("svg") > 0) {
        write_output("svg", (*values)["svg"].as<std::string>(), plots_svg(plots), inputs);
    }
    return exit_done;
}

}  // namespace prismopt
