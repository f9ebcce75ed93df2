#include "io/report/breakdown_text.hpp"

#include "io/base/aligned.hpp"
#include "io/base/percent.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace prismopt {

using namespace literals;

namespace {

constexpr double gigabyte = (1_GB).si;
constexpr const char* variation_name = "variation of GPUs, steps, samples";

using Rows = std::vector<std::vector<std::string>>;

/// An amount with a name.
struct Amount {
    std::string name;
    double value = 0.0;
};

void add_amount(const std::string& name, double value, std::vector<Amount>& amounts)
{
    const auto known =
        std::find_if(amounts.begin(), amounts.end(), [&name](const Amount& a) { return a.name == name; });
    if (known == amounts.end()) {
        amounts.push_back({name, value});
    } else {
        known->value += value;
    }
}

double sum_of(const std::vector<Amount>& amounts)
{
    double sum = 0.0;
    for (const Amount& amount : amounts) {
        sum += amount.value;
    }
    return sum;
}

void sort_by_size(std::vector<Amount>& amounts)
{
    std::stable_sort(amounts.begin(), amounts.end(),
                     [](const Amount& a, const Amount& b) { return std::abs(a.value) > std::abs(b.value); });
}

/// Names with amounts of at least a fiftieth of all: "experts 1.31, attention 0.70".
std::string list_text(std::vector<Amount> amounts, double unit)
{
    constexpr double least_share = 0.02;
    const double all = sum_of(amounts);
    sort_by_size(amounts);
    std::erase_if(amounts, [all](const Amount& amount) {
        return amount.value <= least_share * all || amount.name.empty();
    });
    if (amounts.size() == 1) {
        return amounts.front().name;
    }
    std::vector<std::string> words;
    for (const Amount& amount : amounts) {
        words.push_back(fmt::format("{} {:.3g}", amount.name, amount.value / unit));
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

/// What a part of the step consists of: blocks, or for recompute classes of kernels; the kinds of
/// collectives, and what is hidden.
std::string made_of(StepComponent component, const StageBreakdown& stage, double unit)
{
    std::vector<Amount> kernels;
    std::vector<Amount> messages;
    double hidden_s = 0.0;
    for (const KernelTime& kernel : stage.kernels) {
        if (component == StepComponent::recompute) {
            add_amount(std::string(name(component_of(kernel.kind))), kernel.again_s, kernels);
        } else if (component_of(kernel.kind) == component) {
            add_amount(kernel.block, kernel.seconds - kernel.again_s, kernels);
        }
    }
    for (const MessageTime& message : stage.messages) {
        if (component_of(message.kind) == component) {
            hidden_s += message.hidden_s;
            const auto& kind = row_of(message.kind).kind;
            add_amount(kind ? std::string(name(*kind)) : "", message.exposed_s, messages);
        }
    }
    std::string text = list_text(kernels, unit);
    if (!messages.empty()) {
        text = list_text(messages, unit);
    }
    if (hidden_s > 0.0) {
        text += fmt::format("{}{:.3g} more are hidden", text.empty() ? "" : "; ", hidden_s / unit);
    }
    return text;
}

/// Parts of the busiest stage, and the variation.
std::vector<Amount> amounts_of(const PlanBreakdown& plan)
{
    std::vector<Amount> amounts;
    if (plan.stages.empty()) {
        return amounts;
    }
    const StageBreakdown& stage = plan.stages[busiest_stage(plan.stages)];
    const StepComponents components = step_components(stage);
    for (std::size_t i = 0; i < components.size(); ++i) {
        amounts.push_back({std::string(names_of<StepComponent>[i].name), components[i]});
    }
    amounts.push_back({variation_name, plan.mean_step_s - stage.step_s()});
    return amounts;
}

const StageBreakdown& fullest_stage(std::span<const StageBreakdown> stages)
{
    return *std::max_element(stages.begin(), stages.end(),
                             [](const StageBreakdown& a, const StageBreakdown& b) {
                                 return a.memory.total() < b.memory.total();
                             });
}

std::vector<Amount> memory_of(const PlanBreakdown& plan)
{
    std::vector<Amount> amounts;
    const MemoryUse& use = fullest_stage(plan.stages).memory;
    for (const NamedMemory& component : memory_components) {
        amounts.push_back({std::string(component.name), (use.*component.member).si});
    }
    return amounts;
}

std::vector<Amount> differences(const std::vector<Amount>& first, const std::vector<Amount>& second)
{
    std::vector<Amount> result;
    for (std::size_t i = 0; i < first.size(); ++i) {
        result.push_back({first[i].name, second[i].value - first[i].value});
    }
    sort_by_size(result);
    return result;
}

/// The amounts of a name in both lists, and their difference, as a row.
Rows difference_rows(const std::vector<Amount>& first, const std::vector<Amount>& second, double unit,
                     int digits)
{
    Rows rows;
    const auto value_of = [](const std::vector<Amount>& amounts, const std::string& name) {
        return std::find_if(amounts.begin(), amounts.end(),
                            [&name](const Amount& a) { return a.name == name; })
            ->value;
    };
    for (const Amount& difference : differences(first, second)) {
        const double a = value_of(first, difference.name);
        const double b = value_of(second, difference.name);
        constexpr double least_share = 5e-4;
        if (std::max(std::abs(a), std::abs(b)) > least_share * sum_of(first)) {
            rows.push_back({"  " + difference.name, fmt::format("{:.{}f}", a / unit, digits),
                            fmt::format("{:.{}f}", b / unit, digits),
                            fmt::format("{:+.{}f}", difference.value / unit, digits)});
        }
    }
    return rows;
}

/// Three digits, without an exponent for large ones.
std::string signed_figure(double value)
{
    constexpr double three_digits = 999.5;
    return std::abs(value) < three_digits ? fmt::format("{:+.3g}", value) : fmt::format("{:+.0f}", value);
}

std::string memory_note(const StageBreakdown& stage, std::string_view component)
{
    if (component == "activations") {
        std::vector<Amount> blocks;
        for (const BlockBytes& block : stage.activations) {
            blocks.push_back({block.block, block.bytes});
        }
        return list_text(blocks, gigabyte);
    }
    const std::string& of = stage.workspace_of;
    if (component != "workspace" || of.empty()) {
        return "";
    }
    return of == "head" ? "temporaries of the loss" : "temporaries of layer " + of;
}

/// Decimals with which a time of this size has four digits in its unit.
constexpr int time_digits = 3;

}  // namespace

std::string step_components_text(std::span<const StageBreakdown> stages, double mean_step_s)
{
    const std::size_t busiest = busiest_stage(stages);
    const StageBreakdown& stage = stages[busiest];
    const auto [unit_name, unit] = reading_unit("s", mean_step_s);
    Rows rows{{fmt::format("where the step goes{}",
                           stages.size() > 1
                               ? fmt::format(", stage {} of {}, which waits least", busiest, stages.size())
                               : ""),
               unit_name, "%", ""}};
    std::vector<Amount> amounts = amounts_of({stages, mean_step_s});
    sort_by_size(amounts);
    constexpr double least_share = 5e-4;  // of the step: less is rounded to nothing
    for (const Amount& amount : amounts) {
        if (std::abs(amount.value) < least_share * mean_step_s) {
            continue;
        }
        const auto* known = std::find_if(names_of<StepComponent>.begin(), names_of<StepComponent>.end(),
                                         [&amount](const auto& row) { return row.name == amount.name; });
        const std::string note =
            known == names_of<StepComponent>.end() ? "" : made_of(known->value, stage, unit);
        rows.push_back({"  " + amount.name, fmt::format("{:.{}f}", amount.value / unit, time_digits),
                        percent_figure(amount.value / mean_step_s), note});
    }
    rows.push_back({"  mean step", fmt::format("{:.{}f}", mean_step_s / unit, time_digits), "100", ""});
    return aligned(rows, {0, 3});
}

std::string memory_components_text(std::span<const StageBreakdown> stages, Bytes of_accelerator)
{
    const StageBreakdown& stage = fullest_stage(stages);
    const std::string which =
        stages.size() > 1 ? fmt::format(", stage {} of {}, the fullest", stage.memory.stage, stages.size())
                          : "";
    Rows rows{{"where its memory goes" + which, "GB", "%", ""}};
    std::vector<Amount> amounts = memory_of({stages, 0.0});
    const double all = sum_of(amounts);
    sort_by_size(amounts);
    for (const Amount& amount : amounts) {
        if (amount.value > 0.0) {
            rows.push_back({"  " + amount.name, fmt::format("{:.2f}", amount.value / gigabyte),
                            percent_figure(amount.value / all), memory_note(stage, amount.name)});
        }
    }
    rows.push_back({"  needed", fmt::format("{:.2f}", all / gigabyte), "100",
                    fmt::format("of {:.1f} GB", of_accelerator.si / gigabyte)});
    if (stage.memory.host.si > 0.0) {
        rows.push_back(
            {"  in host memory", fmt::format("{:.2f}", stage.memory.host.si / gigabyte), "", "for each GPU"});
    }
    return aligned(rows, {0, 3});
}

std::string stage_components_text(std::span<const StageBreakdown> stages)
{
    if (stages.size() < 2) {
        return "";
    }
    const auto [unit_name, unit] = reading_unit("s", stages.front().step_s());
    Rows rows{{"stage", fmt::format("kernels, {}", unit_name), "recompute", "host", "exposed", "optimizer",
               "waiting", "GB", "activations"}};
    for (const StageBreakdown& stage : stages) {
        const StepComponents components = step_components(stage);
        const auto seconds_of = [&components](StepComponent which) {
            return components[static_cast<std::size_t>(which)];
        };
        const double kernels_s = seconds_of(StepComponent::products) + seconds_of(StepComponent::attention) +
                                 seconds_of(StepComponent::other_kernels);
        std::vector<std::string> row{std::to_string(stage.memory.stage)};
        for (const double seconds :
             {kernels_s, seconds_of(StepComponent::recompute), seconds_of(StepComponent::host),
              stage.exposed_s() + stage.outer_s, stage.optimizer_s, stage.waiting_s}) {
            row.push_back(fmt::format("{:.{}f}", seconds / unit, time_digits));
        }
        row.push_back(fmt::format("{:.2f}", stage.memory.total().si / gigabyte));
        row.push_back(fmt::format("{:.2f}", stage.memory.activations.si / gigabyte));
        rows.push_back(row);
    }
    return aligned(rows, 0);
}

std::string difference_text(const PlanBreakdown& first, const PlanBreakdown& second)
{
    const auto [unit_name, unit] = reading_unit("s", first.mean_step_s);
    const std::vector<Amount> times_of_first = amounts_of(first);
    const std::vector<Amount> times_of_second = amounts_of(second);
    Rows rows{
        {fmt::format("time of the stage that waits least, {}", unit_name), "first", "second", "difference"}};
    Rows times = difference_rows(times_of_first, times_of_second, unit, time_digits);
    rows.insert(rows.end(), times.begin(), times.end());
    rows.push_back({"  mean step", fmt::format("{:.{}f}", first.mean_step_s / unit, time_digits),
                    fmt::format("{:.{}f}", second.mean_step_s / unit, time_digits),
                    fmt::format("{:+.{}f}", (second.mean_step_s - first.mean_step_s) / unit, time_digits)});
    const std::vector<Amount> memory_of_first = memory_of(first);
    const std::vector<Amount> memory_of_second = memory_of(second);
    rows.push_back({"memory of the fullest GPU, GB", "", "", ""});
    Rows memory = difference_rows(memory_of_first, memory_of_second, gigabyte, 2);
    rows.insert(rows.end(), memory.begin(), memory.end());
    const double a = sum_of(memory_of_first) / gigabyte;
    const double b = sum_of(memory_of_second) / gigabyte;
    rows.push_back(
        {"  needed", fmt::format("{:.2f}", a), fmt::format("{:.2f}", b), fmt::format("{:+.2f}", b - a)});
    return aligned(rows, 0);
}

std::string reason_text(const PlanBreakdown& first, const PlanBreakdown& second)
{
    constexpr double least_share = 0.005;  // of the step or of the memory
    constexpr std::size_t most = 2;
    std::vector<std::string> words;
    const auto add = [&words](const std::vector<Amount>& changed, double all, const auto& text_of) {
        std::size_t named = 0;
        for (const Amount& difference : changed) {
            if (named < most && std::abs(difference.value) > least_share * all) {
                words.push_back(fmt::format("{} {}", difference.name, text_of(difference.value)));
                ++named;
            }
        }
    };
    const auto [unit_name, unit] = reading_unit("s", first.mean_step_s);
    const auto seconds = [unit_name = unit_name, unit = unit](double value) {
        return fmt::format("{} {}", signed_figure(value / unit), unit_name);
    };
    const auto bytes = [](double value) { return signed_figure(value / gigabyte) + " GB"; };
    add(differences(amounts_of(first), amounts_of(second)), first.mean_step_s, seconds);
    add(differences(memory_of(first), memory_of(second)), sum_of(memory_of(first)), bytes);
    return fmt::format("{}", fmt::join(words, ", "));
}

nlohmann::ordered_json breakdown_json(std::span<const StageBreakdown> stages)
{
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const StageBreakdown& stage : stages) {
        const StepComponents components = step_components(stage);
        Json json{{"stage", stage.memory.stage}, {"step_s", stage.step_s()}, {"parts_s", Json::object()}};
        for (std::size_t i = 0; i < components.size(); ++i) {
            json["parts_s"][std::string(names_of<StepComponent>[i].name)] = components[i];
        }
        for (const KernelTime& kernel : stage.kernels) {
            json["kernels"].push_back({{"block", kernel.block},
                                       {"class", name(kernel.kind)},
                                       {"time_s", kernel.seconds},
                                       {"recompute_s", kernel.again_s}});
        }
        for (const MessageTime& message : stage.messages) {
            json["messages"].push_back({{"class", name(message.kind)},
                                        {"exposed_s", message.exposed_s},
                                        {"hidden_s", message.hidden_s}});
        }
        for (const NamedMemory& component : memory_components) {
            json["memory_bytes"][std::string(component.name)] = (stage.memory.*component.member).si;
        }
        json["host_memory_bytes"] = stage.memory.host.si;
        for (const BlockBytes& block : stage.activations) {
            json["activations_bytes"][block.block] = block.bytes;
        }
        list.push_back(json);
    }
    return list;
}

}  // namespace prismopt
