#include "io/measured/measured_collectives.hpp"

#include "io/scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace prismopt {

namespace {

constexpr const char* source = "Collectives";

/// Links by parts of what the `gpu` and `inter_node` columns say.
struct System {
    const char* gpu;
    const char* network;
    const char* inside;
    const char* between;
    int node;
};
constexpr auto systems = std::to_array<System>({{"A100", "EFA 400", "nvlink3", "efa-400g", 8},
                                                {"A100", "", "nvlink3", "ib-hdr", 8},
                                                {"H100", "EFA 3200", "nvlink4", "efa-3200g", 8},
                                                {"H100", "", "nvlink4", "ib-ndr", 8},
                                                {"H200", "", "nvlink4", "ib-ndr", 8},
                                                {"GB200", "", "nvlink5", "ib-ndr", 72},
                                                {"B200 HGX", "", "nvlink5", "ib-ndr", 8},
                                                {"MI300X", "", "xgmi4", "roce-400g", 8}});

/// Racks whose times are longer by milliseconds at all sizes than those of two racks of the same source.
constexpr struct {
    const char* gpu;
    int gpus;
} slow{"GB200", 1440};

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

Cluster cluster_of(const System& system, int gpus)
{
    Cluster cluster;
    cluster.library = catalog_library(usual_library);
    cluster.gpus = std::max(gpus, system.node);
    cluster.tiers.push_back(catalog_link(system.inside));
    cluster.tiers.back().group_gpus = system.node;
    if (cluster.gpus > system.node) {
        cluster.tiers.push_back(catalog_link(system.between));
        cluster.tiers.back().group_gpus = cluster.gpus;
    }
    return cluster;
}

/// Where the source gives bus bandwidths only, the time is that of nccl-tests' definition (doc/PERFORMANCE.md there).
double seconds_of(const CsvRow& row, Collective kind)
{
    if (row.number("time_us") > 0.0) {
        return row.number("time_us") * 1e-6;
    }
    return row.number("size_bytes") * bus_factor(kind, row.count("n_gpus")) / (row.number("busbw_GBps") * 1e9);
}

/// Why the network model does not cover a row; empty where it does.
std::string refusal(const CsvRow& row, const System* system, std::optional<Collective> kind)
{
    if (system == nullptr || !kind) {
        return fmt::format("{} of {} is not described", row.text("collective"), row.text("gpu"));
    }
    if (row.number("time_us") <= 0.0 && row.number("busbw_GBps") <= 0.0) {
        return "no time and no bandwidth";
    }
    return "";
}

}  // namespace

std::optional<Collective> collective_of_nccl(const std::string& program)
{
    constexpr std::array<std::pair<const char*, Collective>, 4> programs{{{"all_reduce", Collective::all_reduce},
                                                                          {"all_gather", Collective::all_gather},
                                                                          {"reduce_scatter", Collective::reduce_scatter},
                                                                          {"alltoall", Collective::all_to_all}}};
    const auto* found = std::find_if(programs.begin(), programs.end(), [&program](const auto& p) { return program == p.first; });
    return found == programs.end() ? std::nullopt : std::optional(found->second);
}

MeasuredCollectives read_measured_collectives(const std::string& folder)
{
    MeasuredCollectives result;
    const std::string path = (std::filesystem::path(folder) / collectives_table).string();
    if (!std::filesystem::exists(path)) {
        return result;
    }
    int number = 0;
    for (const CsvRow& row : read_csv(path)) {
        ++number;
        const std::string label = fmt::format("collectives_bandwidth line {}", number + 1);
        const auto* system = std::find_if(systems.begin(), systems.end(), [&row](const System& s) {
            return contains(row.text("gpu"), s.gpu) && contains(row.text("inter_node"), s.network);
        });
        const auto kind = collective_of_nccl(row.text("collective"));
        const std::string reason = refusal(row, system == systems.end() ? nullptr : system, kind);
        if (!reason.empty()) {
            result.skipped.push_back({source, label, reason});
            continue;
        }
        const int gpus = row.count("n_gpus");
        MeasuredCollective& read = result.rows.emplace_back();
        read.system = fmt::format("{}: {}", row.text("source"), row.text("gpu"));
        read.what = fmt::format("{} x {}, {}", gpus, row.text("gpu"), row.text("collective"));
        read.row = label;
        read.cluster = cluster_of(*system, gpus);
        read.cluster.gpus = gpus;
        read.group = group_of({gpus, 1}, read.cluster);
        read.kind = *kind;
        read.message = Bytes{row.number("size_bytes")};
        read.measured_s = seconds_of(row, *kind);
        read.apart = contains(row.text("notes"), "misconfigured") || (contains(row.text("gpu"), slow.gpu) && gpus == slow.gpus);
    }
    return result;
}

}  // namespace prismopt
