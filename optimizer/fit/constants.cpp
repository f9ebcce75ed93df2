#include "optimizer/fit/constants.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace prismopt {

namespace {

constexpr const char* accelerators = "accelerators.toml";
constexpr const char* stacks = "stacks.toml";
constexpr const char* links = "links.toml";

struct Kind {
    const char* file;
    const char* key;
    double spread;
    double largest;
};
// Spreads: how far the catalog's value may be off before the runs are asked, as natural logarithms; assumptions.
constexpr Kind kinds[] = {
    {accelerators, "gemm", 0.3, 1.0},
    {accelerators, "gemm_low", 0.3, 1.0},
    {accelerators, "attention", 0.4, 1.0},
    {accelerators, "attention_backward", 0.4, 1.0},
    {accelerators, "memory", 0.2, 1.0},
    {accelerators, "launch", 0.4, 1e-4},
    {stacks, "gemm", 0.1, 2.0},
    {stacks, "attention", 0.2, 2.0},
    {stacks, "memory", 0.4, 2.0},
    {stacks, "routing", 0.7, 50.0},
    {stacks, "network", 1.0, 1.0},
    {stacks, "host", 1.0, 1e-4},
    {stacks, "step", 1.0, 1.0},
    {stacks, "communication_share", 0.7, 0.5},
    {links, "efficiency", 0.3, 1.0},
    {links, "latency", 0.7, 1e-3},
};

/// Entries that share their constants with another: the same chip with other memory, or too few runs of its own.
const std::map<std::string, std::string> twins{{"a100-sxm-40gb", "a100-sxm-80gb"}, {"h200-sxm", "h100-sxm"}, {"fsdp-pure", "fsdp-eager"}};

/// Stacks that use the network as it is not fitted elsewhere: the links' constants come from the others.
const std::set<std::string> networked{"deepspeed-2021", "internevo"};

/// Stacks whose factors are one by definition: an accelerator's shares of the peak are those of its reference stack.
const std::set<std::string> references{"megatron-2022", "megatron-core"};

std::string leader(const std::string& name)
{
    const auto found = twins.find(name);
    return found == twins.end() ? name : found->second;
}

bool is(const std::string& text, const char* other) { return text == other; }

double* field(Machines& machines, const std::string& file, const std::string& section, const std::string& key)
{
    if (file == accelerators) {
        Accelerator& a = machines.accelerators.at(section);
        return is(key, "gemm")                 ? &a.efficiency.gemm
               : is(key, "gemm_low")           ? &a.efficiency.gemm_low
               : is(key, "attention")          ? &a.efficiency.attention
               : is(key, "attention_backward") ? &a.efficiency.attention_backward
               : is(key, "memory")             ? &a.efficiency.memory
                                               : &a.launch.si;
    }
    if (file == stacks) {
        SoftwareStack& s = machines.stacks.at(section);
        return is(key, "gemm")        ? &s.gemm
               : is(key, "attention") ? &s.attention
               : is(key, "memory")    ? &s.memory
               : is(key, "routing")   ? &s.routing
               : is(key, "network")   ? &s.network
               : is(key, "host")      ? &s.host.si
               : is(key, "step")      ? &s.step.si
                                      : &s.communication_share;
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
        return run.workload.attention == AttentionKernel::flash;
    }
    if (key == "attention") {
        return run.workload.attention == AttentionKernel::flash;
    }
    return true;
}

bool fixed(const Kind& kind, const std::string& section)
{
    const std::string key = kind.key;
    if (key == "network") {
        return !networked.contains(section);
    }
    return kind.file == std::string(stacks) && references.contains(section) &&
           (key == "gemm" || key == "attention" || key == "memory");
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
    Machines machines = Machines::of_catalog();
    std::vector<FitConstant> constants;
    for (const Kind& kind : kinds) {
        std::map<std::string, std::set<std::string>> groups;  // by leader
        for (const MeasuredRun& run : runs) {
            for (const std::string& section : used(run, kind.file)) {
                if (matters(kind.key, run) && !fixed(kind, section)) {
                    groups[leader(section)].insert(section);
                }
            }
        }
        for (const auto& [first, members] : groups) {
            FitConstant constant{kind.file, {first}, kind.key, *field(machines, kind.file, first, kind.key), kind.spread, kind.largest};
            for (const auto& [twin, of] : twins) {
                if (of == first) {
                    constant.sections.push_back(twin);
                }
            }
            if (constant.value <= 0.0) {
                throw std::runtime_error(constant.name() + " must be positive to be fitted");
            }
            constants.push_back(std::move(constant));
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
