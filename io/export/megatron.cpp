#include "io/export/launch.hpp"
#include "io/export/megatron_plan.hpp"
#include "io/export/target_names.hpp"
#include "model/network/blocks/common_operators.hpp"
#include "model/network/transformer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

namespace {

void set_parallelism(const Launch& launch, Settings& s)
{
    const ParallelPlan& plan = launch.plan;
    s.set("tensor-model-parallel-size", plan.tp);
    s.set("pipeline-model-parallel-size", plan.pp);
    if (plan.cp > 1) {
        s.set("context-parallel-size", plan.cp);
        s.set("cp-comm-type", context_exchange_name(plan));
        if (plan.head_gpus() > 1 && plan.ring_gpus() > 1) {
            s.set("hierarchical-context-parallel-sizes",
                  fmt::format("{} {}", plan.head_gpus(), plan.ring_gpus()));
        }
    }
    if (launch.job.workload.is_moe()) {
        s.set("expert-model-parallel-size", plan.ep);
        s.set("expert-tensor-parallel-size", plan.etp);
    }
    if (plan.tp > 1 && plan.shares_tokens()) {
        s.flag("sequence-parallel");
    }
    if (plan.tp > 1 && plan.tp_overlap == TensorParallelOverlap::on) {  // asserts sequence parallelism
        s.flag("tp-comm-overlap");
    }
    if (launch.job.workload.is_moe() && plan.exchanges_tokens()) {
        if (plan.expert_overlap == ExpertOverlap::shared_experts) {
            s.flag("moe-shared-expert-overlap");
        } else if (plan.expert_overlap == ExpertOverlap::microbatches) {
            s.flag("overlap-moe-expert-parallel-comm");
        }
    }
    if (replicas_outermost(trained(launch))) {
        s.flag("use-tp-pp-dp-mapping");
    }
}

void set_pipeline(const Launch& launch, Settings& s)
{
    const MegatronLayers layers = megatron_layers(launch.chunks, launch.job.workload.predictions);
    if (!layers.layout.empty()) {
        s.set("pipeline-model-parallel-layout", fmt::format("\"{}\"", layers.layout));
    } else if (launch.plan.chunks > 1) {
        s.set("num-virtual-stages-per-pipeline-rank", launch.plan.chunks);
    }
    if (layers.account_for_ends) {
        s.flag("account-for-embedding-in-pipeline-split");
        s.flag("account-for-loss-in-pipeline-split");
    }
    if (launch.plan.chunks > 1 && launch.plan.group > 0) {
        s.set("microbatch-group-size-per-virtual-pipeline-stage",
              interleaved_group(launch.plan, launch.phase));
    }
}

void set_data_parallelism(const ParallelPlan& plan, Settings& s)
{
    const bool gathers = plan.sharding != Sharding::none;
    if (plan.sharding == Sharding::zero1) {
        s.flag("use-distributed-optimizer");
        if (plan.shard_gpus > 0 && plan.shard_gpus < plan.gradient_gpus()) {
            s.set("num-distributed-optimizer-instances", plan.gradient_gpus() / plan.shard_gpus);
        }
    } else if (gathers) {
        s.flag("use-distributed-optimizer");
        s.flag("use-megatron-fsdp");
        s.set("data-parallel-sharding-strategy",
              plan.sharding == Sharding::zero2 ? "optim_grads" : "optim_grads_params");
    }
    if (plan.dp_overlap == DataParallelOverlap::on) {
        s.flag("overlap-grad-reduce");
        if (gathers) {
            s.flag("overlap-param-gather");
        }
    }
    if (plan.offload == Offload::optimizer) {
        s.flag("optimizer-cpu-offload");
    }
}

void set_needed(const PlannedPhase& of, Settings& s)
{
    for (const NeededSetting& setting : needed_settings()) {
        if (setting.needed(of)) {
            s.set(setting.name, std::string(setting.value));
        }
    }
}

void set_recompute(const Launch& launch, Settings& s)
{
    if (launch.plan.recompute == Recompute::none) {
        return;
    }
    s.set("recompute-granularity", std::string(name(launch.plan.recompute)));
    if (launch.plan.recompute == Recompute::selective) {
        s.set("recompute-modules", fmt::format("{}", fmt::join(recomputed_modules(launch.plan), " ")));
    }
    if (launch.plan.recompute == Recompute::full) {
        const int some = recomputed_per_chunk(launch.plan);
        s.set("recompute-method", some > 0 ? "block" : "uniform");
        s.set("recompute-num-layers", some > 0 ? some : 1);
    }
}

struct Fp8Arguments {
    const char* format;  // "hybrid": gradients are E5M2
    const char* recipe;
};

// The defaults of Transformer Engine's recipes (transformer_engine/common/recipe/__init__.py). Those of
// Megatron-Bridge (src/megatron/bridge/training/mixed_precision.py at commit 05097809) agree, but for
// blockwise scaling, which has "hybrid" there; DeepSeek-V3 trained with E4M3 (arXiv 2412.19437, section
// 3.3.2).
Fp8Arguments fp8_arguments(Precision precision)
{
    switch (precision) {
        case Precision::fp8_delayed: return {"hybrid", "delayed"};
        case Precision::fp8_blockwise: return {"e4m3", "blockwise"};
        case Precision::mxfp8: return {"e4m3", "mxfp8"};
        default: return {"hybrid", "tensorwise"};
    }
}

void set_run(const Launch& launch, const TrainingLength& length, Settings& s)
{
    s.set("micro-batch-size", launch.plan.microbatch);
    s.set("global-batch-size", launch.phase.global_batch);
    s.set("seq-length", launch.phase.sequence);
    s.set("max-position-embeddings", std::max(launch.longest_sequence, launch.phase.sequence));
    s.set("position-embedding-type", position_embedding(launch.job.workload));
    s.set("train-" + length.unit, length.count);
    if (const long steps = steps_between_checkpoints(launch); steps > 0) {
        s.set("save-interval", steps);
    }
    s.flag("bf16");
    const Precision precision = kind_of(launch.job.workload.precision, launch.job.cluster.stack);
    if (has_8_bits(precision)) {
        const Fp8Arguments fp8 = fp8_arguments(precision);
        s.set("fp8-format", fp8.format);
        s.set("fp8-recipe", fp8.recipe);
    } else if (precision == Precision::nvfp4) {
        s.set("fp4-format", "e2m1");
    }
    if (const WideLayers& wide = launch.job.workload.wide; wide.first + wide.last > 0) {
        s.flag("first-last-layers-bf16");
        s.set("num-layers-at-start-in-bf16", wide.first);
        s.set("num-layers-at-end-in-bf16", wide.last);
    }
    if (!launch.job.workload.fuses_attention()) {
        s.set("attention-backend", "unfused");  // by default the fastest fused one
    }
}

/// What no scenario has; returns the names.
std::vector<std::string> set_what_is_missing(const Launch& launch, Settings& s)
{
    std::vector<std::string> missing{"lr", "data-path", "tokenizer-type", "tokenizer-model", "save"};
    if (!launch.before.empty()) {
        missing.emplace_back("load");
    }
    for (const std::string& name : missing) {
        s.set(name, fill_in);
    }
    return missing;
}

/// "[0]*3+[1]*58"
std::string runs_text(const std::vector<bool>& has_experts)
{
    std::string text;
    for (auto run = has_experts.begin(); run != has_experts.end();) {
        const auto end = std::find(run, has_experts.end(), !*run);
        text += fmt::format("{}[{}]*{}", text.empty() ? "" : "+", *run ? 1 : 0, end - run);
        run = end;
    }
    return text;
}

/// One for each layer with experts, as a list in Python: its shortest period, repeated, or all of it.
std::string layer_pattern(const std::vector<bool>& has_experts)
{
    const std::size_t layers = has_experts.size();
    for (std::size_t period = 1; 2 * period <= layers; ++period) {
        if (layers % period == 0 && std::equal(has_experts.begin() + static_cast<std::ptrdiff_t>(period),
                                               has_experts.end(), has_experts.begin())) {
            const std::vector<bool> once(has_experts.begin(),
                                         has_experts.begin() + static_cast<std::ptrdiff_t>(period));
            return fmt::format("\"({})*{}\"", runs_text(once), layers / period);
        }
    }
    return fmt::format("\"({})\"", runs_text(has_experts));
}

void set_experts(const Decoder& d, const std::string& dispatcher, Settings& s)
{
    const ExpertsBlock& e = *d.experts;
    s.set("num-experts", e.count);
    s.set("moe-router-topk", e.active);
    s.set("moe-ffn-hidden-size", e.inner);
    if (e.shared > 0) {
        s.set("moe-shared-expert-intermediate-size", e.shared);
    }
    if (d.mlp != nullptr) {
        s.set("moe-layer-freq", layer_pattern(d.has_experts));
    }
    s.set("moe-token-dispatcher-type", dispatcher);
    if (dispatcher == "flex") {
        s.flag("moe-enable-deepep");
    }
    s.flag("moe-grouped-gemm");
    if (e.capacity > 0.0) {
        s.set("moe-expert-capacity-factor", fmt::format("{}", e.capacity));
    }
}

void set_attention(const Decoder& d, const Workload& w, Settings& s)
{
    if (const LatentAttentionBlock* l = d.latent) {
        s.set("num-attention-heads", l->heads);
        s.flag("multi-latent-attention");
        if (l->query_rank > 0) {
            s.set("q-lora-rank", l->query_rank);
        }
        s.set("kv-lora-rank", l->key_value_rank);
        s.set("qk-head-dim", l->plain);
        s.set("qk-pos-emb-head-dim", l->rotary);
        s.set("v-head-dim", l->value);
        return;
    }
    const AttentionBlock& a = *d.attention;
    s.set("num-attention-heads", a.heads);
    if (a.key_heads() < a.heads) {
        s.flag("group-query-attention");
        s.set("num-query-groups", a.key_heads());
    }
    s.set("kv-channels", a.head > 0 ? a.head : w.hidden / a.heads);
    if (a.bias == Biases::qkv) {
        s.flag("add-qkv-bias");
    }
    if (a.query_key_norm != QueryKeyNorm::none) {
        s.flag("qk-layernorm");
    }
}

void set_network(const Launch& launch, Settings& s)
{
    const Workload& w = launch.job.workload;
    const Decoder d = *decoder_of(w);  // the trainer's rules refuse other networks
    s.set("num-layers", w.layers());
    s.set("hidden-size", w.hidden);
    s.set("ffn-hidden-size", d.mlp != nullptr ? d.mlp->inner : d.experts->inner);
    set_attention(d, w, s);
    const int tp = launch.plan.tp;  // each rank has as many rows
    s.set("padded-vocab-size", (w.vocabulary + tp - 1) / tp * tp);
    if (d.activation() != Activation::gelu) {
        s.flag(gated(d.activation()) ? "swiglu" : "squared-relu");
    }
    s.set("normalization", w.normalisation == Normalisation::rms_norm ? "RMSNorm" : "LayerNorm");
    // Megatron's defaults are those of GPT-2: biases, and dropout of 0.1. Experts in one
    // grouped product have no biases there.
    if (d.experts != nullptr || !d.mlp->bias) {
        s.flag("disable-bias-linear");
    }
    for (const char* where : {"attention-dropout", "hidden-dropout"}) {
        s.set(where, w.dropout ? "0.1" : "0.0");
    }
    if (!w.tied_embedding) {
        s.flag("untie-embeddings-and-output-weights");
    }
    if (w.predictions > 0) {
        s.set("mtp-num-layers", w.predictions);
    }
    if (w.loss == LossKernel::fused) {
        s.flag("cross-entropy-loss-fusion");
        s.set("cross-entropy-fusion-impl", "te");
    }
    if (d.experts != nullptr) {
        set_experts(d, token_dispatcher(launch.plan, launch.job.cluster), s);
    }
}

// validate_args() in arguments.py: "expected iteration-based training" and the like.
std::string other_unit_line(const TrainingLength& length)
{
    const bool iterations = length.unit == "iters";
    return fmt::format(
        "# Remove --train-{0}, --lr-decay-{0} and --lr-warmup-{0}{1}: Megatron refuses them "
        "beside --train-{2}.\n",
        iterations ? "samples" : "iters", iterations ? ", and --rampup-batch-size" : "", length.unit);
}

std::string environment_line(const PlannedPhase& of)
{
    const std::string words = words_of(device_connections(of));
    return words.empty() ? "" : fmt::format("# In the environment: {}.\n", words);
}

}  // namespace

