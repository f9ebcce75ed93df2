#include "optimizer/api/components.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/traces/collective_table.hpp"
#include "io/words/trace_text.hpp"
#include "model/hardware/collective.hpp"
#include "model/hardware/machine_constants.hpp"
#include "model/network/extent.hpp"
#include "model/network/network.hpp"
#include "model/plan/phase.hpp"
#include "optimizer/accuracy/collective_accuracy.hpp"
#include "optimizer/accuracy/collective_fit.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace prismopt {

namespace {

constexpr std::array kinds{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                           Collective::all_to_all};
// In the order of Algorithm.
constexpr std::array algorithms{"ring", "tree", "hierarchical", "in network", "direct", "torus"};

constexpr double smallest = 1024.0;  // bytes
constexpr double largest = 4.0 * 1024.0 * 1024.0 * 1024.0;

Group group_in(const Cluster& cluster, const GroupMembers& members)
{
    return group_of(std::array{Spacing{members.inside, 1}, Spacing{members.nodes, cluster.gpus_per_node()}},
                    0, cluster);
}

/// A node, two nodes, all nodes, and one GPU in each of all.
std::vector<GroupMembers> usual_members(const Cluster& cluster)
{
    const int node = cluster.gpus_per_node();
    std::vector<GroupMembers> list;
    std::set<std::pair<int, int>> seen;
    for (const GroupMembers& members : {GroupMembers{node, 1},
                                        {node, std::min(2, cluster.nodes())},
                                        {node, cluster.nodes()},
                                        {1, cluster.nodes()}}) {
        if (members.count() > 1 && seen.emplace(members.inside, members.nodes).second) {
            list.push_back(members);
        }
    }
    return list;
}

Collective kind_in(const std::string& asked, const CollectiveTable& table, const std::string& path)
{
    if (!asked.empty()) {
        const auto of_nccl = collective_of_nccl(asked);
        const auto kind = of_nccl ? of_nccl : parse<Collective>(asked);
        if (!kind) {
            throw InputError(
                fmt::format("--collective {} is unknown; choose from: {}", asked, choices<Collective>()));
        }
        return *kind;
    }
    const auto kind = collective_of_nccl(table.program);
    if (!kind) {
        throw InputError(
            table.program.empty()
                ? fmt::format("{} does not name its program; add for example --collective all_reduce", path)
                : fmt::format("{}: {}_perf is not among the modelled collectives ({})", path, table.program,
                              choices<Collective>()));
    }
    return *kind;
}

GroupMembers members_in(std::optional<int> asked, const CollectiveTable& table, const std::string& path,
                        const Cluster& cluster)
{
    const int ranks = asked.value_or(table.ranks);
    if (table.ranks > 0 && ranks != table.ranks) {
        throw InputError(
            fmt::format("--members {}: {} lists {} ranks; leave --members out", ranks, path, table.ranks));
    }
    if (table.single_rank) {
        throw InputError(fmt::format(
            "{} is of a single rank (bus bandwidth 0), whose collectives are copies in its memory; run the "
            "benchmark on all GPUs of a group",
            path));
    }
    if (ranks < 2) {
        throw InputError(
            fmt::format("{} does not list two ranks or more; add for example --members 16", path));
    }
    const int node = cluster.gpus_per_node();
    const bool listed = table.hosts > 0 && ranks == table.ranks;
    const int host = gpus_of_host(cluster.accelerator, Catalog::built_in());
    const int hosts_of_node = host > 0 ? std::max(1, node / host) : 1;
    const int nodes = listed ? (table.hosts + hosts_of_node - 1) / hosts_of_node : (ranks + node - 1) / node;
    const GroupMembers members{ranks / nodes, nodes};
    if (members.count() != ranks || members.inside > node || members.nodes > cluster.nodes()) {
        throw InputError(
            fmt::format("{} has {} ranks on {} nodes, which do not fit the {} nodes of {} GPUs of the "
                        "scenario; correct its cluster",
                        path, ranks, nodes, cluster.nodes(), node));
    }
    return members;
}

/// What the file may state about the tiers that the group uses.
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
                const auto set = [&constant, t](Cluster& other, double to) {
                    constant.of(other.tiers[t]) = to;
                };
                constants.push_back({fmt::format("{}.{}", tier.name, key), value, spread, 1.0, set});
            }
        }
    }
    return constants;
}

CollectiveTimes times_of(Collective kind, const GroupMembers& members, const Cluster& cluster, double factor)
{
    CollectiveTimes times{std::string(name(kind)), members, {}};
    const Group group = group_in(cluster, members);
    for (double bytes = smallest; bytes <= largest; bytes *= factor) {
        const CollectiveTime found = collective_time(kind, Bytes{bytes}, group, cluster);
        times.rows.push_back({.bytes = bytes,
                              .seconds = found.time.si,
                              .bus_bandwidth = bus_factor(kind, members.count()) * bytes / found.time.si,
                              .algorithm = algorithms[static_cast<std::size_t>(found.algorithm)]});
    }
    return times;
}

