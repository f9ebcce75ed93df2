#include "io/export/launch.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/percent.hpp"
#include "io/results/results.hpp"
#include "io/scenario/files/orders_file.hpp"
#include "io/scenario/layout_text.hpp"
#include "io/scenario/variants.hpp"
#include "model/plan/node_order.hpp"
#include "model/plan/plan_axes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace prismopt {

namespace {

/// Known nodes of the scenario that the job does not have, in order.
std::vector<int> nodes_outside(const std::vector<int>& in_job, const Cluster& cluster)
{
    std::vector<bool> taken(static_cast<std::size_t>(cluster.nodes()), false);
    for (const int node : in_job) {
        taken[static_cast<std::size_t>(node)] = true;
    }
    std::vector<int> others;
    for (int node = 0; node < cluster.nodes(); ++node) {
        if (!taken[static_cast<std::size_t>(node)]) {
            others.push_back(node);
        }
    }
    return others;
}

/// "0-2,4", as Slurm and people write lists; `nodes` ascend.
std::string ranges(const std::vector<int>& nodes)
{
    std::string text;
    for (std::size_t first = 0; first < nodes.size();) {
        std::size_t last = first;
        while (last + 1 < nodes.size() && nodes[last + 1] == nodes[last] + 1) {
            ++last;
        }
        text += fmt::format("{}{}", text.empty() ? "" : ",", nodes[first]);
        text += last > first ? fmt::format("-{}", nodes[last]) : "";
        first = last + 1;
    }
    return text;
}

/// The slowest of these nodes, in words.
std::string slowest(const std::vector<int>& nodes, const std::vector<double>& factors)
{
    const int node =
        *std::max_element(nodes.begin(), nodes.end(), [&](int a, int b) { return factors[a] < factors[b]; });
    if (factors[static_cast<std::size_t>(node)] == Cluster::drawn_node) {
        return "speeds unknown";
    }
    return fmt::format("the slowest, {}, takes {:.4g} times as long", node,
                       factors[static_cast<std::size_t>(node)]);
}

/// Of which hardware the plan is, where a scenario has a choice.
std::string variant_line(const Launch& launch)
{
    if (launch.choices.empty()) {
        return "";
    }
    return fmt::format("# Predicted for this variant of hardware and network: {}\n",
                       one_line(variant_text(launch.choices, launch.chosen)));
}

/// Nodes beside the job's that were held ready for it; 0 also where none was ever missing.
int spare_nodes(const Launch& launch) { return std::max(0, launch.plan.spares); }

std::string spares_line(const Launch& launch)
{
    const int spares = spare_nodes(launch);
    return spares == 0 ? ""
                       : fmt::format(
                             "# Predicted times and costs include {} spare node{} ({} GPUs) that replace "
                             "failed ones; the job "
                             "below does not contain them\n",
                             spares, spares == 1 ? "" : "s", spares * launch.job.cluster.gpus_per_node());
}

/// [choice]: its value, SI; null where there is no choice.
nlohmann::json variant_json(const Launch& launch)
{
    nlohmann::json json;
    for (std::size_t k = 0; k < launch.choices.size(); ++k) {
        const StudyChoice& choice = launch.choices[k];
        const std::string text = value_text(choice, launch.chosen[k]);
        nlohmann::json value = text.substr(choice.name.size() + 1);
        if (const auto* level = std::get_if<HardwareLevel>(&launch.chosen[k])) {
            value = level->si;
        } else if (const auto* batch = std::get_if<GlobalBatch>(&launch.chosen[k])) {
            value = batch->sequences;
        }
        json.push_back({{"name", choice.name},
                        {"value", value},
                        {"units", choice.hardware ? parameter_units(choice.hardware->target) : "1"},
                        {"text", text}});
    }
    return json;
}

/// Which known nodes the predicted times are of.
std::string nodes_text(const Launch& launch)
{
    if (!launch.job.cluster.nodes_listed()) {
        return "";
    }
    const std::vector<double>& factors = launch.job.cluster.node_factors;
    std::vector<int> in_job = nodes_in_order(launch.plan, launch.job.cluster);
    std::sort(in_job.begin(), in_job.end());
    const std::vector<int> others = nodes_outside(in_job, launch.job.cluster);
    std::string text = fmt::format(
        "# Predicted times are for known nodes, numbered as in the scenario.\n#   In the job, in this order: "
        "nodes {} ({}).\n",
        ranges(in_job), slowest(in_job, factors));
    if (!others.empty()) {
        text += fmt::format("#   Not in the job: nodes {} ({}).\n", ranges(others), slowest(others, factors));
    }
    return text;
}

/// [place]: its node, and the nodes that stay out; null where no node is known.
nlohmann::json nodes_json(const Launch& launch)
{
    if (!launch.job.cluster.nodes_listed()) {
        return {};
    }
    const std::vector<int> in_job = nodes_in_order(launch.plan, launch.job.cluster);
    return {{"in_job", in_job}, {"left_out", nodes_outside(in_job, launch.job.cluster)}};
}

}  // namespace

