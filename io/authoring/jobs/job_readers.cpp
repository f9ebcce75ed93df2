#include "io/authoring/jobs/job_readers.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace prismopt {

std::string last_name(const std::string& path)
{
    const std::size_t slash = path.find_last_of('/');
    return path.substr(slash == std::string::npos ? 0 : slash + 1);
}

namespace {

/// The text of a small file; nothing: it is not there.
std::optional<std::string> text_of_file(const std::filesystem::path& path)
{
    constexpr std::uintmax_t largest = 8'000'000;
    std::error_code wrong;
    if (!std::filesystem::is_regular_file(path, wrong) || std::filesystem::file_size(path, wrong) > largest ||
        wrong) {
        return std::nullopt;
    }
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Folders in which names of files are looked up: those of the request's files, and where the program runs.
std::vector<std::filesystem::path> folders_of(const ImportRequest& request)
{
    std::vector<std::filesystem::path> folders;
    for (const JobFile& file : request.files) {
        folders.push_back(std::filesystem::path(file.path).parent_path());
    }
    folders.emplace_back();
    return folders;
}

/// Whether `given` ends with `name` as a path: "a/b/model/config.json" and "./model/config.json".
bool ends_with_path(const std::string& given, std::string name)
{
    if (name.starts_with("./")) {
        name = name.substr(2);
    }
    return given == name || given.ends_with("/" + name);
}

/// "a100-40gb" for the "a100-40g" of sites.
std::string with_whole_units(const std::string& word)
{
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
        text += word[i];
        const bool follows = i > 0 && std::isdigit(static_cast<unsigned char>(word[i - 1])) != 0;
        const bool ends = i + 1 == word.size() || std::isalpha(static_cast<unsigned char>(word[i + 1])) == 0;
        if ((word[i] == 'g' || word[i] == 'G') && follows && ends) {
            text += 'b';
        }
    }
    return text;
}

/// Accelerators that a word of Slurm may mean, the usual form first.
std::vector<std::string> accelerators_like(const std::string& word, const Catalog& catalog)
{
    std::vector<std::string> names = nearest_names(with_whole_units(word), catalog.names(accelerators_kind));
    const auto has = [](const std::string& name, std::string_view form) {
        return name.find(form) != std::string::npos;
    };
    std::stable_partition(names.begin(), names.end(),
                          [&](const std::string& name) { return !has(name, "-40gb") && !has(name, "96gb"); });
    std::stable_partition(names.begin(), names.end(),
                          [&](const std::string& name) { return has(name, "-sxm"); });
    return names;
}

/// Accelerators that the hints name: those of the first hint that names any, then narrowed by later
/// hints that name fewer of them.
struct HintedAccelerators {
    std::vector<std::string> names;
    std::vector<JobMachine::Hint> by;
};
HintedAccelerators hinted_accelerators(const JobMachine& machine, const Catalog& catalog)
{
    HintedAccelerators found;
    for (const JobMachine::Hint& given : machine.accelerators) {
        std::vector<std::string> meant = accelerators_like(given.word, catalog);
        if (!found.names.empty()) {
            std::erase_if(meant, [&found](const std::string& name) {
                return std::find(found.names.begin(), found.names.end(), name) == found.names.end();
            });
        }
        const bool narrows = found.names.empty() || meant.size() < found.names.size();
        if (!meant.empty() && narrows) {
            found.names = std::move(meant);
            found.by.push_back(given);
        }
    }
    return found;
}

void read_accelerator(const JobSources& sources, const JobMachine& machine, ImportedJob& job,
                      JobSettings& settings)
{
    if (!sources.request.instance.empty() || !sources.request.accelerator.empty()) {
        job.accelerator = sources.request.accelerator;
        return;
    }
    const auto [names, hints] = hinted_accelerators(machine, sources.catalog);
    if (names.empty()) {
        if (job.accelerator.empty()) {
            job.accelerator = "h100-sxm";
        }
        settings.assume(fmt::format(
            "accelerator {}: no file names it; --accelerator or --instance gives yours", job.accelerator));
        return;
    }
    job.accelerator = names.front();
    std::vector<std::string> others(names.begin() + 1, names.end());
    std::string by;
    for (const JobMachine::Hint& hint : hints) {
        by += fmt::format("{}\"{}\", {}", by.empty() ? "" : ", and ", printable(hint.word), hint.from);
    }
    settings.assume(fmt::format("accelerator {} for {}{}; --accelerator gives another", job.accelerator, by,
                                others.empty() ? "" : fmt::format(" (also: {})", listed(others))));
}

/// Whether NCCL has only sockets between nodes: NCCL_IB_DISABLE=1 (NVIDIA, NCCL user guide, environment
/// variables), unless a provider of libfabric is named, as on AWS (aws-ofi-nccl, fi_provider(7)).
bool uses_sockets(const LaunchCommand& command)
{
    const auto disabled = command.environment.find("NCCL_IB_DISABLE");
    return disabled != command.environment.end() && disabled->second == "1" &&
           !command.environment.contains("FI_PROVIDER");
}

/// What joins the nodes of a job. The GPUs of a node send through one port where NCCL has only sockets.
void read_network(const JobSources& sources, ImportedJob& job, JobSettings& settings)
{
    const ImportRequest& request = sources.request;
    job.node_network = request.network;
    const auto usual = usual_cluster(job.accelerator, sources.catalog);
    if (!request.instance.empty() || !usual) {
        return;
    }
    const int node_gpus = job.node_gpus > 0 ? job.node_gpus : usual->node_gpus;
    if (job.gpus <= node_gpus) {
        return;
    }
    if (sources.command && uses_sockets(*sources.command)) {
        constexpr const char* common = "eth-25g";  // assumption: what servers usually have beside InfiniBand
        job.one_port = true;
        job.node_network = request.network.empty() ? common : request.network;
        const std::string speed =
            request.network.empty() ? ", whose speed no file states; --network gives yours" : "";
        settings.assume(fmt::format(
            "network between nodes: one port of {} for the GPUs of a node, as NCCL_IB_DISABLE=1 leaves "
            "Ethernet{}",
            job.node_network, speed));
    } else if (request.network.empty()) {
        settings.assume(fmt::format("network between nodes: {}, as {} usually has; --network gives yours",
                                    usual->network_link, job.accelerator));
    }
}

}  // namespace

