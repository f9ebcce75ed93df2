#include "io/authoring/imported/architectures.hpp"
#include "io/authoring/jobs/job_readers.hpp"
#include "io/base/input_error.hpp"
#include "model/base/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {

namespace {

/// Devices of a slice by its name: "v5p-512" counts cores, two a chip, as v4 does; the others count chips.
int slice_devices(const std::string& topology)
{
    const std::size_t dash = topology.rfind('-');
    const int number = dash == std::string::npos ? 0 : std::atoi(topology.c_str() + dash + 1);
    const bool cores = topology.starts_with("v4") || topology.starts_with("v5p");
    return cores ? number / 2 : number;
}

std::string chip_of(const std::string& topology)
{
    return topology.empty() ? "" : "tpu-" + topology.substr(0, topology.rfind('-'));
}

/// layers: the first dense ones, then one of each step with experts.
void describe_maxtext_network(JobSettings& s, Workload& w)
{
    const int scale = s.count("global_parameter_scale");
    if (scale != 1) {
        s.fail("global_parameter_scale", "scales several sizes, which import does not do",
               "state the sizes, and 1 here");
    }
    w.hidden = s.count("base_emb_dim");
    w.vocabulary = s.count("vocab_size");
    w.normalisation = Normalisation::rms_norm;
    w.tied_embedding = s.flag("logits_via_embedding");
    const int heads = s.count("base_num_query_heads");
    const int layers = s.count("base_num_decoder_layers");
    const std::vector<std::string> activations = s.texts("mlp_activations");
    const bool gated = activations.size() > 1;
    const bool gelu = !activations.empty() && activations.front().find("gelu") != std::string::npos;
    const Activation plain = gelu ? Activation::gelu : Activation::silu;
    const Activation with_gate = gelu ? Activation::geglu : Activation::swiglu;
    const Activation activation = gated ? with_gate : plain;
    BlockDescription mixer;
    if (s.text("attention_type") == "mla") {
        LatentAttentionBlock block;
        block.heads = heads;
        block.query_rank = s.count("q_lora_rank");
        block.key_value_rank = s.count("kv_lora_rank");
        block.plain = s.count("qk_nope_head_dim");
        block.rotary = s.count("qk_rope_head_dim");
        block.value = s.count("v_head_dim");
        mixer = block;
    } else {
        AttentionBlock block;
        block.heads = heads;
        const int keys = s.count("base_num_kv_heads");
        block.kv_heads = keys < heads ? keys : 0;
        const int head = s.count("head_dim");
        block.head = head * heads == w.hidden ? 0 : head;
        block.query_key_norm = s.flag("use_qk_norm") ? QueryKeyNorm::head : QueryKeyNorm::none;
        mixer = block;
    }
    const int inner = s.count("base_mlp_dim");
    const MlpBlock mlp{inner, activation, false};
    const int count = s.count("num_experts");
    ExpertsBlock experts;
    if (count > 1) {
        const int own = s.count("base_moe_mlp_dim");
        experts.count = count;
        experts.active = s.count("num_experts_per_tok");
        experts.inner = own > 0 ? own : inner;
        experts.shared = s.count("shared_experts") * experts.inner;
        experts.activation = activation;
        experts.capacity = std::max(0.0, s.number("capacity_factor"));
    }
    const int dense = count > 1 ? s.count("first_num_dense_layers") : layers;
    const int step = count > 1 ? std::max(1, s.count("interleave_moe_layer_step")) : 1;
    add_layers(
        w, layers, [&mixer](int) { return mixer; },
        [&](int layer) {
            return layer >= dense && (layer - dense + 1) % step == 0 ? BlockDescription{experts}
                                                                     : BlockDescription{mlp};
        });
    w.predictions = s.count("mtp_num_layers");
    if (w.predictions > 0) {
        w.prediction = {{w.sequence.back().kind, 1}};
    }
}

/// A degree inside slices, times that between them; -1 takes the rest, which is 1 for all but one.
int degree(JobSettings& s, const std::string& name, bool between)
{
    const int inside = s.count("ici_" + name + "_parallelism");
    const int outside = between ? s.count("dcn_" + name + "_parallelism") : 1;
    return std::max(1, inside) * std::max(1, outside);
}

void read_meshes(JobSettings& s, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    plan.tp = degree(s, "tensor", true) * degree(s, "tensor_sequence", false);
    plan.cp = degree(s, "context", true);
    plan.pp = degree(s, "pipeline", true);
    plan.ep = degree(s, "expert", true);
    plan.etp = plan.ep > 1 || job.network.workload.is_moe() ? plan.tp : 1;
    derive_replicas(job);
    const int slices = std::max(1, s.count("dcn_data_parallelism"));
    const int copies = slices * std::max(1, s.count("ici_data_parallelism"));
    const int fsdp = s.count("ici_fsdp_parallelism");
    s.count("dcn_fsdp_parallelism");
    const int shards = plan.gradient_gpus() / copies;
    plan.sharding = fsdp == 1 && shards == 1 ? Sharding::none : Sharding::zero3;
    plan.shard_gpus = copies > 1 && shards > 1 ? shards : 0;
    plan.dp_overlap = DataParallelOverlap::on;
    s.assume(
        "XLA overlaps collectives of parameters and gradients (dp_overlap on), and none of tensor "
        "parallelism");
    if (plan.cp > 1) {
        const std::string strategy = s.text("context_parallel_strategy");
        plan.context_exchange = strategy == "ring" ? ContextExchange::ring : ContextExchange::all_gather;
        plan.ulysses = strategy == "ulysses" ? plan.cp : 1;
    }
}

Offload offload_of_policy(JobSettings& s, const std::string& remat_policy)
{
    if (s.flag("optimizer_memory_host_offload")) {
        return Offload::optimizer;
    }
    return remat_policy.find("offload") != std::string::npos ? Offload::activations : Offload::none;
}

void read_remat(JobSettings& s, ParallelPlan& plan)
{
    constexpr std::array<Named<Recompute>, 3> policies{
        {{Recompute::full, "full"}, {Recompute::none, "minimal"}, {Recompute::none, "none"}}};
    const std::string policy = s.text("remat_policy");
    plan.recompute = parse(policy, policies).value_or(Recompute::selective);
    if (policy != "full") {
        s.assume(fmt::format("remat_policy {}: recompute {}", policy, name(plan.recompute)));
    }
    plan.offload = offload_of_policy(s, policy);
}

/// The GPUs of Slurm and of launchers, or the chips of slices of TPUs.
void read_maxtext_machine(const JobSources& sources, JobSettings& s, ImportedJob& job)
{
    JobMachine machine = sources.command ? job_machine(*sources.command, sources.directives) : JobMachine{};
    const std::string hardware = s.text("hardware");
    const bool one_process_a_node = hardware == "gpu";
    if (one_process_a_node && machine.nodes > 0 && machine.node_gpus > 0) {
        machine.gpus = machine.nodes * machine.node_gpus;
    }
    if (hardware == "cpu") {
        s.no_key("hardware", "training on CPUs; the plan has accelerators");
    }
    const std::string topology = s.text("compile_topology");
    const int slices = std::max(
        1, std::max(s.count("num_slices"),
                    s.given("compile_topology_num_slices") ? s.count("compile_topology_num_slices") : 1));
    if (!topology.empty()) {
        machine = {};
        machine.gpus = slice_devices(topology) * slices;
        machine.accelerators.push_back({chip_of(topology), "compile_topology"});
    }
    const bool gpus = hardware.starts_with("gpu") || (topology.empty() && machine.gpus > 0);
    if (!gpus) {
        job.accelerator = "tpu-v5p";  // unless a file names another
    }
    read_machine(sources, machine, job, s);
    if (!gpus) {
        job.node_gpus = sources.request.node_gpus;
    }
}

}  // namespace

