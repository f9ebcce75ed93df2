#include "optimizer/fit/constants.hpp"

#include "io/scenario/sections/catalog.hpp"
#include "model/hardware/machine_constants.hpp"
#include "optimizer/fit/families.hpp"

#include <algorithm>
#include <set>

namespace prismopt {

namespace {

constexpr const char* accelerators = accelerators_file;
constexpr const char* stacks = "stacks.toml";
constexpr const char* links = links_file;

/// What is believed of a constant before the runs are asked: a value, and standard deviations of natural
/// logarithms: of the mean of all entries, of families about that mean, and of the entries of a family about
/// theirs. Zero: the runs do not determine these apart, and they share one constant.
struct Kind {
    const char* file;
    const char* key;
    double believed;
    double spread;
    double of_families;
    double of_entries;
    double largest;
};
// Assumptions: shares of the peak as published for well-tuned kernels, latencies as NCCL's tuner has them.
constexpr Kind kinds[] = {
    {accelerators, "gemm", 0.65, 0.3, 0.2, 0.1, 1.0},
    {accelerators, "gemm_fp8", 0.6, 0.3, 0.2, 0.1, 1.0},
    {accelerators, "gemm_mxfp8", 0.57, 0.3, 0.2, 0.1, 1.0},
    {accelerators, "gemm_nvfp4", 0.45, 0.3, 0.2, 0.1, 1.0},
    {accelerators, "sustained_clock", 0.9, 0.05, 0.1, 0.05, 1.0},
    {accelerators, "attention", 0.5, 0.3, 0.2, 0.1, 1.0},
    {accelerators, "attention_backward", 0.4, 0.3, 0.2, 0.1, 1.0},
    {accelerators, "scan", 0.25, 0.5, 0.4, 0.2, 1.0},
    {accelerators, "memory", 0.8, 0.1, 0.1, 0.1, 1.0},
    {accelerators, "launch", 4e-6, 0.4, 0.0, 0.0, 1e-4},
    {stacks, "gemm", 1.0, 0.02, 0.1, 0.05, 2.0},
    {stacks, "attention", 1.0, 0.02, 0.2, 0.0, 2.0},
    {stacks, "memory", 0.9, 0.1, 0.3, 0.1, 2.0},
    {stacks, "routing", 3.0, 0.7, 0.5, 0.5, 12.0},
    {stacks, "network", 1.0, 1.0, 0.0, 0.0, 1.0},
    {stacks, "host", 30e-6, 0.7, 0.7, 0.2, 1e-3},
    {stacks, "host_native", 7e-6, 0.3, 0.0, 0.0,
     1e-4},  // 3.7 for a bare kernel, 8.5 for a product, measured: docs/methods/kernel-times.md
    {stacks, "step", 10e-3, 0.7, 0.7, 0.0, 1.0},
    {stacks, "communication_share", 0.1, 0.5, 0.0, 0.0, 0.5},
    {links, "efficiency", 0.8, 0.1, 0.15, 0.1, 1.0},
    {links, "latency", 12e-6, 0.5, 0.5, 0.3, 1e-3},
};

/// Stacks whose factors of kernels are one in the mean by definition: an accelerator's shares of the
/// peak are those that they reach.
constexpr const char* reference = "megatron";

/// Stacks whose network is not as good as its links: the links' constants come from the others.
const std::set<std::string> slow_network{"deepspeed-2021"};

bool is(const std::string& text, const char* other) { return text == other; }

bool lies_in(const std::string& entry, const char* family)
{
    const std::vector<EntryFamily>& families = catalog_families();
    return std::any_of(families.begin(), families.end(), [&](const EntryFamily& f) {
        return is(f.name, family) && std::find(f.entries.begin(), f.entries.end(), entry) != f.entries.end();
    });
}

double& field(Machines& machines, const std::string& file, const std::string& section, const std::string& key)
{
    if (file == accelerators) {
        return constant_of<Accelerator>(key).of(machines.accelerators.at(section));
    }
    if (file == stacks) {
        return constant_of<SoftwareStack>(key).of(machines.stacks.at(section));
    }
    if (file == libraries_file) {
        return constant_of<CollectiveLibrary>(key).of(machines.libraries.at(section));
    }
    return constant_of<NetworkTier>(key).of(machines.links.at(section));
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
    if (file == libraries_file) {
        return {run.cluster.library.name};
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
    const Precision precision = kind_of(run.workload.precision, run.cluster.stack);
    if (key == "gemm_fp8") {
        return precision == Precision::fp8_delayed || precision == Precision::fp8_current;
    }
    if (key == "gemm_mxfp8") {
        return precision == Precision::mxfp8;
    }
    if (key == "gemm_nvfp4") {
        return precision == Precision::nvfp4;
    }
    if (key == "scan") {
        return run.workload.scans();
    }
    if (key == "routing" || key == "host_native") {
        return run.workload.is_moe();
    }
    if (key == "all_to_all_start" || key == "all_to_all_between_nodes") {
        return run.plan.ep > 1;
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
    if (is(kind.key, "sustained_clock")) {
        return !lies_in(entry, "ampere") && !lies_in(entry, "hopper") && !lies_in(entry, "blackwell");
    }
    if (is(kind.key, "host_native")) {
        return catalog_stack(entry).host_native.si == 0.0;  // Python calls its experts
    }
    return kind.file == std::string(stacks) && kind.key == std::string("network") &&
           !slow_network.contains(entry);
}

/// All entries of a file of the catalog.
std::vector<std::string> entries(const std::string& file)
{
    if (file == libraries_file) {
        return catalog_libraries();
    }
    if (file == accelerators) {
        return catalog_accelerators();
    }
    return file == stacks ? catalog_stacks() : catalog_links();
}

struct KindFamily {
    std::vector<std::string> members;
    std::optional<EntryFamily::Belief> belief{};
};

/// [family]: entries that a kind of constant has, none of them twice. Entries in no
/// family: each in one of its own name.
std::map<std::string, KindFamily> families_with(const Kind& kind)
{
    std::map<std::string, KindFamily> result;
    for (const std::string& entry : entries(kind.file)) {
        if (fixed(kind, entry)) {
            continue;
        }
        const std::vector<EntryFamily>& families = catalog_families();
        const auto family = std::find_if(families.begin(), families.end(), [&](const EntryFamily& f) {
            return f.file == std::string(kind.file) && (f.keys.empty() || f.keys.contains(kind.key)) &&
                   std::find(f.entries.begin(), f.entries.end(), entry) != f.entries.end();
        });
        if (family == families.end()) {
            result[entry].members.push_back(entry);
            continue;
        }
        KindFamily& of_name = result[family->name];
        of_name.members.push_back(entry);
        of_name.belief = family->belief;
    }
    return result;
}

/// Constants of a kind, those of families after the mean of all and before those of their members.
class KindConstants {
public:
    KindConstants(const Kind& kind, const std::vector<MeasuredRun>& runs) : kind_(kind), runs_(runs)
    {
        const auto by_name = families_with(kind);
        if (kind.of_families == 0.0) {
            std::vector<std::string> all;
            for (const auto& [name, family] : by_name) {
                all.insert(all.end(), family.members.begin(), family.members.end());
            }
            add(everything(), all, kind.spread, "");
            return;
        }
        constants_.push_back(made(everything(), {}, kind.spread, ""));
        for (const auto& [name, family] : by_name) {
            add_family(name, family);
        }
        if (constants_.size() == 1) {
            constants_.clear();
        }
    }

    std::vector<FitConstant> release() { return std::move(constants_); }

private:
    /// "all stacks": names of means differ by file, since a chip and a stack have keys in common.
    std::string everything() const
    {
        const std::string file = kind_.file;
        return "all " + file.substr(0, file.find('.'));
    }

    FitConstant made(const std::string& group, const std::vector<std::string>& sections, double spread,
                     const std::string& parent) const
    {
        return {kind_.file,     group,  sections,      kind_.key,
                kind_.believed, spread, kind_.largest, parent.empty() ? parent : parent + "." + kind_.key};
    }

    bool measured(const FitConstant& constant) const
    {
        return std::any_of(runs_.begin(), runs_.end(),
                           [&](const MeasuredRun& run) { return constant.concerns(run); });
    }

    void add(const std::string& group, const std::vector<std::string>& sections, double spread,
             const std::string& parent)
    {
        FitConstant constant = made(group, sections, spread, parent);
        if (measured(constant)) {
            constants_.push_back(std::move(constant));
        }
    }

    /// Of one in the mean by definition.
    bool of_reference(const std::string& name) const
    {
        return name == reference &&
               (is(kind_.key, "gemm") || is(kind_.key, "attention") || is(kind_.key, "memory"));
    }

    bool is_shared(const std::string& name) const
    {
        const std::vector<EntryFamily>& families = catalog_families();
        return std::any_of(families.begin(), families.end(), [&](const EntryFamily& family) {
            return family.name == name && family.file == std::string(kind_.file) && family.shared;
        });
    }

    void add_family(const std::string& name, const KindFamily& family)
    {
        const std::vector<std::string>& members = family.members;
        if (family.belief) {
            add_believed(name, family);
            return;
        }
        if (of_reference(name)) {
            add_reference(members);
            return;
        }
        if (kind_.of_entries == 0.0 || members.size() == 1 || is_shared(name)) {
            add(name, members, kind_.of_families, everything());
            return;
        }
        if (!measured(made(name, members, 0.0, ""))) {
            return;
        }
        constants_.push_back(made(name, {}, kind_.of_families, everything()));
        add_members(name, members);
    }

    void add_believed(const std::string& name, const KindFamily& family)
    {
        FitConstant constant = made(name, family.members, family.belief->deviation, "");
        constant.value = family.belief->value;
        if (measured(constant)) {
            constants_.push_back(std::move(constant));
        }
    }

    void add_reference(const std::vector<std::string>& members)
    {
        constexpr double next_to_none = 1e-3;
        if (kind_.of_entries > 0.0) {
            constants_.push_back(made(reference, {}, next_to_none, ""));
            constants_.back().value = 1.0;
            add_members(reference, members);
        }
    }

    void add_members(const std::string& name, const std::vector<std::string>& members)
    {
        std::vector<std::string> others;
        for (const std::string& entry : members) {
            const std::size_t before = constants_.size();
            add(entry, {entry}, kind_.of_entries, name);
            if (constants_.size() == before) {
                others.push_back(entry);
            } else {
                constants_.back().spread_known = false;
            }
        }
        if (!others.empty()) {
            constants_.push_back(made("other " + name, others, kind_.of_entries, name));
            constants_.back().spread_known = false;
        }
    }

    const Kind& kind_;
    const std::vector<MeasuredRun>& runs_;
    std::vector<FitConstant> constants_;
};

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
    for (const std::string& name : catalog_libraries()) {
        machines.libraries.emplace(name, catalog_library(name));
    }
    return machines;
}

Cluster Machines::cluster_of(const MeasuredRun& run) const
{
    Cluster cluster = run.cluster;
    cluster.stack = stacks.at(run.cluster.stack.name);
    const Accelerator fitted = under(accelerators.at(run.cluster.accelerator.name), cluster.stack);
    cluster.accelerator.efficiency = fitted.efficiency;
    cluster.accelerator.launch = fitted.launch;
    cluster.library = libraries.at(run.cluster.library.name);
    cluster.accelerator.sustained_clock = fitted.sustained_clock;
    for (NetworkTier& tier : cluster.tiers) {
        const NetworkTier& link = links.at(tier.name);
        tier.efficiency = under(link, cluster.stack).efficiency;
        tier.latency = link.latency;
    }
    return cluster;
}

bool FitConstant::is(const FitConstant& of_entry) const
{
    return file == of_entry.file && key == of_entry.key &&
           std::find(sections.begin(), sections.end(), of_entry.sections.front()) != sections.end();
}

bool FitConstant::concerns(const MeasuredRun& run) const
{
    const std::vector<std::string> names = used(run, file);
    return matters(key, run) &&
           std::any_of(sections.begin(), sections.end(), [&names](const std::string& section) {
               return std::find(names.begin(), names.end(), section) != names.end();
           });
}

std::vector<FitConstant> fitted_constants(const std::vector<MeasuredRun>& runs)
{
    std::vector<FitConstant> constants;
    for (const Kind& kind : kinds) {
        for (FitConstant& constant : KindConstants(kind, runs).release()) {
            constants.push_back(std::move(constant));
        }
    }
    // Measured collectives count as observations and hold what is believed of libraries already.
    constexpr double hardly_believed = 1.0;
    for (const LibraryBelief& belief : library_beliefs) {
        const Kind kind{libraries_file, belief.key, belief.value, hardly_believed, 0.0, 0.0, belief.largest};
        for (FitConstant& constant : KindConstants(kind, runs).release()) {
            constants.push_back(std::move(constant));
        }
    }
    return constants;
}

void set_constant(Machines& machines, const FitConstant& constant, double value)
{
    for (const std::string& section : constant.sections) {
        field(machines, constant.file, section, constant.key) = std::min(value, constant.largest);
    }
}

}  // namespace prismopt