const std::vector<ExportTarget>& export_targets()
{
    static const std::vector<ExportTarget> targets{
        {"megatron", "arguments for Megatron-LM's pretrain_gpt.py", ".args", megatron_arguments},
        {"bridge", "overrides for a recipe of NeMo's Megatron-Bridge", ".overrides", bridge_overrides},
        {"torchtitan",
         "torchtitan configuration (TOML); schedules that PyTorch does not provide are exported as a table",
         ".toml", torchtitan_config},
        {"torchtitan-recipe", "torchtitan configuration function (Python), for versions without TOML", ".py",
         torchtitan_recipe},
        {"slurm", "job script, with the node, stage and replica of each rank", ".sbatch", slurm_script},
        {"json", "the plan, its task order and its workload as one JSON object", ".json", launch_json},
    };
    return targets;
}

long steps_to_the_end(const Launch& launch)
{
    long steps = std::lround(launch.phase.steps());
    for (const Phase& phase : launch.before) {
        steps += std::lround(phase.steps());
    }
    return steps;
}

long steps_between_checkpoints(const Launch& launch)
{
    return launch.step_s > 0.0 && launch.checkpoint_interval_s > 0.0
               ? std::max(1L, std::lround(launch.checkpoint_interval_s / launch.step_s))
               : 0;
}

std::string one_line(const std::string& text) { return escape_controls(text); }

std::string stamp(const Launch& launch, const std::string& version, const std::string& source)
{
    const char* provisional =
        "# PROVISIONAL: the search was stopped before it confirmed its front; prismopt resume continues it\n";
    const std::string phase = launch.phases > 1 ? fmt::format(
                                                      "# Phase {} of {}; phases are launched one after the "
                                                      "other, and --phase K exports another\n",
                                                      launch.phase_number, launch.phases)
                                                : "";
    const std::string doubt =
        launch.fit_probability < launch.job.memory_limit.probability
            ? fmt::format("# MAY NOT FIT: it fits into memory with a probability of {}\n",
                          chance_text(launch.fit_probability))
            : "";
    const std::string point = launch.point.empty() ? "" : fmt::format(", point {}", one_line(launch.point));
    return fmt::format("# Study {}{}: {}\n{}{}{}{}{}{}# For {}\n#   {}\n# Written by {}\n{}",
                       one_line(launch.study), point, one_line(launch.design), variant_line(launch),
                       spares_line(launch),
                       launch.price.empty() ? "" : fmt::format("# Costs are at {}\n", one_line(launch.price)),
                       phase, launch.provisional ? provisional : "", doubt, version, source, launch.program,
                       nodes_text(launch));
}

namespace {

nlohmann::json value_json(int value)
{
    return value == as_configured ? nlohmann::json() : nlohmann::json(value);
}
nlohmann::json value_json(Seconds value)
{
    return value.si > 0.0 ? nlohmann::json(fmt::format("{:.9g} s", value.si)) : nlohmann::json();
}
nlohmann::json value_json(const ModuleSet& value)
{
    return value.empty() ? nlohmann::json() : nlohmann::json(text_of(value));
}
template <Nameable Enum>
nlohmann::json value_json(Enum value)
{
    return name(value);
}

/// Every axis of the space by its name, null where the scenario decides, and what follows from them.
nlohmann::json plan_json(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    nlohmann::json json{{"dp", plan.dp},
                        {"layout", layout_text(launch.chunks, launch.job.workload.predictions)}};
    for_each_axis([&](const auto& axis) { json[std::string(axis.name)] = value_json(plan.*(axis.choice)); });
    json["shard_gpus"] = plan.sharding_gpus();  // all where the plan has 0
    return json;
}

}  // namespace

Exported launch_json(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    const Workload& w = launch.job.workload;
    nlohmann::json json{
        {"study", launch.study},
        {"point", launch.point.empty() ? nlohmann::json() : nlohmann::json(launch.point)},
        {"design", launch.design},
        {"program", launch.program},
        {"provisional", launch.provisional},
        {"fit_probability", launch.fit_probability},
        {"gpus", plan.gpus()},
        {"spare_gpus", spare_nodes(launch) * launch.job.cluster.gpus_per_node()},
        {"plan", plan_json(launch)},
        {"phase",
         {{"tokens", launch.phase.tokens},
          {"number", launch.phase_number},
          {"of", launch.phases},
          {"sequence_length", launch.phase.sequence},
          {"global_batch", launch.phase.global_batch}}},
        {"workload",
         {{"name", w.name}, {"layers", w.layers()}, {"hidden", w.hidden}, {"vocabulary", w.vocabulary}}},
        {"cluster",
         {{"name", launch.job.cluster.name}, {"gpus_per_node", launch.job.cluster.gpus_per_node()}}},
        {"variant", variant_json(launch)},
        {"gpu_price", launch.price},
        {"nodes", nodes_json(launch)},
        {"quantiles_of", quantiles_of(launch.job.cluster.nodes_known())},
        {"step_time_p50_s", launch.step_s > 0.0 ? nlohmann::json(launch.step_s) : nlohmann::json()},
        {"checkpoint_interval_s", launch.checkpoint_interval_s > 0.0
                                      ? nlohmann::json(launch.checkpoint_interval_s)
                                      : nlohmann::json()},
        {"order_of_tasks", nlohmann::json::array()}};
    std::istringstream stages(orders_csv(launch.orders));
    for (std::string tasks; std::getline(stages, tasks);) {
        json["order_of_tasks"].push_back(tasks);
    }
    return std::vector<ExportFile>{{"", json.dump(1) + "\n"}};
}

}  // namespace prismopt
