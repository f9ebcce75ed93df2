#include "io/trainers/trainer.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

std::string sharding(const PlannedPhase& of)
{
    return shards_gradients(of.plan.sharding) ? fmt::format(
                                                    "sharding {} is exported for Megatron-LM and torchtitan "
                                                    "only; search sharding = [\"none\", \"zero1\"]",
                                                    name(of.plan.sharding))
                                              : "";
}

std::string hybrid_sharding(const PlannedPhase& of)
{
    return of.plan.shard_gpus > 0 && of.plan.shard_gpus < of.plan.gradient_gpus()
               ? "hybrid sharding is exported for Megatron-LM and torchtitan only"
               : "";
}

std::string tp_overlap(const PlannedPhase& of)
{
    return of.plan.tp > 1 && of.plan.tp_overlap == TensorParallelOverlap::on
               ? "tp_overlap needs the recipe's own table of buffers by model and GPU; search tp_overlap = "
                 "[\"off\"]"
               : "";
}

std::string expert_overlap(const PlannedPhase& of)
{
    return of.plan.exchanges_tokens() && of.plan.expert_overlap == ExpertOverlap::microbatches
               ? "overlap with other microbatches is a setting of the recipe's comm_overlap, which may be "
                 "unset; search "
                 "expert_overlap = [\"off\", \"shared-experts\"]"
               : "";
}

std::string offload(const PlannedPhase& of)
{
    return of.plan.offload != Offload::none
               ? "offload is exported for Megatron-LM only; search offload = [\"none\"]"
               : "";
}

std::string attention_kernel(const PlannedPhase& of)
{
    return of.job.workload.fuses_attention()
               ? ""
               : "plain attention is exported for Megatron-LM only; use flash attention";
}

/// Its recipes of mixed precision set them, as
/// bf16_with_fp8_current_scaling_mixed() the first and the last layer.
std::string layers_in_bf16(const PlannedPhase& of)
{
    return of.job.workload.wide == WideLayers{}
               ? ""
               : "layers in bf16 are exported for Megatron-LM only; its recipes set their own";
}

}  // namespace

std::vector<TrainerRule> bridge_rules()
{
    std::vector<TrainerRule> rules = megatron_rules();
    const std::vector<TrainerRule> own{
        {"attention kernel", "tp", attention_kernel, RuleOf::exports},
        {"layers in bf16", "tp", layers_in_bf16, RuleOf::exports},
        {"sharding", "sharding", sharding, RuleOf::exports},
        {"hybrid sharding", "shard_gpus", hybrid_sharding, RuleOf::exports},
        {"tensor-parallel overlap", "tp_overlap", tp_overlap, RuleOf::exports, "\"off\""},
        {"expert overlap", "expert_overlap", expert_overlap, RuleOf::exports, "\"off\" \"shared-experts\""},
        {"offload", "offload", offload, RuleOf::exports, "\"none\""},
    };
    rules.insert(rules.end(), own.begin(), own.end());
    return rules;
}

}  // namespace prismopt
