#include "io/authoring/jobs/job_readers.hpp"
#include "io/authoring/jobs/megatron_readers.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/layout_text.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"
#include "model/base/names.hpp"
#include "model/plan/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {

namespace {

bool is(const JobSettings& s, std::string_view program) { return s.table().program == program; }

/// Returns a layout in Megatron's form from the number of layers of each chunk.
std::string layout_of(const std::vector<int>& layers, int predictions)
{
    std::vector<int> units = layers;
    ++units.front();
    ++units.back();
    return layout_text(chunks_of_units(units), predictions);
}

/// The layers of each of `chunk_count` chunks where only one of embedding and head counts as a layer.
std::vector<int> with_one_end(JobSettings& s, int layers, int chunk_count, bool embedding)
{
    if ((layers + 1) % chunk_count != 0) {
        s.fail("num-layers", fmt::format("with one end does not divide among {} chunks", chunk_count),
               "correct the pipeline");
    }
    std::vector<int> each(static_cast<std::size_t>(chunk_count), (layers + 1) / chunk_count);
    int& shorter = embedding ? each.front() : each.back();
    --shorter;
    return each;
}

void read_degrees(JobSettings& s, bool moe, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    plan.tp = s.count("tensor-model-parallel-size");
    plan.pp = s.count("pipeline-model-parallel-size");
    plan.cp = s.count("context-parallel-size");
    if (is(s, "Megatron-DeepSpeed")) {
        if (s.flag("no-pipeline-parallel")) {
            plan.pp = 1;
        }
        const int heads = s.count("ds-sequence-parallel-size");
        if (heads > 1) {
            plan.cp = heads;
            plan.ulysses = heads;
        }
    }
    if (moe) {
        plan.ep = s.count("expert-model-parallel-size");
        plan.etp = s.count("expert-tensor-parallel-size", plan.tp, "tensor-model-parallel-size");
    }
    if (plan.tp < 1 || plan.pp < 1 || plan.cp < 1 || plan.ep < 1 || plan.etp < 1) {
        throw InputError(
            "a degree of parallelism is not positive; correct it, or override it with --set NAME=VALUE");
    }
    derive_replicas(job);
}

void read_context_exchange(JobSettings& s, ParallelPlan& plan)
{
    if (plan.cp == 1 || is(s, "Megatron-DeepSpeed")) {
        return;
    }
    const std::string type = s.text("cp-comm-type");
    if (type == "all_gather" || type == "allgather") {
        plan.context_exchange = ContextExchange::all_gather;
    } else if (type == "a2a") {
        plan.ulysses = plan.cp;
    } else if (type == "a2a+p2p") {
        const std::vector<std::string> sizes = s.texts("hierarchical-context-parallel-sizes");
        plan.ulysses = sizes.empty() ? plan.cp : std::max(1, std::atoi(sizes.front().c_str()));
    }
}

/// deepspeed/runtime/pipe/module.py, partition_method: stages have numbers of layers as equal as can be; with
/// the embedding among those counted, both ends count as a layer.
void read_partition(JobSettings& s, int layers, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    const bool ends = s.given("pp-partition-method") &&
                      s.text("pp-partition-method").find("embedding") != std::string::npos;
    const int units = layers + (ends ? 2 : 0);
    if (units % plan.pp == 0) {
        plan.split = ends ? LayerSplit::slots : LayerSplit::layers;
        return;
    }
    std::vector<int> each(static_cast<std::size_t>(plan.pp), units / plan.pp);
    for (int stage = 0; stage < units % plan.pp; ++stage) {
        ++each[static_cast<std::size_t>(stage)];
    }
    each.front() -= ends ? 1 : 0;
    each.back() -= ends ? 1 : 0;
    job.layout = layout_of(each, job.network.workload.predictions);
    plan.split = LayerSplit::given;
    s.assume(fmt::format("{} layers on {} stages: {}", layers, plan.pp, job.layout));
}

void read_layout(JobSettings& s, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    job.layout = s.text("pipeline-model-parallel-layout");
    std::erase_if(job.layout, [](char c) { return c == '"' || c == '\'' || c == ' '; });
    const auto chunks = parse_layout(job.layout, job.network.workload.predictions);
    if (const auto* wrong = std::get_if<std::string>(&chunks)) {
        s.fail("pipeline-model-parallel-layout", fmt::format("is no layout: {}", *wrong), "correct it");
    }
    const int chunk_count = static_cast<int>(std::get<std::vector<Chunk>>(chunks).size());
    if (chunk_count % plan.pp != 0) {
        s.fail("pipeline-model-parallel-layout",
               fmt::format("has {} chunks for {} stages", chunk_count, plan.pp), "correct it");
    }
    plan.chunks = chunk_count / plan.pp;
    plan.split = LayerSplit::given;
}

/// Embedding and head that count as layers where the pipeline is split.
struct CountedEnds {
    bool embedding = false;
    bool head = false;
};

void read_chunks(JobSettings& s, CountedEnds ends, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    if (s.given("pipeline-model-parallel-layout")) {
        read_layout(s, job);
    } else if (s.given("num-layers-per-virtual-pipeline-stage")) {
        const int each = s.count("num-layers-per-virtual-pipeline-stage");
        const int all = job.network.workload.layers() + (ends.embedding ? 1 : 0) + (ends.head ? 1 : 0);
        if (each < 1 || all % (plan.pp * each) != 0) {
            s.fail("num-layers-per-virtual-pipeline-stage",
                   fmt::format("does not divide {} layers on {} stages", all, plan.pp), "correct it");
        }
        plan.chunks = all / plan.pp / each;
    } else {
        const bool usual = s.given("num-virtual-stages-per-pipeline-rank");
        const char* row =
            usual ? "num-virtual-stages-per-pipeline-rank" : "virtual-pipeline-model-parallel-size";
        plan.chunks = s.given(row) ? std::max(1, s.count(row)) : 1;
    }
}

/// Numbers of layers of the first and the last stage, where given.
std::string layout_of_ends(JobSettings& s, const Workload& w, const ParallelPlan& plan)
{
    const int layers = w.layers();
    const int first =
        s.given("decoder-first-pipeline-num-layers") ? s.count("decoder-first-pipeline-num-layers") : 0;
    const int last =
        s.given("decoder-last-pipeline-num-layers") ? s.count("decoder-last-pipeline-num-layers") : 0;
    const int others = plan.pp - (first > 0 ? 1 : 0) - (last > 0 ? 1 : 0);
    if (plan.chunks > 1 || others < 1 || (layers - first - last) % others != 0 || first + last >= layers) {
        s.fail("num-layers", "does not divide among the stages between the first and the last",
               "correct the pipeline");
    }
    std::vector<int> each(static_cast<std::size_t>(plan.pp), (layers - first - last) / others);
    if (first > 0) {
        each.front() = first;
    }
    if (last > 0) {
        each.back() = last;
    }
    return layout_of(each, w.predictions);
}

/// How the layers are divided among chunks, if no layout says.
void read_split(JobSettings& s, CountedEnds ends, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    const Workload& w = job.network.workload;
    if (s.given("decoder-first-pipeline-num-layers") || s.given("decoder-last-pipeline-num-layers")) {
        job.layout = layout_of_ends(s, w, plan);
        plan.split = LayerSplit::given;
    } else if (ends.embedding && ends.head) {
        plan.split = LayerSplit::slots;
    } else if (ends.embedding || ends.head) {
        job.layout =
            layout_of(with_one_end(s, w.layers(), plan.pp * plan.chunks, ends.embedding), w.predictions);
        plan.split = LayerSplit::given;
    }
}

/// Megatron-Core starts no pipeline whose chunks differ, unless a layout or the ends are given
/// (megatron/core/transformer/transformer_block.py, get_num_layers_to_build).
void refuse_uneven_chunks(JobSettings& s, CountedEnds ends, const ImportedJob& job)
{
    const int units =
        job.network.workload.layers() + static_cast<int>(ends.embedding) + static_cast<int>(ends.head);
    const int chunk_count = job.plan.pp * job.plan.chunks;
    if (units % chunk_count != 0) {
        s.fail("num-layers",
               fmt::format("does not divide equally among {} chunks of the pipeline", chunk_count),
               "correct the pipeline, or give its layout or the layers of its first and last stage");
    }
}

void read_pipeline(JobSettings& s, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    const CountedEnds ends{.embedding = s.flag("account-for-embedding-in-pipeline-split"),
                           .head = s.flag("account-for-loss-in-pipeline-split")};
    read_chunks(s, ends, job);
    if (plan.pp == 1) {
        plan.chunks = 1;
        plan.split = LayerSplit::layers;
        job.layout.clear();
        return;
    }
    if (plan.split != LayerSplit::given) {
        read_split(s, ends, job);
    }
    if (is(s, "Megatron-DeepSpeed") && plan.split == LayerSplit::layers) {
        read_partition(s, job.network.workload.layers(), job);
    } else if (plan.split != LayerSplit::given) {
        refuse_uneven_chunks(s, ends, job);
    }
    const bool splits = is(s, "Megatron-DeepSpeed") && s.flag("enable-zbh1-pipeline");
    const Schedule usual = plan.chunks > 1 ? usual_schedule_of_chunks : usual_schedule;
    plan.schedule = splits ? Schedule::zb_h1 : usual;
    if (plan.chunks > 1 && s.given("microbatch-group-size-per-virtual-pipeline-stage")) {
        const int group = s.count("microbatch-group-size-per-virtual-pipeline-stage");
        plan.group = group == plan.pp ? 0 : group;
    }
}

/// The configuration of DeepSpeed that the arguments name; it wins over them.
void read_deepspeed(JobSettings& s, ParallelPlan& plan)
{
    int stage = s.count("zero-stage");
    if (has_deepspeed_json(s)) {
        s.text("deepspeed_config");
        stage = read_deepspeed_json(s, plan);
    } else {
        if (s.given("deepspeed_config")) {
            s.assume(fmt::format("{} is not there; the arguments stand for it",
                                 printable(s.text("deepspeed_config"))));
        }
        assume_deepspeed_stage(s, stage, plan);
    }
    // deepspeed/runtime/bf16_optimizer.py divides states and masters among replicas.
    if (stage == 0 && s.flag("bf16")) {
        plan.sharding = sharding_of_stage(1);
        s.assume(
            "states sharded over replicas (zero1), as DeepSpeed's optimizer for bf16 has them at stage 0");
    }
    if (s.flag("cpu-optimizer") && plan.offload == Offload::none) {
        plan.offload = Offload::optimizer;
    }
}

Sharding sharding_of_fsdp(const std::string& strategy)
{
    constexpr std::array<Named<Sharding>, 3> strategies{
        {{Sharding::none, "no_shard"}, {Sharding::zero1, "optim"}, {Sharding::zero2, "optim_grads"}}};
    return parse(strategy, strategies).value_or(Sharding::zero3);
}

Offload offload_of(JobSettings& s)
{
    const bool host = s.flag("optimizer-cpu-offload");
    const bool layers = s.count("cpu-offloading-num-layers") > 0;
    const bool fine = s.flag("fine-grained-activation-offloading");
    if (host) {
        return Offload::optimizer;
    }
    return layers || fine ? Offload::activations : Offload::none;
}

/// validate_args() in megatron/training/arguments.py: "--overlap-param-gather only supported with distributed
/// optimizer or megatron fsdp", or with --optimizer dist_muon; "Must use --overlap-param-gather with
/// --overlap-grad-reduce". Bridge and NeMo 1 have other checks.
void refuse_lone_overlap_of_parameters(JobSettings& s)
{
    const bool validates = is(s, "Megatron-LM") || is(s, "slime") || is(s, "Primus");
    if (!validates || !s.flag("overlap-param-gather")) {
        return;
    }
    const bool gathers = s.flag("use-distributed-optimizer") || s.flag("use-megatron-fsdp") ||
                         s.stated("optimizer") == "dist_muon";
    if (!gathers) {
        s.fail("overlap-param-gather",
               fmt::format("is refused by {} without use-distributed-optimizer or use-megatron-fsdp",
                           s.table().program),
               "add use-distributed-optimizer, or remove it");
    }
    if (!s.flag("overlap-grad-reduce")) {
        s.fail("overlap-param-gather",
               fmt::format("is refused by {} without overlap-grad-reduce", s.table().program),
               "add overlap-grad-reduce, or remove it");
    }
}

void read_data_parallelism(JobSettings& s, ParallelPlan& plan)
{
    refuse_lone_overlap_of_parameters(s);
    const bool gradients = s.flag("overlap-grad-reduce");
    const bool parameters = s.flag("overlap-param-gather");
    bool states = s.flag("use-distributed-optimizer");
    if (is(s, "NeMo 1")) {
        states = states || s.text("optim-name").starts_with("distributed");
    }
    plan.sharding = states ? Sharding::zero1 : Sharding::none;
    if (s.flag("use-megatron-fsdp")) {
        // It has no other use of --use-distributed-optimizer: the strategy alone decides
        // (megatron/core/distributed/fsdp/src/megatron_fsdp/param_and_grad_buffer.py).
        const char* row = "data-parallel-sharding-strategy";
        plan.sharding = sharding_of_fsdp(s.text(row));
        if (plan.sharding == Sharding::none && !s.given(row)) {
            s.assume(fmt::format("use-megatron-fsdp shards nothing: {} is no_shard by default", row));
        }
    } else if (s.flag("use-torch-fsdp2")) {
        plan.sharding = s.flag("torch-fsdp2-no-reshard-after-forward") ? Sharding::zero2 : Sharding::zero3;
    }
    const int instances = s.count("num-distributed-optimizer-instances");
    if (plan.sharding != Sharding::none && instances > 1 && plan.gradient_gpus() % instances == 0) {
        plan.shard_gpus = plan.gradient_gpus() / instances;
    }
    const bool sharded = plan.sharding != Sharding::none;
    plan.dp_overlap = gradients ? DataParallelOverlap::on : DataParallelOverlap::off;
    if (gradients && sharded && !parameters) {
        s.no_key("overlap-grad-reduce",
                 "only gradients overlap, the all-gather of parameters does not; the plan takes both");
    }
    if (is(s, "NeMo 1")) {  // its distributed Adam overlaps both by default
        plan.dp_overlap = states ? DataParallelOverlap::on : DataParallelOverlap::off;
    }
    plan.offload = offload_of(s);
}

void read_modules(JobSettings& s, const char* row, std::span<const Module> choices, ModuleSet& modules)
{
    for (const std::string& name : s.texts(row)) {
        if (const auto module = parse_modules(name, choices)) {
            modules |= *module;
        } else {
            s.no_key(row, fmt::format("module {}, which no axis has", printable(name)));
        }
    }
}

Recompute recompute_of(JobSettings& s)
{
    const bool all = is(s, "Megatron-DeepSpeed") && s.flag("checkpoint-activations");
    s.flag(is(s, "Megatron-DeepSpeed") ? "deepspeed-activation-checkpointing" : "recompute-activations");
    const std::string granularity = s.text("recompute-granularity");
    if (granularity == "full" || all) {
        return Recompute::full;
    }
    const bool selective = granularity == "selective" || s.flag("recompute-activations");
    return selective ? Recompute::selective : Recompute::none;
}

void read_recompute(JobSettings& s, ImportedJob& job)
{
    ParallelPlan& plan = job.plan;
    plan.recompute = recompute_of(s);
    if (plan.recompute == Recompute::selective && !is(s, "NeMo 1")) {
        read_modules(s, "recompute-modules", recomputable_modules, plan.recompute_modules);
    } else if (plan.recompute == Recompute::selective) {
        plan.recompute_modules = ModuleSet{Module::core_attn};
    } else if (plan.recompute == Recompute::full && s.text("recompute-method") == "block") {
        const int layers = s.count("recompute-num-layers") * plan.chunks * plan.pp;
        plan.recomputed_layers = layers >= job.network.workload.layers() ? 0 : layers;
    } else if (plan.recompute == Recompute::full) {
        s.count("recompute-num-layers");
    }
}

ExpertOverlap expert_overlap_of(JobSettings& s)
{
    const bool shared = s.flag("moe-shared-expert-overlap");
    const bool others = s.flag("overlap-moe-expert-parallel-comm");
    if (others) {
        return ExpertOverlap::microbatches;
    }
    return shared ? ExpertOverlap::shared_experts : ExpertOverlap::off;
}

void read_experts(JobSettings& s, ParallelPlan& plan)
{
    const std::string type = s.text("moe-token-dispatcher-type");
    const bool deepep = s.flag("moe-enable-deepep");
    if (type == "flex") {
        const bool hybrid = s.given("moe-flex-dispatcher-backend") &&
                            s.text("moe-flex-dispatcher-backend") == "hybridep" && !deepep;
        plan.dispatch = hybrid ? Dispatch::hybridep : Dispatch::deepep;
    } else {
        plan.dispatch = type == "allgather" ? Dispatch::all_gather : Dispatch::all_to_all;
    }
    plan.expert_overlap = expert_overlap_of(s);
    if (!plan.exchanges_tokens()) {
        plan.dispatch = Dispatch::of_stack;
        plan.expert_overlap = ExpertOverlap::off;
    }
}

/// Without --moe-grouped-gemm, Megatron-Core loops over the experts of a GPU (SequentialMLP in
/// megatron/core/transformer/moe/experts.py), as Megatron-DeepSpeed always does (deepspeed/moe/experts.py).
/// Recipes and models in other files, which name no experts here, may set it.
void note_separate_experts(JobSettings& s, const Workload& w, const ParallelPlan& plan)
{
    const auto* experts = w.find<ExpertsBlock>();
    const bool several = experts != nullptr && experts->count > plan.ep;
    const bool has_flag = !is(s, "Megatron-DeepSpeed");
    const char* row = has_flag ? "moe-grouped-gemm" : "num-experts";
    const bool grouped = s.flag("moe-grouped-gemm");
    if (several && !grouped && (s.given("num-experts") || s.given(row))) {
        s.no_key(row, fmt::format("{}the experts of a GPU run one after the other; the model has one grouped "
                                  "product for all of them",
                                  has_flag ? "off: " : ""));
    }
}

void read_graphs(JobSettings& s, const Workload& w, ParallelPlan& plan)
{
    const std::string impl = s.text("cuda-graph-impl");
    const bool old = s.flag("enable-cuda-graph") || s.flag("external-cuda-graph");
    if (impl == "none" && !old) {
        return;
    }
    const char* row = s.given("cuda-graph-modules") ? "cuda-graph-modules" : "cuda-graph-scope";
    if (s.given(row)) {
        read_modules(s, row, graph_modules, plan.cuda_graphs);
    } else {
        plan.cuda_graphs = w.is_moe() ? ModuleSet{Module::attn, Module::moe_router, Module::moe_preprocess}
                                      : ModuleSet{Module::attn, Module::mlp};
    }
}

void read_batch(JobSettings& s, ImportedJob& job)
{
    job.plan.microbatch = s.required("micro-batch-size");
    job.global_batch =
        s.count("global-batch-size", job.plan.microbatch * job.plan.dp, "micro-batch-size times replicas");
    const bool encoder = s.given("encoder-seq-length") || is(s, "NeMo 1");
    job.sequence = s.required(encoder && !s.given("seq-length") ? "encoder-seq-length" : "seq-length");
    if (s.given("train-samples")) {
        job.steps = std::floor(s.number("train-samples") / job.global_batch);
    } else if (is(s, "Megatron-DeepSpeed") && s.given("train-tokens")) {
        job.steps =
            std::floor(s.number("train-tokens") / (static_cast<double>(job.global_batch) * job.sequence));
    } else if (s.given("train-iters") || is(s, "Megatron-Bridge")) {
        job.steps = s.number("train-iters");
    }
    for (const char* grows : {"rampup-batch-size", "step-batch-size-schedule"}) {
        if (s.given(grows)) {
            s.assume(
                fmt::format("the batch is {} from the beginning; {} lets it grow", job.global_batch, grows));
        }
    }
    check_batch(job);
}

/// Training part of a reinforcement-learning job: updates on samples of roll-outs.
void read_rollouts(JobSettings& s, ImportedJob& job)
{
    const int samples = s.required("rollout-batch-size") * s.count("n-samples-per-prompt");
    job.plan.microbatch = s.given("micro-batch-size") ? s.count("micro-batch-size") : 1;
    job.global_batch = s.given("num-steps-per-rollout")
                           ? samples / std::max(1, s.count("num-steps-per-rollout"))
                           : s.count("global-batch-size", samples, "samples of a roll-out");
    const int longest = s.required("rollout-max-response-len") +
                        (s.given("rollout-max-prompt-len") ? s.count("rollout-max-prompt-len") : 0);
    job.sequence = s.given("seq-length") ? s.count("seq-length") : longest;
    s.assume(
        fmt::format("mean length = the maximum, {}: an upper bound; [data] can state lengths", job.sequence));
    s.assume("only the training part is described, not the roll-out");
    if (s.given("num-rollout") && job.global_batch > 0) {
        const int updates = samples / job.global_batch;  // of each roll-out
        job.steps = s.number("num-rollout") * updates;
    }
    if (s.flag("use-dynamic-batch-size")) {
        s.no_key("use-dynamic-batch-size",
                 "microbatches of as many samples as fit: [data] batching = \"tokens\" with lengths");
    }
    check_batch(job);
}

/// "llama3_8b_pretrain_config" names llama3-8b.
void read_recipe(const JobSources& sources, JobSettings& s, ImportedJob& job)
{
    if (!s.given("recipe")) {
        read_model(sources, "", job, s);
        return;
    }
    std::string name = s.text("recipe");
    for (const char* ending : {"_pretrain", "_sft", "_peft", "_config"}) {
        const std::size_t at = name.find(ending);
        if (at != std::string::npos) {
            name = name.substr(0, at);
        }
    }
    read_model(sources, name, job, s);
    s.assume(
        fmt::format("recipe {} is Python, which is not run: what no override names has the value of Bridge's "
                    "base recipe (see the defaults)",
                    printable(s.text("recipe"))));
}

JobMachine machine_of(const JobSources& sources, JobSettings& s)
{
    JobMachine machine = sources.command ? job_machine(*sources.command, sources.directives) : JobMachine{};
    const auto read_counts = [&](const char* nodes, const char* gpus) {
        machine.nodes = s.count(nodes);
        machine.node_gpus = s.count(gpus);
        machine.gpus = machine.nodes * machine.node_gpus;
    };
    if (is(s, "slime")) {
        read_counts("actor-num-nodes", "actor-num-gpus-per-node");
    } else if (is(s, "NeMo 1")) {
        read_counts("trainer.num_nodes", "trainer.devices");
    } else if (is(s, "Megatron-Bridge") && s.given("nodes") && s.given("gpus-per-node")) {
        read_counts("nodes", "gpus-per-node");
    }
    return machine;
}

std::string software_for(JobSettings& s)
{
    if (is(s, "Megatron-DeepSpeed")) {
        return "megatron-deepspeed:2023";
    }
    if (is(s, "Megatron-Bridge")) {
        return "megatron-bridge";
    }
    if (is(s, "NeMo 1")) {
        return "nemo:24.07";
    }
    return s.text("transformer-impl") == "local" ? "megatron-lm:local" : "megatron-lm";
}

}  // namespace