std::vector<TierValue> tier_values(const std::vector<CollectiveConstant>& before,
                                   const std::vector<CollectiveConstant>& after, const Cluster& cluster)
{
    std::vector<TierValue> values;
    for (std::size_t k = 0; k < after.size(); ++k) {
        const std::size_t dot = after[k].name.rfind('.');
        TierValue& value = values.emplace_back();
        value.tier = after[k].name.substr(0, dot);
        value.key = after[k].name.substr(dot + 1);
        value.before = before[k].value;
        value.value = after[k].value;
        value.deviation = after[k].deviation;
        value.determined = after[k].deviation < 0.9 * before[k].deviation;
        const auto tier = std::find_if(cluster.tiers.begin(), cluster.tiers.end(),
                                       [&value](const NetworkTier& t) { return t.name == value.tier; });
        value.bandwidth = tier->bandwidth.si;
    }
    return values;
}

CollectiveComparison comparison_of(const CollectiveTable& table, const std::string& path,
                                   const Cluster& cluster, const std::string& collective,
                                   std::optional<int> members)
{
    const Collective kind = kind_in(collective, table, path);
    CollectiveComparison compared;
    compared.collective = name(kind);
    compared.members = members_in(members, table, path, cluster);
    const Group group = group_in(cluster, compared.members);
    std::vector<MeasuredCollective> rows;
    for (const CollectiveTable::Row& row : table.rows) {
        const double size = number_in(row.size) * (table.per_member ? compared.members.count() : 1);
        if (size > 0.0) {
            MeasuredCollective& of = rows.emplace_back();
            of.system = path;
            of.cluster = cluster;
            of.group = group;
            of.kind = kind;
            of.message = Bytes{size};
            of.measured_s = row.seconds;
        }
    }
    if (rows.empty()) {
        throw InputError(fmt::format(
            "{} has no row with a size and a time; print sizes from 8 bytes on (-b 8 -e 1G -f 2)", path));
    }
    const std::vector<CollectiveConstant> before = constants_of_tiers(group, cluster);
    const std::vector<CollectiveConstant> after = fit_collectives(rows, before);
    const std::vector<double> now = predicted_times(rows, {});
    const std::vector<double> explained = predicted_times(rows, after);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        compared.rows.push_back({.bytes = rows[i].message.si,
                                 .measured_s = rows[i].measured_s,
                                 .predicted_s = now[i],
                                 .explained_s = explained[i]});
    }
    const std::vector<RegionErrors> errors = errors_by_region(rows, now);
    const std::vector<RegionErrors> left = errors_by_region(rows, explained);
    for (std::size_t i = 0; i < errors.size(); ++i) {
        compared.regions.push_back({errors[i].region, errors[i].error, left[i].error});
    }
    compared.values = tier_values(before, after, cluster);
    compared.curve = times_of(kind, compared.members, cluster, 2.0);
    compared.bus_factor = bus_factor(kind, compared.members.count());
    return compared;
}

}  // namespace

std::string GroupMembers::text() const
{
    return fmt::format("{} GPUs: {} in each of {} node{}", count(), inside, nodes, nodes == 1 ? "" : "s");
}

std::vector<CollectiveTimes> collective_times(const Cluster& cluster, double factor)
{
    std::vector<CollectiveTimes> all;
    for (const GroupMembers& members : usual_members(cluster)) {
        for (const Collective kind : kinds) {
            all.push_back(times_of(kind, members, cluster, factor));
        }
    }
    return all;
}

KernelTimes kernel_times(const Scenario& scenario, const std::string& design)
{
    const Phase& phase = scenario.phases.front();
    const ParallelPlan plan = design.empty() ? ParallelPlan{} : parse_design(design, scenario);
    const LayerShape shape = layer_shape(plan, phase.sequence, phase.global_batch);
    const Workload& workload = scenario.workload;
    return {.network = workload.name,
            .precision = std::string(name(workload.precision)),
            .microbatch = shape.microbatch,
            .sequence = shape.sequence,
            .tp = shape.tp,
            .cp = shape.cp,
            .rows = kernel_rows(network_of(workload), workload.precision, shape, scenario.cluster)};
}

std::vector<CollectiveComparison> compare_collectives(const Cluster& cluster, const std::string& path,
                                                      const std::string& collective,
                                                      std::optional<int> members)
{
    TraceStream stream(path);
    std::vector<Fault> faults;
    std::vector<CollectiveComparison> all;
    for (const CollectiveTable& table : read_collective_tables(stream, path, faults)) {
        all.push_back(comparison_of(table, path, cluster, collective, members));
    }
    for (const Fault& fault : faults) {
        log_warning(fmt::format("{}:{}: {} rows with {} are skipped", path, fault.first_line, fault.count,
                                fault_text(fault)));
    }
    return all;
}

}  // namespace prismopt