std::optional<JobFile> job_file(const JobSources& sources, const std::string& name)
{
    for (const auto* files : {&sources.request.files, &sources.beside}) {
        for (const JobFile& file : *files) {
            if (ends_with_path(file.path, name)) {
                return file;
            }
        }
    }
    for (const JobFile& file : sources.request.files) {
        if (last_name(file.path) == last_name(name) && last_name(name) != "config.json") {
            return file;
        }
    }
    for (const std::filesystem::path& folder : folders_of(sources.request)) {
        for (const std::string& own : {name, last_name(name)}) {
            const std::filesystem::path path = folder / own;
            if (auto text = text_of_file(path)) {
                return JobFile{path.lexically_normal().string(), std::move(*text)};
            }
            if (last_name(name) == "config.json") {
                break;  // of another network
            }
        }
    }
    return std::nullopt;
}

void read_machine(const JobSources& sources, JobMachine machine, ImportedJob& job, JobSettings& settings)
{
    job.gpus = sources.request.gpus > 0 ? sources.request.gpus : machine.gpus;
    job.node_gpus = sources.request.node_gpus > 0 ? sources.request.node_gpus : machine.node_gpus;
    if (sources.request.gpus > 0 && machine.gpus > 0 && machine.gpus != sources.request.gpus) {
        settings.assume(fmt::format("{} GPUs as --gpus says; the files start {} processes",
                                    sources.request.gpus, machine.gpus));
        job.node_gpus = sources.request.node_gpus;
    }
    if (job.gpus == 0) {
        const std::string why = machine.missing.empty() ? "no file says on how many GPUs the job runs"
                                                        : fmt::format("the number of GPUs depends on {}",
                                                                      listed(machine.missing));
        throw InputError(fmt::format(
            "{}; add --gpus N{}", why,
            machine.missing.empty() ? "" : fmt::format(", or --set {}=VALUE", machine.missing.front())));
    }
    if (job.node_gpus == 0 || job.node_gpus > job.gpus) {
        job.node_gpus = sources.request.node_gpus;
    }
    // A launcher may start fewer processes on a node than it has GPUs only with nodes in
    // part, which no scenario describes.
    for (const std::string& note : machine.notes) {
        settings.assume(note);
    }
    read_accelerator(sources, machine, job, settings);
    read_network(sources, job, settings);
}

