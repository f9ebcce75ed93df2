#include "io/measured/measured_collectives.hpp"

#include "io/base/utf8.hpp"
#include "io/measured/machine_names.hpp"
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

/// Links by the accelerator of the `gpu` column, and by a part of what the `inter_node` column says.
struct System {
    const char* accelerator;
    const char* network;
    const char* inside;
    const char* between;
    int node;
};
constexpr auto systems = std::to_array<System>({{"a100-sxm-80gb", "EFA 400", "nvlink3", "efa-400g", 8},
                                                {"a100-sxm-80gb", "", "nvlink3", "ib-hdr", 8},
                                                {"h100-sxm", "EFA 3200", "nvlink4", "efa-3200g", 8},
                                                {"h100-sxm", "", "nvlink4", "ib-ndr", 8},
                                                {"h200-sxm", "", "nvlink4", "ib-ndr", 8},
                                                {"gb200", "", "nvlink5", "ib-ndr", 72},
                                                {"b200-sxm", "", "nvlink5", "ib-ndr", 8},
                                                {"mi300x", "", "xgmi4", "roce-400g", 8}});

/// Racks whose times are longer by milliseconds at all sizes than those of two racks of the same source.
constexpr struct {
    const char* accelerator;
    int gpus;
} slow{"gb200", 1440};

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
        const std::string accelerator = accelerator_named(row.text("gpu"));
        const auto* system = std::find_if(systems.begin(), systems.end(), [&](const System& s) {
            return accelerator == s.accelerator && contains(row.text("inter_node"), s.network);
        });
        const auto kind = collective_of_nccl(row.text("collective"));
        const std::string reason = refusal(row, system == systems.end() ? nullptr : system, kind);
        if (!reason.empty()) {
            result.skipped.push_back({source, label, plain_text(reason)});
            continue;
        }
        const int gpus = row.count("n_gpus");
        MeasuredCollective& read = result.rows.emplace_back();
        read.system = plain_text(fmt::format("{}: {}", row.text("source"), row.text("gpu")));
        read.what = plain_text(fmt::format("{} x {}, {}", gpus, row.text("gpu"), row.text("collective")));
        read.row = label;
        read.cluster = cluster_of(*system, gpus);
        read.cluster.gpus = gpus;
        read.group = group_of({gpus, 1}, read.cluster);
        read.kind = *kind;
        read.message = Bytes{row.number("size_bytes")};
        read.measured_s = seconds_of(row, *kind);
        read.apart = contains(row.text("notes"), "misconfigured") || (accelerator == slow.accelerator && gpus == slow.gpus);
    }
    return result;
}

}  // namespace prismopt
