#include "io/export/launch.hpp"
#include "io/export/target_names.hpp"
#include "io/orders_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>

namespace prismopt {

namespace {

/// PyTorch's own schedules; the others run from a table of actions.
std::string own_schedule(const ParallelPlan& plan)
{
    switch (plan.schedule) {
        case Schedule::gpipe: return "GPipe";
        case Schedule::one_f_one_b: return "1F1B";
        case Schedule::interleaved: return plan.group == 0 || plan.group == plan.pp ? "Interleaved1F1B" : "";
        case Schedule::zb_v: return "ZBVZeroBubble";
        case Schedule::dualpipe_v: return "DualPipeV";
        default: return "";
    }
}

/// A string of TOML; those of JSON are.
std::string quoted(const std::string& text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

int stages(const ParallelPlan& plan) { return plan.pp * plan.chunks; }

/// Layers of a stage, where embedding and loss head count as `ends` each; 0: they do not divide.
int layers_per_stage(const Launch& launch)
{
    const int ends = launch.plan.split == LayerSplit::slots ? 2 : 0;
    const int units = launch.workload.layers + ends;
    return units % stages(launch.plan) == 0 ? units / stages(launch.plan) : 0;
}

Refusals refusals(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    Refusals why;
    const bool pipelined = plan.pp > 1;
    if (pipelined && (plan.schedule == Schedule::v_half || plan.schedule == Schedule::v_min)) {
        why.push_back(
            fmt::format("a table of actions puts stages round the ranks, and {} needs them in a V; search other schedules",
                        name(plan.schedule)));
    }
    if (plan.schedule == Schedule::dualpipe) {
        why.emplace_back("it trains one copy of the network in a pipeline, DualPipe two; search dualpipe_v instead");
    }
    if (plan.post_validation == PostValidation::on) {
        why.emplace_back("its optimizer waits for the norm of all gradients; search post_validation = [\"off\"]");
    }
    if (plan.sharding == Sharding::zero1 && plan.gradient_gpus() > 1) {
        why.push_back(fmt::format("it shards parameters and gradients (FSDP) or nothing; search sharding = [{}]",
                                  pipelined ? R"("none")" : R"("none", "zero2", "zero3")"));
    }
    // backward_maybe_with_nosync in torch/distributed/pipelining/stage.py sets set_requires_gradient_sync(False) and
    // set_reshard_after_backward(False) until the last microbatch of a stage: gradients are summed whole, parameters stay gathered.
    const bool sharded = plan.sharding == Sharding::zero2 || plan.sharding == Sharding::zero3;
    if (sharded && pipelined && plan.sharding_gpus() > 1) {
        why.push_back(
            fmt::format("in its pipelines a GPU holds whole gradients, and gathered parameters, from the first microbatch to the "
                        "last: more memory than sharding {} was judged with; search sharding = [\"none\"], or pp = [1]",
                        name(plan.sharding)));
    }
    if (plan.sharding == Sharding::none && plan.cp > 1) {
        why.push_back(fmt::format("with context parallelism it always shards; search {}",
                                  pipelined ? "cp = [1], or pp = [1] with sharding = [\"zero2\", \"zero3\"]"
                                            : "sharding = [\"zero2\", \"zero3\"]"));
    }
    if (plan.order == PlacementOrder::tp_pp_dp && pipelined && plan.dp > 1) {
        why.emplace_back("its device mesh has pipeline stages outermost; search order = [\"tp-dp-pp\"]");
    }
    if (plan.crossing != Crossing::by_order || plan.node_order != NodeOrder::as_listed) {
        why.emplace_back("its device mesh takes GPUs as they are numbered; search without crossing and node_order");
    }
    if (plan.offload != Offload::none) {
        why.emplace_back("its offload keeps parameters and gradients in the host as well; search offload = [\"none\"]");
    }
    if (plan.ep > 1 && plan.etp != 1) {
        why.emplace_back("it has no tensor parallelism of experts beside expert parallelism; search etp = [1]");
    }
    if (plan.recomputed_layers > 0) {
        why.emplace_back("it recomputes all layers or none in full; search recomputed_layers = [0]");
    }
    if (pipelined && layers_per_stage(launch) == 0) {
        why.push_back(fmt::format("{} layers do not divide evenly among {} stages; search pp, v or split that do",
                                  launch.workload.layers, stages(plan)));
    }
    if (plan.shard_gpus > 0 && plan.shard_gpus % plan.cp != 0) {
        why.emplace_back("a context parallel group lies within one sharding group");
    }
    return why;
}

void set_data_parallelism(const ParallelPlan& plan, Settings& s)
{
    const bool sharded = plan.sharding != Sharding::none;
    const int shard = sharded ? plan.sharding_gpus() / plan.cp : 1;
    s.set("parallelism.data_parallel_replicate_degree", plan.dp / shard);
    s.set("parallelism.data_parallel_shard_degree", shard);
    if (sharded) {
        s.set("parallelism.fsdp_reshard_after_forward", plan.sharding == Sharding::zero3 ? "\"always\"" : "\"never\"");
    }
}

void set_pipeline(const Launch& launch, const std::string& csv, Settings& s)
{
    const ParallelPlan& plan = launch.plan;
    s.set("parallelism.pipeline_parallel_degree", plan.pp);
    if (plan.pp == 1) {
        return;
    }
    const std::string own = own_schedule(plan);
    s.set("parallelism.pipeline_parallel_schedule", own.empty() ? "\"PipelineScheduleMulti\"" : fmt::format("\"{}\"", own));
    if (own.empty()) {
        s.set("parallelism.pipeline_parallel_schedule_csv", quoted(csv));
    }
    s.set("parallelism.pipeline_parallel_microbatch_size", plan.microbatch);
    const int less = plan.split == LayerSplit::slots ? 1 : 0;
    s.set("parallelism.pipeline_parallel_layers_per_stage", layers_per_stage(launch));
    s.set("parallelism.pipeline_parallel_first_stage_less_layers", less);
    s.set("parallelism.pipeline_parallel_last_stage_less_layers", less);
}

/// "[table]" lines before the settings of each.
std::string toml(const Settings& settings)
{
    std::map<std::string, std::string> tables;
    for (const auto& [name, value] : settings.all()) {
        const std::size_t dot = name.find('.');
        tables[name.substr(0, dot)] += fmt::format("{} = {}\n", name.substr(dot + 1), value);
    }
    std::string text;
    for (const auto& [table, lines] : tables) {
        text += fmt::format("\n[{}]\n{}", table, lines);
    }
    return text;
}

}  // namespace

Exported torchtitan_config(const Launch& launch)
{
    if (Refusals why = refusals(launch); !why.empty()) {
        return why;
    }
    const std::string csv = launch.stem + ".schedule.csv";
    const ParallelPlan& plan = launch.plan;
    const TargetNames& names = torchtitan_names();
    Settings s(names);
    set_data_parallelism(plan, s);
    s.set("parallelism.tensor_parallel_degree", plan.tp);
    if (plan.tp_overlap == TensorParallelOverlap::on) {
        s.set("parallelism.enable_async_tensor_parallel", "true");
        s.set("training.compile", "true");
    }
    set_pipeline(launch, csv, s);
    s.set("parallelism.context_parallel_degree", plan.cp);
    if (plan.cp > 1) {
        s.set("parallelism.context_parallel_rotate_method",
              plan.context_exchange == ContextExchange::ring ? "\"alltoall\"" : "\"allgather\"");
    }
    if (launch.workload.mixture()) {
        s.set("parallelism.expert_parallel_degree", plan.ep);
    }
    s.set("training.local_batch_size", launch.phase.global_batch / plan.dp);
    s.set("training.global_batch_size", launch.phase.global_batch);
    s.set("training.seq_len", launch.phase.sequence);
    s.set("training.steps", std::lround(launch.phase.steps()));
    if (const long steps = steps_between_checkpoints(launch); steps > 0) {
        s.set("checkpoint.enable_checkpoint", "true");
        s.set("checkpoint.interval", steps);
    }
    s.set("activation_checkpoint.mode", fmt::format("\"{}\"", name(plan.recompute)));
    if (plan.recompute == Recompute::selective) {
        s.set("activation_checkpoint.selective_ac_option", "\"op\"");
    }
    std::string text = stamp(launch, names.version, names.source);
    text += fmt::format("# For {} processes, one a GPU. [model], data and optimizer are yours to add: {}, {} layers.\n",
                        plan.gpus(), launch.workload.name, launch.workload.layers);
    std::vector<ExportFile> files{{"", text + toml(s)}};
    if (plan.pp > 1 && own_schedule(plan).empty()) {
        files.push_back({csv, orders_csv(launch.orders)});
    }
    return files;
}

}  // namespace prismopt
