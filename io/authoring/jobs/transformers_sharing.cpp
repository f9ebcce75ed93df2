#include "io/authoring/jobs/transformers_sharing.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace prismopt {

bool program_is(const JobSettings& settings, std::string_view program)
{
    return settings.table().program == program;
}

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

namespace {

/// "zero2", "ds_z3_config.json": the stage that a name states; -1: none.
int stage_in(const std::string& name)
{
    for (const std::string_view mark : {"zero", "_z", "stage"}) {
        const std::size_t at = name.rfind(mark);
        if (at != std::string::npos && at + mark.size() < name.size()) {
            const char digit = name[at + mark.size()];
            if (digit >= '0' && digit <= '3') {
                return digit - '0';
            }
        }
    }
    return -1;
}

/// What the name of an absent configuration of DeepSpeed states, by the files that trainers come with:
/// deepspeed_configs/ of Axolotl ("zero3_bf16_cpuoffload_params.json", "..._all.json"),
/// examples/deepspeed/ of LLaMA-Factory ("ds_z3_offload_config.json": both).
struct NamedConfiguration {
    int stage = -1;
    OffloadDevices devices;
    bool bf16 = false;
};
NamedConfiguration configuration_named(const std::string& path)
{
    const std::string name = lower(path.substr(path.find_last_of('/') + 1));
    const auto has = [&name](std::string_view mark) { return name.find(mark) != std::string::npos; };
    NamedConfiguration named;
    named.stage = stage_in(name);
    named.bf16 = has("bf16");
    if (has("offload")) {
        const bool only_parameters = has("offload_param") && named.stage == 3;
        named.devices.states = only_parameters ? "" : "cpu";
        named.devices.parameters = named.stage == 3 ? "cpu" : "";
    }
    return named;
}

std::string in_words(const OffloadDevices& devices)
{
    const bool states = !devices.states.empty();
    if (states && !devices.parameters.empty()) {
        return "optimizer states and parameters in host memory";
    }
    if (states) {
        return "optimizer states in host memory";
    }
    return devices.parameters.empty() ? "no offload" : "parameters in host memory";
}

/// `row`: the setting that names it.
Sharing assume_named_configuration(JobSettings& s, std::string_view row, ParallelPlan& plan)
{
    const std::string name = s.text(row);
    const NamedConfiguration named = configuration_named(name);
    if (named.stage < 0) {
        throw InputError(fmt::format(
            "the configuration of DeepSpeed {} is not there; give it as one more FILE", printable(name)));
    }
    s.assume(fmt::format("ZeRO stage {}, {}{} by the name {}, which is not there: give it as one more FILE",
                         named.stage, in_words(named.devices), named.bf16 ? ", bf16" : "", printable(name)));
    assume_deepspeed_stage(s, named.stage, plan);
    plan.offload = nearest_offload(named.devices, row, s);
    return {Sharer::deepspeed, named.bf16};
}

Sharing read_deepspeed_sharing(JobSettings& s, ParallelPlan& plan)
{
    const bool accelerate =
        lower(s.text("accelerate.distributed_type")) == "deepspeed" || s.flag("accelerate.use_deepspeed");
    if (has_deepspeed_json(s)) {
        s.text("deepspeed");
        s.text("accelerate.deepspeed_config_file");
        read_deepspeed_json(s, plan);
        return {Sharer::deepspeed};
    }
    if (s.given("deepspeed")) {
        return assume_named_configuration(s, "deepspeed", plan);
    }
    if (!accelerate) {
        return {};
    }
    if (s.given("accelerate.deepspeed_config_file")) {
        return assume_named_configuration(s, "accelerate.deepspeed_config_file", plan);
    }
    const int stage = s.count("accelerate.zero_stage");
    assume_deepspeed_stage(s, stage, plan);
    const char* row = "accelerate.offload_param_device";
    const OffloadDevices devices{.states = s.text("accelerate.offload_optimizer_device"),
                                 .parameters = stage == 3 ? s.stated(row) : ""};
    plan.offload = nearest_offload(devices, row, s);
    if (plan.offload == Offload::parameters) {
        s.text(row);
    }
    return {Sharer::deepspeed};
}

/// FULL_SHARD or 1, SHARD_GRAD_OP or 2, NO_SHARD or 3, HYBRID_SHARD or 4.
Sharding sharding_named(const std::string& name)
{
    const std::string strategy = lower(name);
    const bool gradients =
        strategy.find("grad_op") != std::string::npos || strategy == "2" || strategy == "5";
    const bool nothing = strategy.find("no_shard") != std::string::npos || strategy == "3";
    if (nothing) {
        return Sharding::none;
    }
    return gradients ? Sharding::zero2 : Sharding::zero3;
}

bool uses_fsdp(const JobSettings& s)
{
    if (program_is(s, "Axolotl") && s.gives_any("fsdp_config.")) {
        return true;
    }
    return s.given("fsdp") || s.given("fsdp_config.fsdp_version") ||
           s.given("fsdp_config.reshard_after_forward");
}

/// The strategy of FSDP, version 1. Axolotl's fsdp_config wins over its list.
std::string fsdp_strategy(JobSettings& s, bool accelerate)
{
    if (accelerate) {
        return s.text("accelerate.fsdp_sharding_strategy");
    }
    const std::string options = s.text("fsdp");
    const std::string strategy = s.text("fsdp_config.sharding_strategy");
    if (options.find("shard") != std::string::npos && !strategy.empty() &&
        sharding_named(options) != sharding_named(strategy)) {
        s.assume(fmt::format("the sharding of fsdp_config, {}, where fsdp says {}", printable(strategy),
                             printable(options)));
    }
    return strategy.empty() ? options : strategy;
}

/// Whether FSDP, version 2, frees the parameters behind the forward pass.
bool reshards(JobSettings& s, bool accelerate)
{
    const char* row =
        accelerate ? "accelerate.fsdp_reshard_after_forward" : "fsdp_config.reshard_after_forward";
    // transformers, training_args.py: by default as the options of fsdp say
    if (!accelerate && !s.given(row) && s.given("fsdp")) {
        return sharding_named(s.text("fsdp")) == Sharding::zero3;
    }
    const std::string reshard = s.text(row);
    const bool no = reshard == "false" || reshard == "False";
    return !no && (says_true(reshard) || sharding_named(reshard) == Sharding::zero3);
}

Sharer read_fsdp(JobSettings& s, const ImportedJob& job, ParallelPlan& plan)
{
    const bool accelerate =
        lower(s.text("accelerate.distributed_type")) == "fsdp" || s.flag("accelerate.use_fsdp");
    if (!accelerate && !uses_fsdp(s)) {
        return Sharer::none;
    }
    const std::string options = accelerate ? "" : s.text("fsdp");
    const std::string configuration = s.text("fsdp_config");
    if (!accelerate && !configuration.empty() && !s.gives_any("fsdp_config.")) {
        s.assume(fmt::format("the defaults of FSDP for {}, which is not there: give it as one more FILE",
                             printable(configuration)));
    }
    if (s.count(accelerate ? "accelerate.fsdp_version" : "fsdp_config.fsdp_version") >= 2) {
        plan.sharding = reshards(s, accelerate) ? Sharding::zero3 : Sharding::zero2;
    } else {
        const std::string strategy = fsdp_strategy(s, accelerate);
        plan.sharding = sharding_named(strategy);
        if (lower(strategy).find("hybrid") != std::string::npos || strategy == "4") {
            plan.shard_gpus = job.node_gpus > 0 ? job.node_gpus : 8;
            s.assume(fmt::format("hybrid sharding within nodes of {} GPUs", plan.shard_gpus));
        }
    }
    plan.dp_overlap = DataParallelOverlap::on;
    const bool host = accelerate ? s.flag("accelerate.fsdp_offload_params")
                                 : s.flag("fsdp_config.offload_params") || s.flag("fsdp_config.cpu_offload");
    const bool option = options.find("offload") != std::string::npos;
    plan.offload = host || option ? Offload::parameters : Offload::none;
    return Sharer::fsdp;
}

}  // namespace

Sharing read_sharing(JobSettings& settings, ImportedJob& job)
{
    Sharing sharing = read_deepspeed_sharing(settings, job.plan);
    if (sharing.by == Sharer::none) {
        sharing.by = read_fsdp(settings, job, job.plan);
    }
    return sharing;
}

}  // namespace prismopt
