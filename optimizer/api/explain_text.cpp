#include "io/words/infeasible_text.hpp"
#include "optimizer/api/explain.hpp"

#include "io/base/aligned.hpp"
#include "io/base/percent.hpp"
#include "io/report/breakdown_text.hpp"
#include "io/toml/reading_units.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/host_wait.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace prismopt {

using namespace literals;

namespace {

constexpr double gigabyte = (1_GB).si;

using Json = nlohmann::ordered_json;

std::string values_text(const ExplainedChange& change)
{
    const std::string price = change.price.empty() ? "" : fmt::format(" ({})", change.price);
    return fmt::format("  {}{}", fmt::join(change.values, " "), price);
}

/// Whether the plan or a change of it has optimizer updates on hosts.
bool has_updates_on_hosts(const Explanation& of)
{
    const auto has = [](const ExplainedChange& change) {
        return std::any_of(change.values.begin(), change.values.end(), [](const std::string& value) {
            const auto offload = value.starts_with("offload=")
                                     ? parse<Offload>(value.substr(value.find('=') + 1))
                                     : std::nullopt;
            return offload && updates_on_host(*offload);
        });
    };
    return updates_on_host(of.prediction.plan.offload) ||
           std::any_of(of.changes.begin(), of.changes.end(), has);
}

std::string changes_text(const Explanation& of)
{
    const std::string what = of.lacks_memory() ? "fit" : "faster";
    if (of.changes.empty()) {
        return of.lacks_memory() ? fmt::format("no change of one or two values that {} runs makes it fit\n",
                                               of.prediction.software)
                                 : "no change of one or two values makes it faster\n";
    }
    constexpr int most = 6;  // of each number of changes
    std::vector<std::vector<std::string>> rows{
        {"what makes it " + what, "mean step", "times today's (95 %)", "faster", "fits", "GB", "because"}};
    int listed = 0;
    int count = 0;
    for (const ExplainedChange& change : of.changes) {
        listed = change.count == count ? listed + 1 : 1;
        count = change.count;
        if (listed <= most) {
            rows.push_back({values_text(change), time_text(change.step_s),
                            fmt::format("{:.3f} ({:.3f} to {:.3f})", change.ratio, change.low, change.high),
                            chance_text(change.chance_faster), chance_text(change.fits),
                            fmt::format("{:.1f}", change.memory_bytes / gigabyte), change.reason});
        }
    }
    const std::string note = has_updates_on_hosts(of) ? fmt::format("offload: {}\n", host_update_words) : "";
    return aligned(rows, {0, 6}) + note;
}

/// Of a plan that is infeasible for other reasons than memory: values that make it feasible, by their bounds.
std::string feasible_text(const std::vector<SingleChange>& changes)
{
    if (changes.empty()) {
        return "no change of a single value makes it feasible\n";
    }
    constexpr std::size_t most = 8;
    std::vector<std::vector<std::string>> rows{{"what makes it feasible", "mean step at least", "GB"}};
    for (std::size_t i = 0; i < std::min(most, changes.size()); ++i) {
        rows.push_back({"  " + changes[i].design, time_text(changes[i].step_s),
                        fmt::format("{:.1f}", changes[i].memory_bytes / gigabyte)});
    }
    return aligned(rows, 0);
}

Json change_json(const ExplainedChange& change)
{
    return {{"change", change.values},
            {"of_settings", change.setting},
            {"price", change.price},
            {"step_time_mean_s", change.step_s},
            {"ratio", change.ratio},
            {"ratio_interval", {change.low, change.high}},
            {"faster_probability", change.chance_faster},
            {"fit_probability", change.fits},
            {"peak_memory_bytes", change.memory_bytes},
            {"because", change.reason}};
}

Json json_of(const Explanation& of)
{
    const Prediction& p = of.prediction.prediction;
    Json json{{"format", "prismopt explain"},
              {"format_version", 1},
              {"design", design_text(of.prediction.plan, of.prediction.space)},
              {"software", of.prediction.software},
              {"feasible", !p.infeasible.has_value()},
              {"reason", p.infeasible ? infeasible_text(*p.infeasible) : ""}};
    if (of.stages.empty()) {
        return json;
    }
    json["step_time_mean_s"] = p.step.mean.value;
    json["step_time_interval_s"] = {p.step.mean.value * of.prediction.model.low,
                                    p.step.mean.value * of.prediction.model.high};
    json["fit_probability"] = p.fit_probability;
    json["busiest_stage"] = busiest_stage(of.stages);
    json["stages"] = breakdown_json(of.stages);
    json["changes"] = Json::array();
    for (const ExplainedChange& change : of.changes) {
        json["changes"].push_back(change_json(change));
    }
    return json;
}

std::string plan_text(const Explanation& of)
{
    const PlanPrediction& plan = of.prediction;
    const Prediction& p = plan.prediction;
    std::string text = fmt::format("{} dp={}\nsoftware {}\n", design_text(plan.plan, plan.space),
                                   plan.plan.dp, plan.software);
    if (!plan.lacking.empty()) {
        text += fmt::format("  it has no {}: this is of a plan that it does not run\n",
                            fmt::join(plan.lacking, ", "));
    }
    if (p.infeasible) {
        text += fmt::format("infeasible: {}\n", infeasible_text(*p.infeasible));
    }
    if (plan.may_not_fit) {
        text += fmt::format("may not fit ({}): {}\n", chance_text(p.fit_probability),
                            detail_text(*plan.may_not_fit));
    }
    if (!of.stages.empty()) {
        text += fmt::format("mean step {}{} (95 % {} to {} with the error of the model)\n",
                            time_text(p.step.mean.value), p.infeasible ? " with enough memory" : "",
                            time_text(p.step.mean.value * plan.model.low),
                            time_text(p.step.mean.value * plan.model.high));
    }
    return text;
}

}  // namespace

