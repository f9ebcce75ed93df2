#include "io/authoring/jobs/job_readers.hpp"
#include "io/authoring/jobs/transformers_sharing.hpp"
#include "io/base/input_error.hpp"
#include "io/toml/toml.hpp"
#include "model/base/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

namespace prismopt {

namespace {

/// A row of DeepSpeed's JSON that is neither absent nor "auto".
bool stated(JobSettings& s, const char* row) { return s.given(row) && s.text(row) != "auto"; }

void read_degrees_beside(JobSettings& s, ParallelPlan& plan)
{
    if (program_is(s, "Axolotl")) {
        plan.tp = s.count("tensor_parallel_size");
        plan.cp = s.count("context_parallel_size");
    } else if (program_is(s, "ms-swift")) {
        plan.cp = plan.ulysses = s.count("sequence_parallel_size");
    }
    plan.tp = std::max({plan.tp, s.count("accelerate.parallelism_config_tp_size"),
                        s.count("deepspeed_json.tensor_parallel.autotp_size")});
    plan.cp = std::max(plan.cp, s.count("accelerate.parallelism_config_cp_size"));
    if (plan.cp > 1 && s.text("accelerate.parallelism_config_cp_comm_strategy") == "allgather") {
        plan.context_exchange = ContextExchange::all_gather;
    }
    const int heads = std::max(s.count("deepspeed_json.sequence_parallel_size"),
                               s.count("accelerate.parallelism_config_sp_size"));
    if (heads > 1) {
        plan.cp = plan.ulysses = heads;
    }
    if (plan.tp > 1) {
        // transformers, tensor_parallel: whole activations on each GPU.
        plan.sequence_parallel = SequenceParallel::off;
    }
}

/// The values of Axolotl that keep what the checkpoints save in host memory or on drives
/// (src/axolotl/utils/schemas/config.py, gradient_checkpointing; "unsloth" in older files).
bool offloads_checkpoints(JobSettings& s, ParallelPlan& plan)
{
    const std::string value = s.stated("gradient_checkpointing");
    if (!program_is(s, "Axolotl") || (value != "offload" && value != "offload_disk" && value != "unsloth")) {
        return false;
    }
    s.text("gradient_checkpointing");
    if (value == "offload_disk") {
        s.no_key("gradient_checkpointing", "saved activations on drives; the plan has them on the GPUs");
    } else if (plan.offload == Offload::none) {
        plan.offload = Offload::activations;
    } else {
        s.no_key("gradient_checkpointing", "saved activations in host memory beside another offload");
    }
    return true;
}

bool checkpoints_activations(JobSettings& s, Sharer sharer, ParallelPlan& plan)
{
    const bool model = offloads_checkpoints(s, plan) || s.flag("gradient_checkpointing");
    const bool wrapped =
        s.flag("accelerate.fsdp_activation_checkpointing") || s.flag("fsdp_config.activation_checkpointing");
    return model || (sharer == Sharer::fsdp && wrapped);
}

int sequence_length(JobSettings& s, const ImportedJob& job)
{
    for (const char* row : {"max_length", "max_seq_length", "block_size", "model_max_length"}) {
        if (s.given(row)) {
            return s.count(row);
        }
    }
    if (!std::string(usual_value(s.table(), "max_length")).empty()) {
        return s.count("max_length");
    }
    if (program_is(s, "ms-swift") && job.network.tokens > 0) {
        return job.network.tokens;
    }
    throw InputError(
        "no file states the length of sequences (max_length, block_size); add --set max_length=NUMBER");
}

/// transformers, integrations/deepspeed.py, trainer_config_finalize(): values that mismatch the arguments.
void refuse_mismatch(JobSettings& s, std::string_view row, std::string_view other, int value)
{
    if (s.count(row) != value) {
        s.fail(row, fmt::format("beside {} of {} is refused by {}", value, other, s.table().program),
               "make them equal, or write \"auto\" in DeepSpeed's file");
    }
}

void read_batch_of_devices(JobSettings& s, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    const bool json = stated(s, "deepspeed_json.train_micro_batch_size_per_gpu");
    const bool old = s.given("per_gpu_train_batch_size") && !s.given("per_device_train_batch_size");
    const char* trainer_row = old ? "per_gpu_train_batch_size" : "per_device_train_batch_size";
    plan.microbatch = s.count(json ? "deepspeed_json.train_micro_batch_size_per_gpu" : trainer_row);
    const int replicas = plan.dp;
    if (json && s.given(trainer_row)) {
        refuse_mismatch(s, "deepspeed_json.train_micro_batch_size_per_gpu", trainer_row,
                        s.count(trainer_row));
    }
    if (stated(s, "deepspeed_json.train_batch_size")) {
        job.global_batch = s.count("deepspeed_json.train_batch_size");
        if (s.given(trainer_row) && !program_is(s, "ms-swift")) {
            const int samples = s.count(trainer_row) * s.count("gradient_accumulation_steps") * replicas;
            refuse_mismatch(s, "deepspeed_json.train_batch_size", "the other arguments", samples);
        }
        return;
    }
    const bool given = s.given("gradient_accumulation_steps");
    int accumulation = 1;
    if (stated(s, "deepspeed_json.gradient_accumulation_steps")) {
        accumulation = s.count("deepspeed_json.gradient_accumulation_steps");
    } else if (!given && program_is(s, "ms-swift")) {
        const int world = job.gpus;
        const int usual = std::max(1, static_cast<int>(std::ceil(16.0 / plan.microbatch / world)));
        accumulation = s.count("gradient_accumulation_steps", usual, "16 samples a step, or one per device");
    } else if (!given && program_is(s, "Axolotl") && s.given("batch_size")) {
        accumulation = std::max(1, s.count("batch_size") / plan.microbatch);
    } else {
        accumulation = s.count("gradient_accumulation_steps");
    }
    if (stated(s, "accelerate.gradient_accumulation_steps") && !given) {
        accumulation = s.count("accelerate.gradient_accumulation_steps");
    }
    job.global_batch = plan.microbatch * accumulation * replicas;
}

/// Batches of unequal samples.
void read_samples(JobSettings& s, ImportedJob& job)
{
    const bool packs =
        s.given("packing") ? s.flag("packing") : program_is(s, "LLaMA-Factory") && s.text("stage") == "pt";
    if (!packs && !s.given("block_size")) {
        s.assume(
            fmt::format("every sample has the maximum length, {}, which is an upper bound: batches are "
                        "padded to their longest sample; "
                        "[data] can state the lengths",
                        job.sequence));
    }
}

void read_job_steps(JobSettings& s, ImportedJob& job)
{
    const int steps = s.count("max_steps");
    if (steps > 0) {
        job.steps = steps;
        return;
    }
    const double epochs = s.number("num_train_epochs");
    if (s.given("max_samples")) {
        const std::string sets = s.stated("dataset");
        const auto count = 1 + std::count(sets.begin(), sets.end(), ',');
        const double samples = s.number("max_samples") * static_cast<double>(count);
        const double held = s.given("val_size") ? s.number("val_size") : 0.0;  // from 1 on: samples
        const double trained = held < 1.0 ? samples * (1.0 - held) : samples - held;
        job.steps = std::max(1.0, std::ceil(epochs * trained / job.global_batch));
        s.assume(fmt::format(
            "{:.0f} steps: {} epochs of max_samples, an upper bound where data sets are smaller or packed",
            job.steps, epochs));
        return;
    }
    s.assume(fmt::format(
        "{} epochs of a data set whose size no file states: give --set max_steps=NUMBER, or edit [[phase]]",
        epochs));
}

/// Trained parameters of adapters beside each projection, as PEFT has them: rank times inputs and
/// outputs. 0: other blocks than these.
double adapter_parameters(const Workload& w)
{
    double all = 0.0;
    for (const LayerRun& run : w.sequence) {
        double columns = 0.0;
        for (const BlockDescription& block : w.kinds[run.kind].blocks) {
            if (const auto* a = std::get_if<AttentionBlock>(&block)) {
                const double head = a->head > 0 ? a->head : w.hidden / a->heads;
                columns += 2.0 * (w.hidden + a->heads * head) + 2.0 * (w.hidden + a->key_heads() * head);
            } else if (const auto* m = std::get_if<MlpBlock>(&block);
                       m != nullptr && w.adapter_targets == AdapterTargets::all) {
                columns += (gated(m->activation) ? 3.0 : 2.0) * (w.hidden + m->inner);
            } else if (w.adapter_targets == AdapterTargets::all) {
                return 0.0;
            }
        }
        all += run.count * columns * w.adapter_rank;
    }
    return all;
}

bool adapts(JobSettings& s)
{
    if (program_is(s, "LLaMA-Factory")) {
        const std::string type = s.text("finetuning_type");
        if (type == "freeze") {
            s.no_key("finetuning_type", "frozen layers: frozen of [workload.layer]");
        }
        return type == "lora" || type == "oft";
    }
    if (program_is(s, "ms-swift")) {
        return (s.given("train_type") ? s.text("train_type") : s.text("tuner_type")) == "lora";
    }
    if (program_is(s, "Axolotl")) {
        return s.given("adapter") && (s.text("adapter") == "lora" || s.text("adapter") == "qlora");
    }
    return s.flag("use_peft");
}

/// Bits of the weights beside the adapters.
int frozen_bits(JobSettings& s)
{
    if (program_is(s, "LLaMA-Factory") && s.given("quantization_bit")) {
        return s.count("quantization_bit");
    }
    if (program_is(s, "ms-swift") && s.given("quant_bits")) {
        return s.count("quant_bits");
    }
    if (s.flag("load_in_4bit")) {
        return 4;
    }
    return s.flag("load_in_8bit") ? 8 : 16;
}

void read_adapters(JobSettings& s, ImportedJob& job)
{
    if (!adapts(s)) {
        return;
    }
    Workload& w = job.network.workload;
    w.method = Method::lora;
    w.adapter_rank = s.count("lora_r");
    const std::string targets = lower(s.text("lora_target_modules"));
    const bool linear = program_is(s, "Axolotl") && s.flag("lora_target_linear");
    const bool all = linear || targets.find("all") != std::string::npos ||
                     targets.find("gate") != std::string::npos ||
                     targets.find("up_proj") != std::string::npos;
    const bool some =
        targets.find("_proj") != std::string::npos && targets.find("k_proj") == std::string::npos;
    w.adapter_targets = all ? AdapterTargets::all : AdapterTargets::attention;
    if (!all && (some || targets.empty())) {
        s.no_key("lora_target_modules",
                 "adapters on some projections of attention only (by default of queries and values); the "
                 "scenario has them on "
                 "all four");
    }
    const int bits = frozen_bits(s);
    job.adapter_parameters = adapter_parameters(w);
    if (job.adapter_parameters > 0.0) {
        s.assume(
            fmt::format("adapters beside each projection have {:.0f} parameters; the scenario has them "
                        "beside fused ones (qkv, gate and up), "
                        "with fewer parameters",
                        job.adapter_parameters));
    }
    const bool twice = s.flag("use_bnb_nested_quant");
    if (bits == 4) {
        w.frozen_storage = twice ? FrozenStorage::nf4_double : FrozenStorage::nf4;
    } else {
        w.frozen_storage = bits == 8 ? FrozenStorage::int8 : FrozenStorage::bf16;
    }
}

/// The optimizer in a name such as "adafactor", "paged_lion_8bit" or "galore_adamw".
Optimizer optimizer_in(const std::string& name)
{
    constexpr std::array<Named<Optimizer>, 5> words{{{Optimizer::adafactor, "adafactor"},
                                                     {Optimizer::lion, "lion"},
                                                     {Optimizer::sgd, "sgd"},
                                                     {Optimizer::galore, "galore"},
                                                     {Optimizer::muon, "muon"}}};
    return first_named_in(name, words, Optimizer::adamw);
}

/// The optimizer of DeepSpeed's JSON, else that of the trainer.
void read_optimizer(JobSettings& s, OptimizerSettings& o)
{
    const char* row = stated(s, "deepspeed_json.optimizer.type") ? "deepspeed_json.optimizer.type" : "optim";
    const std::string name = lower(s.text(row));
    const auto has = [&name](std::string_view mark) { return name.find(mark) != std::string::npos; };
    o.kind = optimizer_in(name);
    const bool few_bits = has("onebit") || has("zeroone");
    if (few_bits || (o.kind == Optimizer::adamw && !has("adam"))) {
        s.no_key(row, "an optimizer that no key states; the scenario has AdamW");
    }
    if (has("8bit") || has("bnb")) {
        o.states = NumberType::int8;
    }
    o.paged = has("paged");
    o.fused = has("fused");
    const bool masters = s.flag("deepspeed_json.bf16.bf16_master_weights_and_grads") ||
                         s.flag("deepspeed_json.fp16.fp16_master_weights_and_grads");
    if (masters) {
        o.master = MasterCopy::bf16;
        o.gradients = NumberType::bf16;
    }
    if (s.flag("deepspeed_json.bf16.bf16_optimizer_states")) {
        o.states = NumberType::bf16;
    }
}

/// Axolotl's "auto" is bf16 where the GPUs have it, else fp16 (src/axolotl/utils/config/__init__.py).
bool is_on(JobSettings& s, const char* row)
{
    if (s.stated(row) == "auto") {
        s.text(row);
        return program_is(s, "Axolotl");
    }
    return s.flag(row);
}

/// The loss of a plug-in of Axolotl: only where the plug-in is listed, its settings have an effect
/// (src/axolotl/integrations/liger and cut_cross_entropy).
void read_plugins(JobSettings& s, Workload& w)
{
    for (const std::string& plugin : s.texts("plugins")) {
        if (plugin.find("liger") != std::string::npos) {
            if (s.flag("liger_cross_entropy")) {
                w.loss = LossKernel::fused;
            }
            if (s.flag("liger_fused_linear_cross_entropy")) {
                w.loss = LossKernel::fused_linear;
            }
        } else if (plugin.find("cut_cross_entropy") != std::string::npos) {
            if (s.flag("cut_cross_entropy")) {
                w.loss = LossKernel::fused_linear;  // never stores the logits either
            }
        } else {
            s.no_key("plugins", fmt::format("the plug-in {}", printable(plugin)));
        }
    }
}

/// The types of products, weights and states.
void read_types(JobSettings& s, const Sharing& sharing, Sharding sharding, Workload& w)
{
    refuse_two_types(s);
    const std::string mixed = lower(s.text("accelerate.mixed_precision"));
    const bool half = mixed == "fp16" || is_on(s, "fp16") || is_on(s, "deepspeed_json.fp16.enabled");
    const bool pure_bf16 = program_is(s, "LLaMA-Factory") && s.flag("pure_bf16");
    const bool sixteen = is_on(s, "bf16") || mixed == "bf16" || half || sharing.bf16 || pure_bf16 ||
                         is_on(s, "deepspeed_json.bf16.enabled");
    const std::string type = lower(s.given("torch_dtype") ? s.text("torch_dtype") : s.text("dtype"));
    const bool loaded = type == "bfloat16" || type == "float16" || type == "bf16";
    if (mixed == "fp8") {
        w.precision = Precision::fp8_current;
    } else {
        w.precision = sixteen || loaded ? Precision::bf16 : Precision::fp32;
    }
    if (half) {
        s.assume("fp16 costs what bf16 costs");
    }
    OptimizerSettings& o = w.optimizer;
    const bool pure = pure_bf16 || (loaded && sharing.by != Sharer::deepspeed && w.method == Method::full);
    if (pure) {
        o.states = NumberType::bf16;
        o.master = MasterCopy::none;
        o.gradients = NumberType::bf16;
        s.assume("weights, gradients and states in 16 bits, as the weights are loaded");
    }
    read_optimizer(s, o);
    o.fused = o.fused && !pure;
    if (stated(s, "deepspeed_json.communication_data_type")) {
        o.reduction = lower(s.text("deepspeed_json.communication_data_type")).find("32") != std::string::npos
                          ? NumberType::fp32
                          : NumberType::bf16;
    }
    if (stated(s, "deepspeed_json.data_types.grad_accum_dtype")) {
        o.gradients =
            lower(s.text("deepspeed_json.data_types.grad_accum_dtype")).find("32") != std::string::npos
                ? NumberType::fp32
                : NumberType::bf16;
    } else if (sharing.by == Sharer::deepspeed && w.precision == Precision::bf16 &&
               sharding != Sharding::none) {
        // deepspeed/runtime/engine.py, get_data_types()
        o.gradients = NumberType::bf16;
        s.assume("gradients accumulate in 16 bits, DeepSpeed's default with ZeRO (grad_accum_dtype)");
    }
    const std::string kernel = lower(s.text("attn_implementation"));
    if (kernel == "eager" || kernel == "disabled") {
        w.set_attention_kernel(AttentionKernel::plain);
    }
    if (s.flag("use_liger_kernel")) {
        w.loss = LossKernel::fused_linear;
    }
    if (program_is(s, "Axolotl")) {
        read_plugins(s, w);
    }
}

/// DeepSpeed, whichever program calls it: its hooks at each module are what takes the host's time.
std::string software_of(JobSettings& s, Sharer sharer, Sharding sharding)
{
    if (sharer == Sharer::deepspeed) {
        return sharding == Sharding::zero3 ? "deepspeed-zero:0.16" : "deepspeed-zero-2";
    }
    if (program_is(s, "LLaMA-Factory")) {
        return "llama-factory";
    }
    if (program_is(s, "ms-swift")) {
        return "ms-swift";
    }
    return program_is(s, "Axolotl") ? "axolotl" : "hf-fsdp";
}

/// What a training by preferences or rewards has beside the passes that a scenario describes.
struct Task {
    std::string_view name;
    std::string_view beside;
};
constexpr std::string_view pairs = "two sequences per sample";
constexpr std::string_view pairs_and_reference = "two sequences per sample, and passes of a reference model";
constexpr std::string_view roll_outs = "the generation of samples, and passes of other models";
constexpr auto tasks = std::to_array<Task>({{"dpo", pairs_and_reference},
                                            {"kto", "passes of a reference model"},
                                            {"orpo", pairs},
                                            {"simpo", pairs},
                                            {"cpo", pairs},
                                            {"ipo", pairs_and_reference},
                                            {"reward", pairs},
                                            {"rm", pairs},
                                            {"grpo", roll_outs},
                                            {"rloo", roll_outs},
                                            {"ppo", roll_outs},
                                            {"gkd", roll_outs}});

/// The task of the program, as "dpo" of `trl dpo`, or of a setting.
std::string task_of(JobSettings& s, const JobSources& sources)
{
    if (program_is(s, "LLaMA-Factory")) {
        return s.text("stage");
    }
    if (program_is(s, "ms-swift")) {
        return s.text("rlhf_type");
    }
    if (program_is(s, "Axolotl")) {
        return s.text("rl");
    }
    const std::string program = sources.command ? sources.command->program : "";
    return program.starts_with("trl ") ? program.substr(4) : "";
}

void note_task(JobSettings& s, const JobSources& sources)
{
    const std::string task = task_of(s, sources);
    const auto* const known =
        std::find_if(tasks.begin(), tasks.end(), [&task](const Task& each) { return each.name == task; });
    if (known != tasks.end()) {
        s.assume(fmt::format(
            "only passes of the trained model over one sequence per sample are described; {} also has {}",
            task, known->beside));
    }
}

}  // namespace

ImportedJob transformers_job(const JobSources& sources, const TrainerSettings& table,
                             const JobSettingList& settings)
{
    JobSettings s(table, settings);
    ImportedJob job;
    job.format = std::string(table.program);
    JobMachine machine = sources.command ? job_machine(*sources.command, sources.directives) : JobMachine{};
    if (s.given("accelerate.num_processes")) {  // of all machines
        machine.gpus = s.count("accelerate.num_processes");
        machine.nodes = s.given("accelerate.num_machines") ? s.count("accelerate.num_machines") : 1;
        machine.node_gpus =
            machine.nodes > 0 && machine.gpus % machine.nodes == 0 ? machine.gpus / machine.nodes : 0;
    }
    read_machine(sources, machine, job, s);
    read_model(sources, s.text("model_name_or_path"), job, s);
    ParallelPlan& plan = job.plan;
    plan.sharding = Sharding::none;
    plan.dp_overlap = DataParallelOverlap::on;
    const Sharing sharing = read_sharing(s, job);
    read_degrees_beside(s, plan);
    derive_replicas(job);
    if (plan.shard_gpus >= plan.gradient_gpus()) {
        plan.shard_gpus = 0;
    }
    if (job.network.workload.is_moe()) {
        plan.etp = plan.tp;
        s.assume("all experts on every GPU (ep = 1), as these trainers have them without Megatron");
    }
    plan.recompute = checkpoints_activations(s, sharing.by, plan) ? Recompute::full : Recompute::none;
    job.software = software_of(s, sharing.by, plan.sharding);
    s.assume(fmt::format("software {}: no file states its release", job.software));
    job.sequence = sequence_length(s, job);
    Workload& w = job.network.workload;
    read_adapters(s, job);
    read_types(s, sharing, plan.sharding, w);
    read_batch_of_devices(s, job);
    read_samples(s, job);
    read_job_steps(s, job);
    check_batch(job);
    note_task(s, sources);
    job.report = s.report();
    return job;
}

ImportedJob verl_job(const JobSources& sources, const JobSettingList& settings)
{
    JobSettings s(verl_settings(), settings);
    ImportedJob job;
    job.format = "verl";
    job.software = "verl";
    const auto actor = [](const std::string& name) { return "actor_rollout_ref.actor." + name; };
    JobMachine machine;
    machine.nodes = s.count("trainer.nnodes");
    machine.node_gpus = s.count("trainer.n_gpus_per_node");
    machine.gpus = machine.nodes * machine.node_gpus;
    read_machine(sources, machine, job, s);
    read_model(sources, s.text("actor_rollout_ref.model.path"), job, s);
    if (s.text(actor("strategy")) == "megatron") {
        throw InputError(
            "verl with actor.strategy=megatron is not imported; give the settings of Megatron as arguments "
            "of their own");
    }
    ParallelPlan& plan = job.plan;
    plan.cp = plan.ulysses = s.count(actor("ulysses_sequence_parallel_size"));
    derive_replicas(job);
    plan.sharding = s.flag(actor("fsdp_config.reshard_after_forward")) ? Sharding::zero3 : Sharding::zero2;
    const int shards = s.count(actor("fsdp_config.fsdp_size"));
    plan.shard_gpus = shards > 0 && shards < plan.gradient_gpus() ? shards : 0;
    const bool states = s.flag(actor("fsdp_config.optimizer_offload"));
    const bool parameters = s.flag(actor("fsdp_config.param_offload"));
    const bool all = s.flag(actor("fsdp_config.offload_policy"));  // FSDP2 only
    const Offload state_offload = states ? Offload::optimizer : Offload::none;
    plan.offload = parameters || all ? Offload::parameters : state_offload;
    plan.recompute =
        s.flag("actor_rollout_ref.model.enable_gradient_checkpointing") ? Recompute::full : Recompute::none;
    const int answers = s.count("actor_rollout_ref.rollout.n");
    const int prompts = s.count(actor("ppo_mini_batch_size"));
    job.global_batch = prompts * answers;
    plan.microbatch =
        s.given(actor("ppo_micro_batch_size_per_gpu")) ? s.count(actor("ppo_micro_batch_size_per_gpu")) : 1;
    job.sequence = s.count("data.max_prompt_length") + s.count("data.max_response_length");
    const int updates =
        s.count("data.train_batch_size") / std::max(1, prompts) * s.count(actor("ppo_epochs"));
    if (s.given("trainer.total_training_steps")) {
        job.steps = s.number("trainer.total_training_steps") * updates;
    }
    if (s.flag(actor("use_dynamic_bsz"))) {
        s.no_key(actor("use_dynamic_bsz"),
                 "microbatches of as many samples as fit: [data] batching = \"tokens\" with lengths");
    }
    s.assume(
        fmt::format("mean length = the maximum, {}: an upper bound; [data] can state lengths", job.sequence));
    s.assume("only the training part of the actor is described, not the roll-out");
    Workload& w = job.network.workload;
    const int rank = s.count("actor_rollout_ref.model.lora_rank");
    if (rank > 0) {
        w.method = Method::lora;
        w.adapter_rank = rank;
    }
    s.text(actor("fsdp_config.model_dtype"));
    if (s.flag("actor_rollout_ref.model.use_liger")) {
        w.loss = LossKernel::fused_linear;
    }
    check_batch(job);
    job.report = s.report();
    return job;
}

}  // namespace prismopt