ImportedJob maxtext_job(const JobSources& sources, const JobSettingList& settings)
{
    JobSettings s(maxtext_settings(), settings);
    ImportedJob job;
    job.format = "MaxText";
    job.software = "maxtext";
    read_maxtext_machine(sources, s, job);
    Workload& w = job.network.workload;
    const std::string model = s.text("model_name");
    if (model != "default" || !sources.request.workload.empty()) {
        read_model(sources, model, job, s);
    } else {
        describe_maxtext_network(s, w);
        w.name = sources.request.name;
        job.network.architecture = "MaxText";
        job.network.origin = "settings";
    }
    // layers/attention_op.py: only dot_product stores the scores; flash, cudnn_flash_te and others do not
    if (s.text("attention") == "dot_product") {
        w.set_attention_kernel(AttentionKernel::plain);
    }
    read_meshes(s, job);
    read_remat(s, job.plan);
    const std::string quantization = s.text("quantization");
    w.precision = quantization.find("fp8") != std::string::npos ? Precision::fp8 : Precision::bf16;
    if (!quantization.empty() && w.precision == Precision::bf16) {
        s.no_key("quantization", "products of integers");
    }
    s.text("dtype");
    s.text("weight_dtype");
    const double devices = s.number("per_device_batch_size");
    const int accumulation = s.count("gradient_accumulation_steps");
    const int batch = static_cast<int>(devices * job.gpus);
    job.global_batch = batch * accumulation;
    job.sequence = s.count("max_target_length");
    job.steps = s.number("steps");
    ParallelPlan& plan = job.plan;
    int passes = 1;
    if (plan.pp > 1) {
        passes = s.given("num_pipeline_microbatches") ? s.count("num_pipeline_microbatches") : plan.pp;
    }
    plan.microbatch = std::max(1, batch / passes / plan.dp);
    if (plan.pp > 1) {
        const int repeats =
            s.given("num_pipeline_repeats")
                ? s.count("num_pipeline_repeats")
                : w.layers() / plan.pp / std::max(1, s.count("num_layers_per_pipeline_stage"));
        plan.chunks = std::max(1, repeats);
        plan.schedule = plan.chunks > 1 ? usual_schedule_of_chunks : usual_schedule;
    }
    if (plan.ep > 1) {
        plan.dispatch = Dispatch::all_to_all;
    }
    check_batch(job);
    job.report = s.report();
    return job;
}

