#include "io/authoring/jobs/job_scenario.hpp"

#include "io/authoring/starter_scenario.hpp"
#include "io/scenario/files/own_catalog.hpp"
#include "io/scenario/files/written_out.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/toml.hpp"
#include "model/plan/plan_axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

namespace prismopt {

namespace {

/// A value of an axis as a scenario writes it.
template <class T>
std::string axis_value(const T& value)
{
    if constexpr (std::is_enum_v<T>) {
        return fmt::format("\"{}\"", name(value));
    } else if constexpr (std::is_same_v<T, ModuleSet>) {
        std::vector<std::string> names;
        for (const auto& module : names_of<Module>) {
            if (value.has(module.value)) {
                names.push_back(fmt::format("\"{}\"", module.name));
            }
        }
        return fmt::format("[{}]", fmt::join(names, ", "));
    } else if constexpr (std::is_same_v<T, Seconds>) {
        return fmt::format("\"{} s\"", value.si);
    } else {
        return fmt::format("{}", value);
    }
}

/// Whether a list may state the value: some defaults have no name.
template <class T>
bool has_text(const T& value, int low)
{
    if constexpr (std::is_same_v<T, int>) {
        return value >= low;
    } else if constexpr (std::is_same_v<T, Seconds>) {
        return value.si > 0.0;
    } else {
        return true;
    }
}

/// Lines of [workload] with what differs from the network as it is without the job.
std::vector<std::string> workload_keys(const Workload& w, const Workload& without)
{
    std::vector<std::string> lines;
    const auto add = [&lines](bool differs, const char* key, const std::string& value) {
        if (differs) {
            lines.push_back(fmt::format("{} = {}", key, value));
        }
    };
    add(w.precision != without.precision, "precision", axis_value(w.precision));
    add(w.dropout != without.dropout, "dropout", w.dropout ? "true" : "false");
    add(w.loss != without.loss, "loss", axis_value(w.loss));
    add(w.method != without.method, "method", axis_value(w.method));
    add(w.adapter_rank != without.adapter_rank, "adapter_rank", std::to_string(w.adapter_rank));
    add(w.adapter_targets != without.adapter_targets, "adapter_targets", axis_value(w.adapter_targets));
    add(w.frozen_storage != without.frozen_storage, "frozen_storage", axis_value(w.frozen_storage));
    std::vector<std::string> optimizer;
    const OptimizerSettings& o = w.optimizer;
    const OptimizerSettings& usual = without.optimizer;
    const auto set = [&optimizer](bool differs, const char* key, const std::string& value) {
        if (differs) {
            optimizer.push_back(fmt::format("{} = {}", key, value));
        }
    };
    set(o.kind != usual.kind, "kind", axis_value(o.kind));
    set(o.states != usual.states, "states", axis_value(o.states));
    set(o.master != usual.master, "master", axis_value(o.master));
    set(o.gradients != usual.gradients, "gradients", axis_value(o.gradients));
    set(o.reduction && o.reduction != usual.reduction, "reduction",
        axis_value(o.reduction.value_or(NumberType::fp32)));
    set(o.fused != usual.fused, "fused", "true");
    set(o.paged != usual.paged, "paged", "true");
    set(o.in_backward != usual.in_backward, "in_backward", "true");
    add(!optimizer.empty(), "optimizer", fmt::format("{{ {} }}", fmt::join(optimizer, ", ")));
    return lines;
}

/// The starter with each value of the plan in its list.
std::string with_plan(std::string text, const std::string& path, const ImportedJob& job)
{
    const Scenario starter = parse_scenario(with_catalog_files(text, path, {}).text, path);
    const auto set = [&](std::string_view axis, const std::vector<std::string>& values) {
        text = with_value(text, path, fmt::format("space.{}", axis),
                          fmt::format("[{}]", fmt::join(values, ", ")));
    };
    const SpaceSettings& space = starter.space;
    if (std::find(space.gpus.begin(), space.gpus.end(), job.gpus) == space.gpus.end()) {
        std::vector<std::string> values;
        for (const int gpus : space.gpus) {
            values.push_back(std::to_string(gpus));
        }
        values.push_back(std::to_string(job.gpus));
        set("gpus", values);
    }
    for_each_axis([&](const auto& axis) {
        const auto& listed = space.*(axis.values);
        const auto& own = job.plan.*(axis.choice);
        if (std::find(listed.begin(), listed.end(), own) != listed.end() || !has_text(own, axis.low)) {
            return;
        }
        std::vector<std::string> values;
        for (const auto& value : listed) {
            if (has_text(value, axis.low)) {
                values.push_back(axis_value(value));
            }
        }
        values.push_back(axis_value(own));
        set(axis.name, values);
    });
    if (!job.layout.empty()) {
        set("layout", {toml_string(job.layout)});
    }
    const Workload& w = job.network.workload;
    if (w.wide.first + w.wide.last > 0) {
        set("precision",
            {fmt::format("{{ name = \"as-trained\", precision = {}, bf16_first = {}, bf16_last = {} }}",
                         axis_value(w.precision), w.wide.first, w.wide.last)});
        text = with_value(text, path, "numerics.accept_numerics", "true");
    }
    return text;
}

}  // namespace

std::string job_scenario(const ImportedJob& job, const ImportRequest& request, const Catalog& catalog,
                         const std::string& trainer)
{
    StarterChoice choice;
    choice.name = request.name;
    const Workload& w = job.network.workload;
    const Workload without = job.model.empty() ? Workload{} : catalog_workload(job.model, catalog);
    const std::vector<std::string> keys = workload_keys(w, without);
    if (job.model.empty()) {
        choice.imported = job.network;
        choice.imported->keys = keys;
    } else {
        choice.workload = job.model;
        choice.workload_keys = keys;
    }
    choice.instance = request.instance;
    choice.accelerator = job.accelerator;
    choice.node_gpus = job.node_gpus;
    choice.network = job.node_network;
    choice.one_port = job.one_port;
    choice.software = job.software;
    choice.trainer = trainer;
    choice.gpus = job.gpus;
    choice.sequence = job.sequence;
    choice.global_batch = job.global_batch;
    choice.tokens = 1.0;  // not written
    choice.amount = job.steps > 0.0
                        ? fmt::format("steps = {:.0f}", job.steps)
                        : fmt::format("steps = {:.0f}   # assumed: no file states it", assumed_steps);
    std::string text = starter_scenario(choice, catalog);
    const std::string by = "Written by prismopt init";
    if (const std::size_t at = text.find(by); at != std::string::npos) {
        text.replace(at, by.size(), "Written by prismopt import");
    }
    return with_plan(std::move(text), request.name + ".toml", job);
}

}  // namespace prismopt
