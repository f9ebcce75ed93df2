#include "io/measured/measured_collectives.hpp"

#include "io/scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

namespace prismopt {

namespace {

constexpr const char* source = "Collectives";

/// Shorter messages are launches, not transfers; no training step waits for one.
constexpr double shortest_message = 64 * 1024;

/// Links by parts of what the `gpu` and `inter_node` columns say.
struct System {
    const char* gpu;
    const char* network;
    const char* inside;
    const char* between;
    int node;
};
constexpr auto systems = std::to_array<System>({{"A100", "EFA 400", "nvlink3", "roce-50g", 8},
                                                {"A100", "", "nvlink3", "ib-hdr", 8},
                                                {"H100", "EFA 3200", "nvlink4", "roce-400g", 8},
                                                {"H100", "", "nvlink4", "ib-ndr", 8},
                                                {"H200", "", "nvlink4", "ib-ndr", 8},
                                                {"GB200", "", "nvlink5", "ib-ndr", 72},
                                                {"B200 HGX", "", "nvlink5", "ib-ndr", 8},
                                                {"MI300X", "", "xgmi4", "roce-400g", 8}});

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::optional<Collective> kind_of(const std::string& name)
{
    const std::array<std::pair<const char*, Collective>, 4> kinds{{{"all_reduce", Collective::all_reduce},
                                                                   {"all_gather", Collective::all_gather},
                                                                   {"reduce_scatter", Collective::reduce_scatter},
                                                                   {"alltoall", Collective::all_to_all}}};
    const auto* found = std::find_if(kinds.begin(), kinds.end(), [&name](const auto& entry) { return name == entry.first; });
    return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

Cluster cluster_of(const System& system, int gpus)
{
    Cluster cluster;
    cluster.gpus = std::max(gpus, system.node);
    cluster.tiers.push_back(catalog_link(system.inside));
    cluster.tiers.back().group_gpus = system.node;
    if (cluster.gpus > system.node) {
        cluster.tiers.push_back(catalog_link(system.between));
        cluster.tiers.back().group_gpus = cluster.gpus;
    }
    return cluster;
}

/// Why the network model does not cover a row; empty where it does.
std::string refusal(const CsvRow& row, const System* system, std::optional<Collective> kind)
{
    if (system == nullptr || !kind) {
        return fmt::format("{} of {} is not described", row.text("collective"), row.text("gpu"));
    }
    if (row.number("time_us") <= 0.0) {
        return "no time";
    }
    if (row.number("size_bytes") < shortest_message) {
        return "smaller than 64 KiB: dominated by the launch";
    }
    return contains(row.text("notes"), "misconfigured") ? "the source suspects a misconfigured fabric" : "";
}

}  // namespace

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
        const auto kind = kind_of(row.text("collective"));
        const std::string reason = refusal(row, system == systems.end() ? nullptr : system, kind);
        if (!reason.empty()) {
            result.skipped.push_back({source, label, reason});
            continue;
        }
        const int gpus = row.count("n_gpus");
        result.rows.push_back({fmt::format("{} x {}, {}", gpus, row.text("gpu"), row.text("collective")), label,
                               cluster_of(*system, gpus), *kind, Bytes{row.number("size_bytes")}, row.number("time_us") * 1e-6});
        result.rows.back().cluster.gpus = gpus;
    }
    return result;
}

}  // namespace prismopt