namespace {

/// nanotron's Llama and Qwen2 (src/nanotron/models).
void describe_nanotron_network(JobSettings& s, Workload& w)
{
    const auto field = [](const char* name) { return fmt::format("model.model_config.{}", name); };
    w.hidden = s.count(field("hidden_size"));
    w.normalisation = Normalisation::rms_norm;
    w.tied_embedding = s.flag(field("tie_word_embeddings"));
    const int multiple = std::max(1, s.count("model.make_vocab_size_divisible_by"));
    w.vocabulary = (s.count(field("vocab_size")) + multiple - 1) / multiple * multiple;
    AttentionBlock attention;
    attention.heads = s.count(field("num_attention_heads"));
    const int keys =
        s.given(field("num_key_value_heads")) ? s.count(field("num_key_value_heads")) : attention.heads;
    attention.kv_heads = keys < attention.heads ? keys : 0;
    const MlpBlock mlp{s.count(field("intermediate_size")), Activation::swiglu, false};
    const bool moe = s.given(field("moe_config.num_experts"));
    ExpertsBlock experts;
    if (moe) {
        experts.count = s.count(field("moe_config.num_experts"));
        experts.active = s.count(field("moe_config.top_k"));
        experts.inner = s.count(field("moe_config.moe_intermediate_size"));
        const bool shares = s.flag(field("moe_config.enable_shared_expert"));
        experts.shared = shares ? s.count(field("moe_config.shared_expert_intermediate_size")) : 0;
        experts.shared_gate = shares;
    }
    const std::vector<std::string> listed =
        moe ? s.texts(field("moe_config.layers")) : std::vector<std::string>{};
    const bool all = listed.size() == 1 && listed.front() == "-1";
    add_layers(
        w, s.count(field("num_hidden_layers")), [&attention](int) { return attention; },
        [&](int layer) {
            const bool own =
                all || std::find(listed.begin(), listed.end(), std::to_string(layer)) != listed.end();
            return moe && own ? BlockDescription{experts} : BlockDescription{mlp};
        });
}

/// init_optimizer_and_grad_accumulator() in src/nanotron/helpers.py shards optimizer states for every stage
/// above 0, and nothing else.
Sharding nanotron_sharding(JobSettings& s)
{
    const int stage = s.required("optimizer.zero_stage");
    if (stage != 0 && stage != 1) {
        s.fail("optimizer.zero_stage",
               "is no stage of nanotron, which has 0 and 1: it shards optimizer states at most",
               "write 0 or 1");
    }
    return sharding_of_stage(stage);
}

}  // namespace

