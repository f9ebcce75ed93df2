#include "io/export/megatron_plan.hpp"
#include "io/export/target_names.hpp"

#include <fmt/format.h>

#include <cmath>

namespace prismopt {

namespace {

Refusals refusals(const Launch& launch)
{
    Refusals why = megatron_refusals(launch);
    const ParallelPlan& plan = launch.plan;
    if (plan.sharding == Sharding::zero2 || plan.sharding == Sharding::zero3) {
        why.push_back(
            fmt::format("sharding {} is exported for Megatron-LM and torchtitan only; search sharding = [\"none\", \"zero1\"]",
                        name(plan.sharding)));
    }
    if (plan.shard_gpus > 0 && plan.shard_gpus < plan.gradient_gpus()) {
        why.emplace_back("hybrid sharding is exported for Megatron-LM and torchtitan only");
    }
    if (plan.tp_overlap == TensorParallelOverlap::on) {
        why.emplace_back("tp_overlap needs the recipe's own table of buffers by model and GPU; search tp_overlap = [\"off\"]");
    }
    if (plan.offload != Offload::none) {
        why.emplace_back("offload is exported for Megatron-LM only; search offload = [\"none\"]");
    }
    return why;
}

const char* truth(bool value) { return value ? "true" : "false"; }

}  // namespace

Exported bridge_overrides(const Launch& launch)
{
    if (Refusals why = refusals(launch); !why.empty()) {
        return why;
    }
    const ParallelPlan& plan = launch.plan;
    const TargetNames& names = bridge_names();
    Settings s(names);
    s.set("model.tensor_model_parallel_size", plan.tp);
    s.set("model.pipeline_model_parallel_size", plan.pp);
    const MegatronLayers layers = megatron_layers(launch);
    s.set("model.virtual_pipeline_model_parallel_size",
          layers.layout.empty() && plan.chunks > 1 ? std::to_string(plan.chunks) : "null");
    if (!layers.layout.empty()) {
        s.set("model.pipeline_model_parallel_layout", fmt::format("'{}'", layers.layout));
    }
    s.set("model.account_for_embedding_in_pipeline_split", truth(layers.account_for_ends));
    s.set("model.account_for_loss_in_pipeline_split", truth(layers.account_for_ends));
    if (plan.chunks > 1 && plan.group > 0) {
        s.set("model.microbatch_group_size_per_vp_stage", plan.group);
    }
    s.set("model.context_parallel_size", plan.cp);
    if (plan.cp > 1) {
        s.set("model.cp_comm_type", plan.context_exchange == ContextExchange::ring ? "p2p" : "all_gather");
    }
    if (launch.workload.mixture()) {
        s.set("model.expert_model_parallel_size", plan.ep);
        s.set("model.expert_tensor_parallel_size", plan.etp);
    }
    s.set("model.sequence_parallel", truth(plan.tp > 1 && plan.sequence_parallel));
    s.set("model.recompute_granularity", plan.recompute == Recompute::none ? "null" : std::string(name(plan.recompute)));
    if (plan.recompute == Recompute::full) {
        const int some = recomputed_per_chunk(launch);
        s.set("model.recompute_method", some > 0 ? "block" : "uniform");
        s.set("model.recompute_num_layers", some > 0 ? some : 1);
    }
    s.set("model.seq_length", launch.phase.sequence);
    s.set("train.micro_batch_size", plan.microbatch);
    s.set("train.global_batch_size", launch.phase.global_batch);
    s.set("train.train_samples", std::lround(launch.phase.tokens / launch.phase.sequence));
    if (const long steps = steps_between_checkpoints(launch); steps > 0) {
        s.set("checkpoint.save_interval", steps);
    }
    s.set("dist.use_tp_pp_dp_mapping", truth(replicas_outermost(plan)));
    const bool overlapped = plan.dp_overlap == DataParallelOverlap::on;
    s.set("ddp.use_distributed_optimizer", truth(plan.sharding == Sharding::zero1));
    s.set("ddp.overlap_grad_reduce", truth(overlapped));
    s.set("ddp.overlap_param_gather", truth(overlapped && plan.sharding == Sharding::zero1));
    std::string text = stamp(launch, names.version, names.source);
    text += fmt::format("# Overrides behind a recipe of {}, on {} GPUs; the recipe must set train_iters to null.\n",
                        launch.workload.name, plan.gpus());
    for (const auto& [name, value] : s.all()) {
        text += fmt::format("{}={}\n", name, value);
    }
    return std::vector<ExportFile>{{"", std::move(text)}};
}

}  // namespace prismopt