Exported megatron_arguments(const Launch& launch)
{
    if (Refusals why = cannot_run("megatron", trained(launch)); !why.empty()) {
        return why;
    }
    const std::optional<TrainingLength> length = training_length(launch);
    if (!length) {
        return Refusals{too_few_samples(launch)};
    }
    const TargetNames& names = megatron_names();
    Settings settings(names);
    set_parallelism(launch, settings);
    set_pipeline(launch, settings);
    set_data_parallelism(launch.plan, settings);
    set_recompute(launch, settings);
    set_run(launch, *length, settings);
    set_network(launch, settings);
    set_needed(trained(launch), settings);
    const std::vector<std::string> missing = set_what_is_missing(launch, settings);
    std::string text = stamp(launch, names.version, names.source);
    text += fmt::format(
        "# For {} processes, one per GPU. Replace {} in: --{}.\n# To add: learning-rate schedule, "
        "optimizer{}. To check: "
        "position embedding (derived from the network).\n# Of a job that runs already, keep the flags that "
        "are not below, as --rotary-base, "
        "--attention-backend, --adam-beta2, --clip-grad.\n{}# bash: mapfile -t args < <(grep -v '^#' "
        "THIS_FILE "
        "| xargs -n1); python "
        "pretrain_gpt.py \"${{args[@]}}\"\n",
        launch.plan.gpus(), fill_in, fmt::join(missing, ", --"),
        launch.job.workload.is_moe() ? ", router" : "", other_unit_line(*length));
    text += phase_lines(launch) + environment_line(trained(launch)) + deepep_line(launch);
    for (const auto& [name, value] : settings.all()) {
        text += fmt::format("--{}{}{}\n", name, value.empty() ? "" : " ", value);
    }
    return std::vector<ExportFile>{{"", std::move(text)}};
}

}  // namespace prismopt
