#include "io/export/megatron_plan.hpp"

#include "model/workload/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

bool pipelined(const ParallelPlan& plan) { return plan.pp > 1; }

/// "ttt" as "t*3".
std::string repeated(char letter, int count)
{
    return count == 0 ? "" : count == 1 ? std::string(1, letter) : fmt::format("{}*{}", letter, count);
}

/// Replicas of an expert. A dense network's are split as its layers are (expert-tensor-parallel-size is tp where it is not given).
int expert_replicas(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    return launch.workload.mixture() ? plan.gpus() / (plan.etp * plan.ep * plan.pp) : plan.dp * plan.cp;
}

}  // namespace

bool replicas_outermost(const ParallelPlan& plan)
{
    return plan.order == PlacementOrder::tp_pp_dp && pipelined(plan) && plan.dp > 1;
}

Refusals megatron_refusals(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    Refusals why;
    const bool runs = plan.schedule == Schedule::one_f_one_b || plan.schedule == Schedule::interleaved;
    if (pipelined(plan) && !runs) {
        why.push_back(
            fmt::format("it has no pipeline schedule {}: 1F1B and interleaved 1F1B are all; search schedule = [\"1f1b\", "
                        "\"interleaved\"]",
                        name(plan.schedule)));
    }
    if (plan.post_validation == PostValidation::on) {
        why.emplace_back("its optimizer waits for the norm of all gradients; search post_validation = [\"off\"]");
    }
    if (plan.offload == Offload::activations) {
        why.emplace_back("its offload of activations does not run in a pipeline; search offload = [\"none\", \"optimizer\"]");
    }
    if (plan.node_order != NodeOrder::as_listed) {
        why.push_back(
            fmt::format("node_order {} places nodes by their number in the scenario, which no argument names; search "
                        "node_order = [\"{}\"]",
                        name(plan.node_order), name(NodeOrder::as_listed)));
    }
    // initialize_model_parallel in megatron/core/parallel_state.py: "When not using pp-last rank ordering, the data parallel size of
    // the attention and moe layers must be the same".
    if (replicas_outermost(plan) && expert_replicas(launch) != plan.dp) {
        why.push_back(fmt::format(
            "it puts replicas outermost (use-tp-pp-dp-mapping) only where experts have as many replicas as attention, "
            "{}, and with this context and expert parallelism they have {}; search order = [\"tp-dp-pp\"]",
            plan.dp, expert_replicas(launch)));
    }
    if (plan.tp_overlap == TensorParallelOverlap::on && !plan.sequence_parallel) {
        why.emplace_back("tp_overlap needs sequence parallelism");
    }
    const bool sharded_further = plan.sharding == Sharding::zero2 || plan.sharding == Sharding::zero3;
    if (sharded_further && plan.shard_gpus > 0 && plan.shard_gpus < plan.gradient_gpus()) {
        why.push_back(fmt::format("hybrid sharding over {} GPUs is exported for zero1 only", plan.shard_gpus));
    }
    if (plan.recompute == Recompute::full && recomputed_per_chunk(launch) < 0) {
        why.push_back(
            fmt::format("it recomputes whole layers of each of the {} chunks, and {} layers do not divide among them; "
                        "search recomputed_layers that do",
                        plan.pp * plan.chunks, plan.recomputed_layers));
    }
    const Precision precision = launch.workload.precision;
    if (precision == Precision::fp32 || precision == Precision::tf32) {
        why.emplace_back("only bf16, fp8 and nvfp4 are exported");
    }
    return why;
}

MegatronLayers megatron_layers(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    const auto laid_out = layout(launch.workload.layers, plan);
    const auto& chunks = std::get<std::vector<Chunk>>(laid_out);  // a plan that was searched has a layout
    const bool slots = plan.split == LayerSplit::slots;
    const auto parts = static_cast<int>(chunks.size());
    if ((launch.workload.layers + (slots ? 2 : 0)) % parts == 0) {
        return {slots && parts > 1, ""};
    }
    MegatronLayers layers;
    for (const Chunk& chunk : chunks) {  // in the order of the network: the first chunk of each stage, then the second ones
        layers.layout += fmt::format("{}{}{}{}", layers.layout.empty() ? "" : "|", chunk.embedding ? "E" : "",
                                     repeated('t', chunk.layers), chunk.head ? "L" : "");
    }
    return layers;
}

int recomputed_per_chunk(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    if (plan.recomputed_layers == 0) {
        return 0;
    }
    const int chunks = plan.pp * plan.chunks;
    return plan.recomputed_layers % chunks == 0 ? plan.recomputed_layers / chunks : -1;
}

}  // namespace prismopt
