#include "io/export/launch.hpp"
#include "io/export/target_names.hpp"
#include "io/scenario/files/orders_file.hpp"
#include "io/trainers/torchtitan_schedules.hpp"
#include "model/plan/layout.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace prismopt {

namespace {

/// PyTorch's own schedules; the others run from a table of actions.
std::string own_schedule(const ParallelPlan& plan)
{
    const bool usual_groups = plan.group == 0 || plan.group == plan.pp;
    return usual_groups ? std::string(torch_schedule(plan.schedule)) : "";
}

/// A string of TOML; those of JSON are.
std::string quoted(const std::string& text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool pipelined(const ParallelPlan& plan) { return plan.pp > 1; }

/// Layers of a stage, and how many fewer the first and the last have: the rest are equal.
struct StageLayers {
    int each = 0;
    int first_less = 0;
    int last_less = 0;
};

/// Nothing where layers differ otherwise.
std::optional<StageLayers> stage_layers(const std::vector<Chunk>& chunks)
{
    const auto fewer = [](const Chunk& a, const Chunk& b) { return a.layers < b.layers; };
    const int most = std::max_element(chunks.begin(), chunks.end(), fewer)->layers;
    for (std::size_t c = 1; c + 1 < chunks.size(); ++c) {
        if (chunks[c].layers != most) {
            return std::nullopt;
        }
    }
    return StageLayers{most, most - chunks.front().layers, most - chunks.back().layers};
}

/// [["tok_embeddings", "layers.0"], ["layers.1", "norm", "output"]], in TOML as in Python. `head`: the name
/// of the projection to the vocabulary.
std::string modules_of_chunks(const std::vector<Chunk>& chunks, std::string_view head)
{
    std::string lists;
    for (const Chunk& chunk : chunks) {
        std::string modules = chunk.embedding ? "\"tok_embeddings\"" : "";
        const auto add = [&modules](const std::string& module) {
            modules += fmt::format("{}\"{}\"", modules.empty() ? "" : ", ", module);
        };
        for (int layer = chunk.first_layer; layer < chunk.first_layer + chunk.layers; ++layer) {
            add(fmt::format("layers.{}", layer));
        }
        if (chunk.head) {
            add("norm");
            add(std::string(head));
        }
        lists += fmt::format("{}[{}]", lists.empty() ? "" : ", ", modules);
    }
    return fmt::format("[{}]", lists);
}

/// Layers of the model parts: by their number where that says it, else by the names of the modules.
/// `modules`: the name of that setting.
void set_layers(const std::vector<Chunk>& chunks, const std::string& modules, std::string_view head,
                Settings& s)
{
    if (const auto layers = stage_layers(chunks)) {
        s.set("parallelism.pipeline_parallel_layers_per_stage", layers->each);
        s.set("parallelism.pipeline_parallel_first_stage_less_layers", layers->first_less);
        s.set("parallelism.pipeline_parallel_last_stage_less_layers", layers->last_less);
    } else {
        s.set(modules, modules_of_chunks(chunks, head));
    }
}

void set_data_parallel_degrees(const ParallelPlan& plan, Settings& s)
{
    const bool sharded = plan.sharding != Sharding::none;
    const int shard = sharded ? plan.sharding_gpus() / plan.cp : 1;
    s.set("parallelism.data_parallel_replicate_degree", plan.dp / shard);
    s.set("parallelism.data_parallel_shard_degree", shard);
    if (sharded) {
        s.set("parallelism.fsdp_reshard_after_forward",
              plan.sharding == Sharding::zero3 ? "\"always\"" : "\"never\"");
    }
}

/// The pipeline schedule, by its name in PyTorch or as a table in the file `csv`.
void set_schedule(const ParallelPlan& plan, const std::string& csv, Settings& s)
{
    const std::string own = own_schedule(plan);
    s.set("parallelism.pipeline_parallel_schedule", quoted(own.empty() ? "PipelineScheduleMulti" : own));
    if (own.empty()) {
        s.set("parallelism.pipeline_parallel_schedule_csv", quoted(csv));
    }
}

void set_torchtitan_pipeline(const Launch& launch, const std::string& csv, Settings& s)
{
    const ParallelPlan& plan = launch.plan;
    s.set("parallelism.pipeline_parallel_degree", plan.pp);
    if (plan.pp == 1) {
        return;
    }
    set_schedule(plan, csv, s);
    s.set("parallelism.pipeline_parallel_microbatch_size", plan.microbatch);
    set_layers(launch.chunks, "parallelism.module_fqns_per_model_part", "output", s);
}

/// Whether its modules run through torch.compile, which asynchronous tensor parallelism needs.
bool compiles(const Launch& launch)
{
    const Software& software = launch.job.cluster.software;
    return (software.name == "torchtitan" && software.release == "compile") ||
           launch.plan.tp_overlap == TensorParallelOverlap::on;
}

/// Steps go on from those in the checkpoint.
std::string later_phase(const Launch& launch)
{
    return launch.before.empty()
               ? ""
               : fmt::format(
                     "# Continues from the checkpoint of phase {}: steps count from the start of the run.\n",
                     launch.phase_number - 1);
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
    if (Refusals why = cannot_run("torchtitan", trained(launch)); !why.empty()) {
        return why;
    }
    const std::string csv = launch.stem + ".schedule.csv";
    const ParallelPlan& plan = launch.plan;
    const TargetNames& names = torchtitan_names();
    Settings s(names);
    set_data_parallel_degrees(plan, s);
    s.set("parallelism.tensor_parallel_degree", plan.tp);
    if (plan.tp_overlap == TensorParallelOverlap::on) {
        s.set("parallelism.enable_async_tensor_parallel", "true");
    }
    if (compiles(launch)) {
        s.set("training.compile", "true");
    }
    set_torchtitan_pipeline(launch, csv, s);
    s.set("parallelism.context_parallel_degree", plan.cp);
    if (plan.cp > 1) {
        s.set("parallelism.context_parallel_rotate_method",
              plan.context_exchange == ContextExchange::ring ? "\"alltoall\"" : "\"allgather\"");
    }
    if (launch.job.workload.is_moe()) {
        s.set("parallelism.expert_parallel_degree", plan.ep);
    }
    // Microbatches are those of the pipeline's schedule, or passes whose gradients are added up.
    s.set("training.local_batch_size",
          pipelined(plan) ? launch.phase.global_batch / plan.dp : plan.microbatch);
    s.set("training.global_batch_size", launch.phase.global_batch);
    s.set("training.seq_len", launch.phase.sequence);
    s.set("training.steps", steps_to_the_end(launch));
    if (const long steps = steps_between_checkpoints(launch); steps > 0) {
        s.set("checkpoint.enable_checkpoint", "true");
        s.set("checkpoint.interval", steps);
    }
    s.set("activation_checkpoint.mode", fmt::format("\"{}\"", name(plan.recompute)));
    if (plan.recompute == Recompute::selective) {
        s.set("activation_checkpoint.selective_ac_option", "\"op\"");
    }
    for (const char* missing :
         {"model.name", "model.flavor", "model.tokenizer_path", "training.dataset", "optimizer.lr"}) {
        s.set(missing, quoted(fill_in));
    }
    std::string text = stamp(launch, names.version, names.source);
    text += fmt::format(
        "# For {} processes, one per GPU. Replace {}: model ({}, {} layers), tokenizer, data, learning rate. "
        "To add: the rest of "
        "the optimizer, and [job].\n",
        plan.gpus(), fill_in, one_line(launch.job.workload.name), launch.job.workload.layers());
    text += later_phase(launch);
    std::vector<ExportFile> files{{"", text + toml(s)}};
    if (plan.pp > 1 && own_schedule(plan).empty()) {
        files.push_back({csv, orders_csv(launch.orders)});
    }
    return files;
}

namespace {

/// What models set up by transforms of their own configuration there, beyond what
/// the trainer cannot run at all.
Refusals recipe_refusals(const Launch& launch)
{
    Refusals why = cannot_run("torchtitan", trained(launch));
    if (launch.plan.cp > 1) {
        why.emplace_back(
            "context parallelism needs a transform of the model's attention; search cp = [1], or add the "
            "transform yourself");
    }
    if (launch.job.workload.is_moe() && launch.plan.ep > 1) {
        why.emplace_back(
            "expert parallelism needs a transform of the model's experts; search ep = [1], or add the "
            "transform yourself");
    }
    if (launch.plan.recompute == Recompute::selective) {
        why.emplace_back(
            "selective recomputation is a setting of the base configuration there; search recompute = "
            "[\"none\", \"full\"]");
    }
    if (launch.plan.tp > 1 && launch.plan.tp_overlap == TensorParallelOverlap::on) {
        why.emplace_back(
            "tensor-parallel overlap needs a transform of the model; search tp_overlap = [\"off\"]");
    }
    return why;
}

void set_recipe_pipeline(const Launch& launch, const std::string& csv, Settings& s)
{
    const ParallelPlan& plan = launch.plan;
    s.set("parallelism.pipeline_parallel_degree", plan.pp);
    if (!pipelined(plan)) {
        return;
    }
    set_schedule(plan, csv, s);
    s.set("parallelism.num_pp_microbatches", plan.microbatches(launch.phase.global_batch));
    set_layers(launch.chunks, "parallelism.pipeline_parallel_module_fqns_per_model_part", "lm_head", s);
}

}  // namespace

Exported torchtitan_recipe(const Launch& launch)
{
    if (Refusals why = recipe_refusals(launch); !why.empty()) {
        return why;
    }
    const std::string csv = launch.stem + ".schedule.csv";
    const ParallelPlan& plan = launch.plan;
    const TargetNames& names = torchtitan_recipe_names();
    Settings s(names);
    set_data_parallel_degrees(plan, s);
    s.set("parallelism.tensor_parallel_degree", plan.tp);
    s.set("parallelism.enable_sequence_parallel", plan.shares_tokens() ? "True" : "False");
    set_recipe_pipeline(launch, csv, s);
    const long sequence = launch.phase.sequence;
    s.set("training.max_context_length", sequence);
    s.set("training.num_tokens_per_microbatch_per_dp_rank", plan.microbatch * sequence);
    s.set("training.num_tokens_per_train_step", launch.phase.global_batch * sequence);
    s.set("training.steps", steps_to_the_end(launch));
    const bool recomputes = plan.recompute == Recompute::full;
    s.set("activation_checkpoint", recomputes ? "FullActivationRematConfig()" : "None");
    std::string text = stamp(launch, names.version, names.source);
    text += fmt::format(
        "# For {} processes, one per GPU. Replace {}: the module and function of a configuration of {} ({} "
        "layers), with its "
        "data, tokenizer, optimizer and learning rate.\n",
        plan.gpus(), fill_in, one_line(launch.job.workload.name), launch.job.workload.layers());
    if (const long steps = steps_between_checkpoints(launch); steps > 0) {
        text += fmt::format(
            "# Predicted with a checkpoint every {} steps, which the configuration must set.\n", steps);
    }
    text += later_phase(launch);
    text += "# usage, in a folder on Python's path: --module THIS_FILE (without .py) --config plan\n";
    text += recomputes
                ? "\nfrom torchtitan.distributed.activation_checkpoint import FullActivationRematConfig\n"
                : "";
    text += fmt::format(
        "\nfrom {0}_MODULE import {0}_FUNCTION as base\n\n\ndef plan():\n    config = base()\n", fill_in);
    for (const auto& [name, value] : s.all()) {
        text += fmt::format("    config.{} = {}\n", name, value);
    }
    text += "    return config\n";
    std::vector<ExportFile> files{{"", text}};
    if (pipelined(plan) && own_schedule(plan).empty()) {
        files.push_back({csv, orders_csv(launch.orders)});
    }
    return files;
}

}  // namespace prismopt
