#include "io/authoring/catalog_list.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/gpu_price.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/software.hpp"
#include "io/toml/nearest.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace prismopt {

using namespace literals;

namespace {

/// What an entry is, and what its numbers rest on.
struct EntryLine {
    std::string what;
    std::string evidence;
};

/// Of accelerators and links: what was fitted to measured runs.
std::string evidence_by_fit(std::string_view kind, const std::string& key, const std::string& name,
                            const Catalog& catalog)
{
    if (catalog.is_own(kind, name)) {
        return "yours";
    }
    const int rows = rows_of(fitted_model(), key, name);
    return rows > 0 ? fmt::format("fitted to {} measured runs", rows) : "declared";
}

EntryLine accelerator_line(const std::string& name, const Catalog& catalog)
{
    const Accelerator of = catalog_accelerator(name, catalog);
    return {fmt::format("{:.4g} TFLOP/s in 16 bits, {:.4g} GiB at {:.4g} GB/s",
                        of.peak_bf16.si / (1_TFLOP_per_s).si, of.memory.si / (1_GiB).si,
                        of.memory_bandwidth.si / (1_GB_per_s).si),
            evidence_by_fit(accelerators_kind, "gemm", name, catalog)};
}

EntryLine link_line(const std::string& name, const Catalog& catalog)
{
    const NetworkTier of = catalog_link(name, catalog);
    const char* joins = of.kind == TierKind::network ? "between nodes" : "inside nodes";
    return {
        fmt::format("{}, {:.4g} GB/s ({:.5g} Gb/s) per direction, of which large collectives reach {:.0f} %",
                    joins, of.bandwidth.si / (1_GB_per_s).si, 8.0 * of.bandwidth.si / (1_GB_per_s).si,
                    100.0 * of.efficiency),
        evidence_by_fit(links_kind, "efficiency", name, catalog)};
}

EntryLine instance_line(const std::string& name, const Catalog& catalog)
{
    const Instance of = catalog_instance(name, catalog);
    const std::string price = of.list.source.empty() ? "" : fmt::format(", {}", hourly(of.list.price));
    return {fmt::format("{} x {}, network of {:.5g} Gb/s ({}){}", of.gpus, of.accelerator,
                        8.0 * of.network.si / (1_GB_per_s).si, of.network_link, price),
            of.source};
}

EntryLine workload_line(const std::string& name, const Catalog& catalog)
{
    const Workload of = catalog_workload(name, catalog);
    return {fmt::format("{:.4g} B parameters, {} layers", 1e-9 * parameters_of(network_of(of)), of.layers()),
            catalog.is_own(workloads_kind, name) ? "yours" : "model/catalog/workloads.toml"};
}

EntryLine software_line(const std::string& name, const Catalog& catalog)
{
    const SoftwareEntry of = catalog_software(name, catalog);
    std::string releases;
    for (const SoftwareRelease& release : of.releases) {
        const int rows = rows_behind(release);
        releases +=
            fmt::format("{}{} ({}, {})", releases.empty() ? "releases " : "; ", release.name, release.year,
                        rows > 0 ? fmt::format("{} measured runs", rows) : "no measured run");
    }
    const std::string& target = of.releases.front().trainer;
    const std::string trainer = target.empty() ? "" : fmt::format("; exported by --target {}", target);
    return {of.about + trainer, catalog.is_own(software_kind, name) ? "yours; " + releases : releases};
}

struct KindOfList {
    std::string_view kind;
    EntryLine (*line)(const std::string&, const Catalog&);
};
constexpr std::array kinds_of_lists{KindOfList{accelerators_kind, accelerator_line},
                                    KindOfList{instances_kind, instance_line},
                                    KindOfList{links_kind, link_line},
                                    KindOfList{software_kind, software_line},
                                    KindOfList{workloads_kind, workload_line}};

}  // namespace

std::vector<std::string> listed_kinds()
{
    std::vector<std::string> kinds;
    for (const KindOfList& row : kinds_of_lists) {
        kinds.emplace_back(row.kind);
    }
    return kinds;
}

std::string catalog_list(const std::string& kind, const Catalog& catalog)
{
    const auto* row = std::find_if(kinds_of_lists.begin(), kinds_of_lists.end(),
                                   [&](const KindOfList& candidate) { return candidate.kind == kind; });
    if (row == kinds_of_lists.end()) {
        throw InputError(fmt::format("--list {} is unknown{}; choose from: {}", kind,
                                     guess_of(kind, listed_kinds()), listed(listed_kinds())));
    }
    std::vector<std::string> names = catalog.names(kind);
    std::vector<EntryLine> lines;
    std::size_t name_width = 0;
    std::size_t what_width = 0;
    for (const std::string& name : names) {
        lines.push_back(row->line(name, catalog));
        name_width = std::max(name_width, name.size());
        what_width = std::max(what_width, lines.back().what.size());
    }
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += fmt::format("{:<{}}  {:<{}}  {}\n", names[i], name_width, lines[i].what, what_width,
                            lines[i].evidence);
    }
    return text;
}

}  // namespace prismopt