PlanBreakdown breakdown_of(const Explanation& of)
{
    return {of.stages, of.prediction.prediction.step.mean.value};
}

std::string explanation_text(const Explanation& of)
{
    std::string text = plan_text(of);
    if (of.stages.empty()) {
        return text + "\n" + feasible_text(of.prediction.changes);
    }
    text += "\n" + step_components_text(of.stages, of.prediction.prediction.step.mean.value) + "\n" +
            memory_components_text(of.stages, of.memory);
    if (!of.prediction.memory_assumes.empty()) {
        text += fmt::format("  assumes {}\n", fmt::join(of.prediction.memory_assumes, "; "));
    }
    const bool on_host = of.prediction.prediction.memory.host.si > 0.0;
    if (on_host && !of.prediction.host_memory_known) {
        text += fmt::format(
            "  {:.1f} GB in the memory of a host with {} GPUs: whether it has that is not checked without "
            "host_memory in "
            "[cluster]\n",
            of.prediction.gpus_per_node * of.prediction.prediction.memory.host.si / gigabyte,
            of.prediction.gpus_per_node);
    }
    if (const std::string stages = stage_components_text(of.stages); !stages.empty()) {
        text += "\n" + stages;
    }
    return text + "\n" + changes_text(of);
}

std::string explanation_json(const Explanation& of) { return json_of(of).dump(2) + "\n"; }

std::string versus_text(const Versus& of)
{
    std::string text = "first:  " + plan_text(of.first) + "second: " + plan_text(of.second);
    if (!of.pair) {
        return text;
    }
    const ComparedPair& pair = *of.pair;
    text += fmt::format(
        "the second takes {:.3f} times as long (95 % {:.3f} to {:.3f}), less with a probability of {}: "
        "{}\n\n",
        pair.ratio, pair.low, pair.high, chance_text(pair.chance_less),
        reason_text(breakdown_of(of.first), breakdown_of(of.second)));
    return text + difference_text(breakdown_of(of.first), breakdown_of(of.second));
}

std::string versus_json(const Versus& of)
{
    Json json{{"format", "prismopt explain --against"},
              {"format_version", 1},
              {"first", json_of(of.first)},
              {"second", json_of(of.second)}};
    if (of.pair) {
        json["ratio"] = of.pair->ratio;
        json["ratio_interval"] = {of.pair->low, of.pair->high};
        json["less_probability"] = of.pair->chance_less;
        json["because"] = reason_text(breakdown_of(of.first), breakdown_of(of.second));
    }
    return json.dump(2) + "\n";
}

}  // namespace prismopt
