#include "io/export/launch.hpp"
#include "io/export/megatron_plan.hpp"
#include "io/export/target_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace prismopt {

namespace {

/// Registered names of bridge.training.mixed_precision.
const char* precision_name(Precision precision)
{
    switch (precision) {
        case Precision::fp8:
        case Precision::fp8_current: return "bf16_with_fp8_current_scaling_mixed";
        case Precision::fp8_delayed: return "bf16_with_fp8_delayed_scaling_mixed";
        case Precision::fp8_blockwise: return "bf16_with_fp8_subchannel_scaling_mixed";
        case Precision::mxfp8: return "bf16_with_mxfp8_mixed";
        case Precision::nvfp4: return "bf16_with_nvfp4_mixed";
        case Precision::fp32:
        case Precision::tf32:  // refused
        case Precision::bf16: break;
    }
    return "bf16_mixed";
}

const char* truth(bool value) { return value ? "true" : "false"; }

}  // namespace

Exported bridge_overrides(const Launch& launch)
{
    if (Refusals why = cannot_run("bridge", trained(launch)); !why.empty()) {
        return why;
    }
    const std::optional<TrainingLength> length = training_length(launch);
    if (!length) {
        return Refusals{too_few_samples(launch)};
    }
    const ParallelPlan& plan = launch.plan;
    const TargetNames& names = bridge_names();
    Settings s(names);
    s.set("model.tensor_model_parallel_size", plan.tp);
    s.set("model.pipeline_model_parallel_size", plan.pp);
    const MegatronLayers layers = megatron_layers(launch.chunks, launch.job.workload.predictions);
    s.set("model.virtual_pipeline_model_parallel_size",
          layers.layout.empty() && plan.chunks > 1 ? std::to_string(plan.chunks) : "null");
    if (!layers.layout.empty()) {
        s.set("model.pipeline_model_parallel_layout", fmt::format("'{}'", layers.layout));
    }
    s.set("model.account_for_embedding_in_pipeline_split", truth(layers.account_for_ends));
    s.set("model.account_for_loss_in_pipeline_split", truth(layers.account_for_ends));
    if (plan.chunks > 1 && plan.group > 0) {
        s.set("model.microbatch_group_size_per_vp_stage", interleaved_group(plan, launch.phase));
    }
    if (!launch.job.workload.prediction.empty()) {
        const int modules = launch.job.workload.predictions;
        s.set("model.mtp_num_layers", modules > 0 ? std::to_string(modules) : "null");
    }
    s.set("model.context_parallel_size", plan.cp);
    if (plan.cp > 1) {
        s.set("model.cp_comm_type", context_exchange_name(plan));
        if (plan.head_gpus() > 1 && plan.ring_gpus() > 1) {
            s.set("model.hierarchical_context_parallel_sizes",
                  fmt::format("[{},{}]", plan.head_gpus(), plan.ring_gpus()));
        }
    }
    if (launch.job.workload.is_moe()) {
        s.set("model.expert_model_parallel_size", plan.ep);
        s.set("model.expert_tensor_parallel_size", plan.etp);
        s.set("model.moe_token_dispatcher_type", token_dispatcher(plan, launch.job.cluster));
        s.set("model.moe_enable_deepep", truth(uses_deepep(plan, launch.job.cluster)));
        s.set("model.moe_shared_expert_overlap",
              truth(plan.exchanges_tokens() && plan.expert_overlap == ExpertOverlap::shared_experts));
    }
    s.set("model.sequence_parallel", truth(plan.tp > 1 && plan.shares_tokens()));
    s.set("model.recompute_granularity",
          plan.recompute == Recompute::none ? "null" : std::string(name(plan.recompute)));
    if (plan.recompute == Recompute::selective) {
        s.set("model.recompute_modules",
              fmt::format("'[{}]'", fmt::join(recomputed_modules(launch.plan), ",")));
    }
    if (plan.recompute == Recompute::full) {
        const int some = recomputed_per_chunk(plan);
        s.set("model.recompute_method", some > 0 ? "block" : "uniform");
        s.set("model.recompute_num_layers", some > 0 ? some : 1);
    }
    if (launch.job.workload.loss != LossKernel::of_stack) {
        const bool fused = launch.job.workload.loss == LossKernel::fused;
        s.set("model.cross_entropy_loss_fusion", truth(fused));
        if (fused) {
            s.set("model.cross_entropy_fusion_impl", "te");
        }
    }
    s.set("model.seq_length", launch.phase.sequence);
    s.set("train.micro_batch_size", plan.microbatch);
    s.set("train.global_batch_size", launch.phase.global_batch);
    s.set("train.train_" + length->unit, length->count);
    if (const long steps = steps_between_checkpoints(launch); steps > 0) {
        s.set("checkpoint.save_interval", steps);
    }
    s.set("dist.use_tp_pp_dp_mapping", truth(replicas_outermost(trained(launch))));
    const bool overlapped = plan.dp_overlap == DataParallelOverlap::on;
    s.set("ddp.use_distributed_optimizer", truth(plan.sharding == Sharding::zero1));
    s.set("ddp.overlap_grad_reduce", truth(overlapped));
    s.set("ddp.overlap_param_gather", truth(overlapped && plan.sharding == Sharding::zero1));
    std::string text = stamp(launch, names.version, names.source);
    text += fmt::format(
        "# Overrides to append to a recipe of {}, on {} GPUs{}. It provides learning "
        "rate, data, tokenizer, position embedding and precision, which must be {}.\n",
        one_line(launch.job.workload.name), plan.gpus(),
        length->unit == "iters" ? "" : "; the recipe must set train_iters to null",
        precision_name(kind_of(launch.job.workload.precision, launch.job.cluster.stack)));
    text += phase_lines(launch) + deepep_line(launch);
    for (const auto& [name, value] : s.all()) {
        text += fmt::format("{}={}\n", name, value);
    }
    return std::vector<ExportFile>{{"", std::move(text)}};
}

}  // namespace prismopt
