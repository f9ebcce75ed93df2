#include "io/export/launch.hpp"

#include "io/orders_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace prismopt {

const std::vector<ExportTarget>& export_targets()
{
    static const std::vector<ExportTarget> targets{
        {"megatron", "arguments of Megatron-LM's pretrain_gpt.py", megatron_arguments},
        {"bridge", "overrides of a recipe of NeMo's Megatron-Bridge", bridge_overrides},
        {"torchtitan", "configuration of torchtitan (TOML), with the schedule as a table where PyTorch has no name for it",
         torchtitan_config},
        {"slurm", "job script, with the node, stage and replica of each rank", slurm_script},
        {"json", "the plan, its order of tasks and its workload as one JSON object", launch_json},
    };
    return targets;
}

std::string stamp(const Launch& launch, const std::string& version, const std::string& source)
{
    return fmt::format("# Study {}, point {}: {}\n# For {}\n#   {}\n# Written by {}\n", launch.study, launch.point, launch.design,
                       version, source, launch.program);
}

Exported launch_json(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    const Workload& w = launch.workload;
    nlohmann::json json{{"study", launch.study},
                        {"point", launch.point},
                        {"design", launch.design},
                        {"program", launch.program},
                        {"gpus", plan.gpus()},
                        {"plan",
                         {{"tp", plan.tp},
                          {"cp", plan.cp},
                          {"pp", plan.pp},
                          {"dp", plan.dp},
                          {"ep", plan.ep},
                          {"etp", plan.etp},
                          {"v", plan.chunks},
                          {"group", plan.group},
                          {"microbatch", plan.microbatch},
                          {"schedule", name(plan.schedule)},
                          {"recompute", name(plan.recompute)},
                          {"recomputed_layers", plan.recomputed_layers},
                          {"sharding", name(plan.sharding)},
                          {"shard_gpus", plan.sharding_gpus()},
                          {"split", name(plan.split)},
                          {"order", name(plan.order)},
                          {"crossing", name(plan.crossing)},
                          {"node_order", name(plan.node_order)},
                          {"dp_overlap", name(plan.dp_overlap)},
                          {"tp_overlap", name(plan.tp_overlap)},
                          {"context_exchange", name(plan.context_exchange)},
                          {"offload", name(plan.offload)},
                          {"post_validation", name(plan.post_validation)},
                          {"sequence_parallel", plan.sequence_parallel}}},
                        {"phase",
                         {{"tokens", launch.phase.tokens},
                          {"sequence_length", launch.phase.sequence},
                          {"global_batch", launch.phase.global_batch}}},
                        {"workload",
                         {{"name", w.name},
                          {"layers", w.layers},
                          {"hidden", w.hidden},
                          {"heads", w.heads},
                          {"kv_heads", w.kv_heads},
                          {"feed_forward", w.feed_forward},
                          {"vocabulary", w.vocabulary},
                          {"experts", w.experts.count},
                          {"active_experts", w.experts.active}}},
                        {"cluster", {{"name", launch.cluster.name}, {"gpus_per_node", launch.cluster.gpus_per_node()}}},
                        {"step_time_p50_s", launch.step_s > 0.0 ? nlohmann::json(launch.step_s) : nlohmann::json()},
                        {"checkpoint_interval_s",
                         launch.checkpoint_interval_s > 0.0 ? nlohmann::json(launch.checkpoint_interval_s) : nlohmann::json()},
                        {"order_of_tasks", nlohmann::json::array()}};
    std::istringstream stages(orders_csv(launch.orders));
    for (std::string tasks; std::getline(stages, tasks);) {
        json["order_of_tasks"].push_back(tasks);
    }
    return std::vector<ExportFile>{{"", json.dump(1) + "\n"}};
}

}  // namespace prismopt