void use_catalog_network(const JobSources& sources, const std::string& named, ImportedJob& job)
{
    job.model = named;
    job.network.workload = catalog_workload(named, sources.catalog);
    job.network.architecture = named;
}

void read_model(const JobSources& sources, const std::string& named, ImportedJob& job, JobSettings& settings)
{
    const ImportRequest& request = sources.request;
    if (!request.workload.empty()) {
        use_catalog_network(sources, request.workload, job);
        return;
    }
    std::optional<JobFile> config = request.model_config;
    if (!config && !named.empty()) {
        config = job_file(sources, named + "/config.json");
    }
    if (!config) {
        for (const JobFile& file : request.files) {
            const bool is_config = last_name(file.path) == "config.json" ||
                                   file.text.find("\"architectures\"") != std::string::npos;
            if (is_config) {
                config = file;
            }
        }
    }
    if (config) {
        job.network = imported_network(config->text, config->path, request.field_names);
        for (const std::string& assumption : job.network.assumptions) {
            settings.assume(assumption);
        }
        for (const std::string& field : job.network.omitted) {
            settings.assume(fmt::format("{} of {} is omitted", field, config->path));
        }
        for (const std::string& warning : job.network.warnings) {
            settings.assume(warning);
        }
        return;
    }
    const std::string name = last_name(named);
    for (const std::string& known : sources.catalog.names(workloads_kind)) {
        if (same_name(name, known)) {
            use_catalog_network(sources, known, job);
            return;
        }
    }
    settings.refuse_slip_for("num-layers");
    settings.refuse_slip_for("hidden-size");
    const std::vector<std::string> near = nearest_names(name, sources.catalog.names(workloads_kind));
    throw InputError(
        fmt::format("the network {} is not described in the files; add its config.json (--model-config "
                    "FILE), or name one of the catalog: "
                    "--workload NAME{}",
                    named.empty() ? "of the job" : printable(named),
                    near.empty() ? "" : fmt::format(" ({} ?)", listed(near))));
}

void derive_replicas(ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    const int replica = plan.tp * plan.pp * plan.cp;
    if (replica <= 0 || job.gpus % replica != 0) {
        throw InputError(fmt::format(
            "tp*pp*cp = {}*{}*{} = {} does not divide {} GPUs; correct the degrees, or give --gpus N",
            plan.tp, plan.pp, plan.cp, replica, job.gpus));
    }
    plan.dp = job.gpus / replica;
}

void check_batch(const ImportedJob& job)
{
    const ParallelPlan& plan = job.plan;
    if (job.sequence <= 0 || job.global_batch <= 0 || plan.microbatch <= 0) {
        throw InputError(
            "the batch or the length of sequences is not positive; correct it, or override it with --set "
            "NAME=VALUE");
    }
    if (job.global_batch % (plan.dp * plan.microbatch) != 0) {
        throw InputError(
            fmt::format("a batch of {} sequences does not fill microbatches of {} on {} replicas ({} GPUs, "
                        "tp {}, pp {}, cp {}); "
                        "correct the batch, or "
                        "the number of GPUs (--gpus)",
                        job.global_batch, plan.microbatch, plan.dp, job.gpus, plan.tp, plan.pp, plan.cp));
    }
}

