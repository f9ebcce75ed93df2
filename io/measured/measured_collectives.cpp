#include "io/measured/measured_collectives.hpp"

#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"
#include "io/scenario/sections/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace prismopt {

namespace {

constexpr const char* source = "Collectives";

Cluster cluster_of(const CsvRow& row, int gpus)
{
    Cluster cluster;
    const int node = row.count("node");
    cluster.library = catalog_library(usual_library);
    cluster.gpus = std::max(gpus, node);
    cluster.tiers.push_back(catalog_link(row.text("node_link")));
    cluster.tiers.back().group_gpus = node;
    if (cluster.gpus > node) {
        cluster.tiers.push_back(catalog_link(row.text("network_link")));
        cluster.tiers.back().group_gpus = cluster.gpus;
    }
    return cluster;
}

/// Where the source gives bus bandwidths only, the time is that of nccl-tests'
/// definition (doc/PERFORMANCE.md there).
double seconds_of(const CsvRow& row, Collective kind)
{
    if (row.number("time_us") > 0.0) {
        return row.number("time_us") * 1e-6;
    }
    return row.number("size_bytes") * bus_factor(kind, row.count("gpus")) / (row.number("busbw_GBps") * 1e9);
}

/// Why the network model does not cover a row; empty where it does.
std::string refusal(const CsvRow& row, std::optional<Collective> kind)
{
    const std::vector<std::string> links = catalog_links();
    const auto unknown = [&](const char* column) {
        return std::find(links.begin(), links.end(), row.text(column)) == links.end();
    };
    if (!row.text("skipped").empty()) {
        return row.text("skipped");
    }
    if (!kind) {
        return fmt::format("{} of {} is not described", row.text("collective"), row.text("machine"));
    }
    if (row.count("gpus") == 0 || row.count("node") == 0) {
        return "no number of GPUs, or of GPUs in a node";
    }
    for (const char* column : {"node_link", "network_link"}) {
        if (unknown(column)) {
            return fmt::format("{} = \"{}\" is not in the catalog", column, row.text(column));
        }
    }
    return row.number("time_us") <= 0.0 && row.number("busbw_GBps") <= 0.0 ? "no time and no bandwidth" : "";
}

}  // namespace

std::optional<Collective> collective_of_nccl(const std::string& program)
{
    constexpr std::array<std::pair<const char*, Collective>, 4> programs{
        {{"all_reduce", Collective::all_reduce},
         {"all_gather", Collective::all_gather},
         {"reduce_scatter", Collective::reduce_scatter},
         {"alltoall", Collective::all_to_all}}};
    const auto* found = std::find_if(programs.begin(), programs.end(),
                                     [&program](const auto& p) { return program == p.first; });
    return found == programs.end() ? std::nullopt : std::optional(found->second);
}

MeasuredCollectives read_measured_collectives(const std::string& folder)
{
    MeasuredCollectives result;
    const std::string path = (std::filesystem::path(folder) / collectives_table).string();
    if (!std::filesystem::exists(path)) {
        return result;
    }
    if (!table_has_column(path, "node_link")) {
        throw InputError(fmt::format("{}:1: has no column node_link; {}", path, how_to_normalise(folder)));
    }
    int number = 0;
    for (const CsvRow& row : read_csv(path)) {
        ++number;
        const std::string label = fmt::format("collectives_bandwidth line {}", number + 1);
        const auto kind = collective_of_nccl(row.text("collective"));
        const std::string reason = refusal(row, kind);
        if (!reason.empty()) {
            result.skipped.push_back({source, label, plain_text(reason)});
            continue;
        }
        const int gpus = row.count("gpus");
        MeasuredCollective& read = result.rows.emplace_back();
        read.system = plain_text(fmt::format("{}: {}", row.text("source"), row.text("machine")));
        read.what = plain_text(fmt::format("{} x {}, {}", gpus, row.text("machine"), row.text("collective")));
        read.row = label;
        read.cluster = cluster_of(row, gpus);
        read.cluster.gpus = gpus;
        read.group = group_of({gpus, 1}, read.cluster);
        read.kind = *kind;
        read.message = Bytes{row.number("size_bytes")};
        read.measured_s = seconds_of(row, *kind);
        read.doubtful = row.text("doubted") == "yes";
    }
    return result;
}

}  // namespace prismopt
