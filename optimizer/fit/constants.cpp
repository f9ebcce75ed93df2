#include "optimizer/fit/constants.hpp"

#include <algorithm>
#include <set>

namespace prismopt {

namespace {

constexpr const char* accelerators = "accelerators.toml";
constexpr const char* stacks = "stacks.toml";
constexpr const char* links = "links.toml";

/// What is believed of a constant before the runs are asked: a value and how far it may be off, as a natural logarithm.
struct Kind {
    const char* file;
    const char* key;
    double believed;
    double spread;
    double largest;
};
// Assumptions: shares of the peak as published for well-tuned kernels, latencies as NCCL's tuner has them.
constexpr Kind kinds[] = {
    {accelerators, "gemm", 0.65, 0.3, 1.0},
    {accelerators, "gemm_low", 0.55, 0.3, 1.0},
    {accelerators, "attention", 0.5, 0.3, 1.0},
    {accelerators, "attention_backward", 0.4, 0.3, 1.0},
    {accelerators, "memory", 0.8, 0.15, 1.0},
    {accelerators, "launch", 4e-6, 0.4, 1e-4},
    {stacks, "gemm", 1.0, 0.1, 2.0},
    {stacks, "attention", 1.0, 0.2, 2.0},
    {stacks, "memory", 0.9, 0.3, 2.0},
    {stacks, "routing", 3.0, 0.7, 12.0},
    {stacks, "network", 1.0, 1.0, 1.0},
    {stacks, "host", 30e-6, 1.0, 1e-3},
    {stacks, "step", 10e-3, 1.0, 1.0},
    {stacks, "communication_share", 0.1, 0.5, 0.5},
    {links, "efficiency", 0.8, 0.2, 1.0},
    {links, "latency", 12e-6, 0.7, 1e-3},
};

/// An entry that has the constants of another, or some of them. Two constants are one where the runs do not tell them apart: each
/// would stay where it was believed, and a source that is left out would be told by it alone.
struct Sharing {
    const char* entry;
    const char* with;
    std::set<std::string> keys{};  // empty: all
};
const std::vector<Sharing> sharings{{"a100-sxm-40gb", "a100-sxm-80gb"},  // the same chip with other memory
                                    {"h200-sxm", "h100-sxm"},
                                    {"h100-sxm-96gb-hbm2e", "h100-sxm", {"attention", "attention_backward", "memory"}},
                                    {"b200-sxm", "gb200", {"attention", "attention_backward"}},
                                    {"fsdp-pure", "fsdp-eager"},
                                    {"fsdp-compile", "fsdp-eager", {"memory", "attention"}},
                                    {"fsdp-compile-16bit", "fsdp-compile", {"gemm"}},
                                    {"fsdp-compile-16bit", "fsdp-eager", {"memory", "attention"}},
                                    {"deepspeed-2021", "megatron-deepspeed", {"gemm"}},
                                    {"deepspeed-2021", "megatron-deepspeed-2023", {"memory"}},
                                    {"megatron-deepspeed", "megatron-deepspeed-2023", {"memory"}},
                                    {"nvlink2", "nvlink3", {"efficiency"}},
                                    {"opa-100g", "opa-50g", {"efficiency"}},
                                    {"roce-50g", "roce", {"efficiency"}},
                                    {"roce-100g", "roce", {"efficiency"}},
                                    {"roce-200g", "roce", {"efficiency"}},
                                    {"roce-400g", "roce", {"efficiency"}},
                                    {"ib-hdr", "ib", {"efficiency"}},
                                    {"ib-ndr", "ib", {"efficiency"}}};

/// Entries that are near another, but have runs enough to show how they differ.
const std::map<std::string, std::string> relatives{{"b200-sxm", "gb200"},
                                                   {"h100-sxm-96gb-hbm2e", "h100-sxm"},
                                                   {"fsdp-compile", "fsdp-eager"},
                                                   {"megatron-bridge", "megatron-bridge-2025"},
                                                   {"megatron-lm", "megatron-lm-local"}};

/// Stacks whose factors are one by definition: an accelerator's shares of the peak are those of its reference stack, whose later
/// releases have the same kernels.
const std::set<std::string> references{"megatron-2022",   "megatron-core",        "megatron-core-2026", "megatron-lm",
                                       "megatron-bridge", "megatron-bridge-2025", "megatron-lm-local"};

/// Stacks whose network is not as good as its links: the links' constants come from the others.
const std::set<std::string> slow_network{"deepspeed-2021"};

/// Stacks with fused attention in runs where it counts.
const std::set<std::string> attentive{"fsdp-eager", "fsdp-pure", "fsdp-compile", "fsdp-compile-16bit"};

/// The entry whose constant this one shares. Kernel gaps, costs of a step and the share of multiprocessors are one constant for all;
/// latencies one for links inside nodes and one for the others; of hosts one for each family of frameworks.
std::string leader(const std::string& key, const std::string& entry)
{
    if (key == "launch" || key == "communication_share") {
        return "all";
    }
    if (key == "step") {
        return entry.starts_with("megatron-deepspeed") || entry.starts_with("deepspeed") ? "deepspeed" : "others";
    }
    if (key == "latency" && (entry.starts_with("ici") || entry.starts_with("neuronlink"))) {
        return entry;  // hops of a torus
    }
    if (key == "latency") {
        return entry.starts_with("nvlink") || entry.starts_with("xgmi") ? "inside nodes" : "between nodes";
    }
    if (key == "host") {
        const auto family = [&entry](const char* name) { return entry.starts_with(name); };
        const bool graphs = entry == "megatron-bridge" || entry == "megatron-core-2026";  // CUDA graphs in more and more recipes
        return family("fsdp") || family("internevo")                                                 ? "fsdp"
               : family("megatron-deepspeed") || family("deepspeed") || entry == "megatron-lm-local" ? "megatron-lm-local"
               : graphs || entry == "megatron-lm"                                                    ? entry
                                                                                                     : "megatron-core";
    }
    const auto found = std::find_if(sharings.begin(), sharings.end(), [&](const Sharing& sharing) {
        return entry == sharing.entry && (sharing.keys.empty() || sharing.keys.contains(key));
    });
    return found == sharings.end() ? entry : found->with;
}

bool is(const std::string& text, const char* other) { return text == other; }

double* field(Accelerator& a, const std::string& key)
{
    return is(key, "gemm")                 ? &a.efficiency.gemm
           : is(key, "gemm_low")           ? &a.efficiency.gemm_low
           : is(key, "attention")          ? &a.efficiency.attention
           : is(key, "attention_backward") ? &a.efficiency.attention_backward
           : is(key, "memory")             ? &a.efficiency.memory
                                           : &a.launch.si;
}

double* field(SoftwareStack& s, const std::string& key)
{
    return is(key, "gemm")        ? &s.gemm
           : is(key, "attention") ? &s.attention
           : is(key, "memory")    ? &s.memory
           : is(key, "routing")   ? &s.routing
           : is(key, "network")   ? &s.network
           : is(key, "host")      ? &s.host.si
           : is(key, "step")      ? &s.step.si
                                  : &s.communication_share;
}

double* field(Machines& machines, const std::string& file, const std::string& section, const std::string& key)
{
    if (file == accelerators) {
        return field(machines.accelerators.at(section), key);
    }
    if (file == stacks) {
        return field(machines.stacks.at(section), key);
    }
    NetworkTier& tier = machines.links.at(section);
    return is(key, "efficiency") ? &tier.efficiency : &tier.latency.si;
}

/// Entries of a file that a run uses.
std::vector<std::string> used(const MeasuredRun& run, const std::string& file)
{
    if (file == accelerators) {
        return {run.cluster.accelerator.name};
    }
    if (file == stacks) {
        return {run.cluster.stack.name};
    }
    std::vector<std::string> names;
    for (const NetworkTier& tier : run.cluster.tiers) {
        names.push_back(tier.name);
    }
    return names;
}

/// Whether a key can matter to a run that uses the entry.
bool matters(const std::string& key, const MeasuredRun& run)
{
    if (key == "gemm_low") {
        return run.workload.precision == Precision::fp8 || run.workload.precision == Precision::nvfp4;
    }
    if (key == "routing") {
        return run.workload.mixture();
    }
    if (key == "attention_backward") {
        return run.workload.fuses_attention();
    }
    if (key == "attention") {
        return run.workload.fuses_attention();
    }
    return true;
}

bool fixed(const Kind& kind, const std::string& entry)
{
    const std::string key = kind.key;
    if (kind.file != std::string(stacks)) {
        return false;
    }
    if (key == "network") {
        return !slow_network.contains(entry);
    }
    if (key == "attention") {
        return !attentive.contains(entry);
    }
    return references.contains(entry) && (key == "gemm" || key == "memory");
}

/// All entries of a file of the catalog.
std::vector<std::string> entries(const std::string& file)
{
    return file == accelerators ? catalog_accelerators() : file == stacks ? catalog_stacks() : catalog_links();
}

}  // namespace

Machines Machines::of_catalog()
{
    Machines machines;
    for (const std::string& name : catalog_accelerators()) {
        machines.accelerators.emplace(name, catalog_accelerator(name));
    }
    for (const std::string& name : catalog_stacks()) {
        machines.stacks.emplace(name, catalog_stack(name));
    }
    for (const std::string& name : catalog_links()) {
        machines.links.emplace(name, catalog_link(name));
    }
    return machines;
}

Cluster Machines::cluster_of(const MeasuredRun& run) const
{
    Cluster cluster = run.cluster;
    cluster.stack = stacks.at(run.cluster.stack.name);
    cluster.accelerator = under(accelerators.at(run.cluster.accelerator.name), cluster.stack);
    for (NetworkTier& tier : cluster.tiers) {
        const NetworkTier& link = links.at(tier.name);
        tier.efficiency = under(link, cluster.stack).efficiency;
        tier.latency = link.latency;
    }
    return cluster;
}

bool FitConstant::concerns(const MeasuredRun& run) const
{
    const std::vector<std::string> names = used(run, file);
    return matters(key, run) && std::any_of(sections.begin(), sections.end(), [&names](const std::string& section) {
               return std::find(names.begin(), names.end(), section) != names.end();
           });
}

std::vector<FitConstant> fitted_constants(const std::vector<MeasuredRun>& runs)
{
    std::vector<FitConstant> constants;
    for (const Kind& kind : kinds) {
        std::map<std::string, std::vector<std::string>> groups;  // entries by leader
        for (const std::string& entry : entries(kind.file)) {
            if (!fixed(kind, entry)) {
                groups[leader(kind.key, entry)].push_back(entry);
            }
        }
        for (auto& [name, members] : groups) {
            FitConstant constant{kind.file, name, std::move(members), kind.key, kind.believed, kind.spread, kind.largest, {}};
            const auto relative = relatives.find(name);
            if (relative != relatives.end()) {
                constant.relative = relative->second + "." + kind.key;
            }
            if (std::any_of(runs.begin(), runs.end(), [&](const MeasuredRun& run) { return constant.concerns(run); })) {
                constants.push_back(std::move(constant));
            }
        }
    }
    return constants;
}

void set_constant(Machines& machines, const FitConstant& constant, double value)
{
    for (const std::string& section : constant.sections) {
        *field(machines, constant.file, section, constant.key) = std::min(value, constant.largest);
    }
}

}  // namespace prismopt