ImportedJob megatron_job(const JobSources& sources, const TrainerSettings& table,
                         const JobSettingList& settings)
{
    JobSettings s(table, settings);
    ImportedJob job;
    job.format = std::string(table.program);
    read_megatron_precision(s, job.network.workload);
    const Workload types = job.network.workload;
    const bool newest = types.precision == Precision::mxfp8 || types.precision == Precision::nvfp4;
    job.accelerator = newest ? "b200-sxm" : "";  // unless a file names another
    job.software = software_for(s);
    s.assume(fmt::format("software {}: its release is not in the files", job.software));
    read_machine(sources, machine_of(sources, s), job, s);
    const bool described =
        s.given("num-layers") && s.given("hidden-size") && sources.request.workload.empty();
    if (!described) {
        read_recipe(sources, s, job);
    }
    read_degrees(
        s, described ? s.given("num-experts") && s.count("num-experts") > 1 : job.network.workload.is_moe(),
        job);
    Workload& w = job.network.workload;
    if (described) {
        describe_megatron_network(s, job.plan.tp, w);
        w.name = sources.request.name;
        job.network.architecture = table.program;
        job.network.origin = "settings";
    }
    w.precision = types.precision;
    w.wide = types.wide;
    read_megatron_optimizer(s, w);
    read_context_exchange(s, job.plan);
    const bool sequence = s.flag("sequence-parallel");
    job.plan.sequence_parallel = sequence || job.plan.tp == 1 ? SequenceParallel::on : SequenceParallel::off;
    read_pipeline(s, job);
    if (is(s, "Megatron-DeepSpeed")) {
        read_deepspeed(s, job.plan);
    } else {
        read_data_parallelism(s, job.plan);
    }
    const bool overlaps = s.flag("tp-comm-overlap") && job.plan.tp > 1;
    job.plan.tp_overlap = overlaps ? TensorParallelOverlap::on : TensorParallelOverlap::off;
    job.plan.order = s.flag("use-tp-pp-dp-mapping") ? PlacementOrder::tp_pp_dp : PlacementOrder::tp_dp_pp;
    read_recompute(s, job);
    if (w.is_moe()) {
        read_experts(s, job.plan);
        note_separate_experts(s, w, job.plan);
    }
    read_graphs(s, w, job.plan);
    if (s.flag("cross-entropy-loss-fusion")) {
        w.loss = LossKernel::fused;
    }
    if (is(s, "Megatron-Bridge") && (s.given("peft") || s.given("peft.dim"))) {
        s.text("peft");
        w.method = Method::lora;
        w.adapter_rank = s.count("peft.dim");
        s.no_key(
            "peft",
            "adapters beside fused projections (qkv, fc1); the scenario has them beside each projection");
    }
    if (is(s, "slime")) {
        read_rollouts(s, job);
    } else {
        read_batch(s, job);
    }
    job.report = s.report();
    return job;
}

}  // namespace prismopt