ImportedJob nanotron_job(const JobSources& sources, const JobSettingList& settings)
{
    JobSettings s(nanotron_settings(), settings);
    ImportedJob job;
    job.format = "nanotron";
    job.software = "megatron-lm:local";
    s.assume(
        "software megatron-lm:local: no fitted software is nanotron; this is eager Megatron without "
        "Transformer Engine");
    ParallelPlan& plan = job.plan;
    plan.tp = s.count("parallelism.tp");
    plan.pp = s.count("parallelism.pp");
    plan.cp = s.count("parallelism.context_parallel_size");
    JobMachine machine;
    machine.gpus = s.required("parallelism.dp") * plan.tp * plan.pp * plan.cp;
    read_machine(sources, machine, job, s);
    job.node_gpus = sources.request.node_gpus;
    derive_replicas(job);
    Workload& w = job.network.workload;
    describe_nanotron_network(s, w);
    w.name = sources.request.name;
    job.network.architecture = "nanotron";
    job.network.origin = "settings";
    plan.ep = w.is_moe() ? s.count("parallelism.expert_parallel_size") : 1;
    plan.etp = w.is_moe() ? plan.tp : 1;
    const bool shares = s.text("parallelism.tp_mode") == "REDUCE_SCATTER";
    plan.sequence_parallel = shares || plan.tp == 1 ? SequenceParallel::on : SequenceParallel::off;
    const bool overlaps = s.flag("parallelism.tp_linear_async_communication") && shares && plan.tp > 1;
    plan.tp_overlap = overlaps ? TensorParallelOverlap::on : TensorParallelOverlap::off;
    const bool passes = s.text("parallelism.pp_engine") == "1f1b";
    plan.schedule = plan.pp == 1 || passes ? Schedule::one_f_one_b : Schedule::gpipe;
    plan.sharding = nanotron_sharding(s);
    plan.dp_overlap = DataParallelOverlap::on;
    s.assume("gradients are reduced beside the backward pass (dp_overlap on)");
    plan.recompute = s.flag("parallelism.recompute_layer") ? Recompute::full : Recompute::none;
    plan.microbatch = s.required("tokens.micro_batch_size");
    job.global_batch = plan.microbatch * s.count("tokens.batch_accumulation_per_replica") * plan.dp;
    job.sequence = s.required("tokens.sequence_length");
    job.steps = s.given("tokens.train_steps") ? s.number("tokens.train_steps") : 0.0;
    w.precision = s.text("model.dtype") == "float32" ? Precision::fp32 : Precision::bf16;
    if (!s.flag("optimizer.accumulate_grad_in_fp32")) {
        w.optimizer.gradients = NumberType::bf16;
    }
    check_batch(job);
    job.report = s.report();
    return job;
}

}  // namespace prismopt