Sharding sharding_of_stage(int stage)
{
    constexpr std::array stages{Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3};
    return stages[static_cast<std::size_t>(std::clamp(stage, 0, 3))];
}

Offload nearest_offload(const OffloadDevices& devices, std::string_view row, JobSettings& settings)
{
    const bool host = devices.parameters == "cpu";
    if (host && devices.states == "cpu") {
        return Offload::parameters;
    }
    if (host && devices.states != "nvme") {
        settings.no_key(row,
                        "parameters in host memory, optimizer states on the GPUs; the plan has both in host "
                        "memory");
        return Offload::parameters;
    }
    if (host) {
        settings.no_key(row,
                        "parameters in host memory beside states on drives; the plan has only the states");
    }
    if (devices.parameters == "nvme") {
        settings.no_key(row, "parameters on drives; the plan has them on the GPUs");
    }
    if (devices.states == "nvme") {
        return Offload::nvme;
    }
    return devices.states == "cpu" ? Offload::optimizer : Offload::none;
}

namespace {

/// A row that is neither absent nor "auto".
bool is_stated(const JobSettings& s, const std::string& row)
{
    const std::string value = s.stated(row);
    return !value.empty() && value != "auto";
}

/// A device, or the flag that older configurations have for the host.
std::string device_of(JobSettings& s, const std::string& row, const std::string& older)
{
    if (s.given(row)) {
        return s.stated(row);
    }
    return s.flag(older) ? "cpu" : "";
}

}  // namespace

bool has_deepspeed_json(const JobSettings& settings) { return settings.gives_any("deepspeed_json."); }

void assume_deepspeed_stage(JobSettings& settings, int stage, ParallelPlan& plan)
{
    // deepspeed/runtime/zero/config.py, overlap_comm_valid
    const bool overlaps = stage == 3;
    plan.sharding = sharding_of_stage(stage);
    plan.dp_overlap = overlaps ? DataParallelOverlap::on : DataParallelOverlap::off;
    settings.assume(fmt::format("overlap_comm {} at stage {}, DeepSpeed's default", overlaps, stage));
}

int read_deepspeed_json(JobSettings& settings, ParallelPlan& plan)
{
    const std::string zero = "deepspeed_json.zero_optimization.";
    const int stage = settings.count(zero + "stage");
    if (is_stated(settings, zero + "overlap_comm")) {
        const bool overlaps = settings.flag(zero + "overlap_comm");
        plan.sharding = sharding_of_stage(stage);
        plan.dp_overlap = overlaps ? DataParallelOverlap::on : DataParallelOverlap::off;
    } else {
        assume_deepspeed_stage(settings, stage, plan);
    }
    OffloadDevices devices;
    devices.states = device_of(settings, zero + "offload_optimizer.device", zero + "cpu_offload");
    settings.text(zero + "offload_optimizer.device");
    const std::string parameters = zero + "offload_param.device";
    if (stage == 3) {  // zero/config.py: valid only with stage 3
        devices.parameters = device_of(settings, parameters, zero + "cpu_offload_param");
    }
    plan.offload = nearest_offload(devices, parameters, settings);
    if (plan.offload == Offload::parameters) {
        settings.text(parameters);
    }
    if (is_stated(settings, zero + "mics_shard_size")) {
        plan.shard_gpus = std::max(0, settings.count(zero + "mics_shard_size"));
    }
    return stage;
}

void refuse_two_types(JobSettings& settings)
{
    // megatron/training/arguments.py, validate_args; transformers, training_args.py; DeepSpeed, config.py
    const auto on = [&settings](std::string_view row) { return says_true(settings.stated(row)); };
    for (const std::string_view half : {"fp16", "deepspeed_json.fp16.enabled"}) {
        for (const std::string_view other : {"bf16", "deepspeed_json.bf16.enabled"}) {
            if (on(half) && on(other)) {
                settings.fail(half, fmt::format("beside bf16 is refused by {}", settings.table().program),
                              "keep one of the two");
            }
        }
    }
}

}  // namespace prismopt
