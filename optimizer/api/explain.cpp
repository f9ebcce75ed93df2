#include "optimizer/api/explain.hpp"

#include "io/base/aligned.hpp"
#include "io/base/json_number.hpp"
#include "io/base/percent.hpp"
#include "io/report/breakdown_text.hpp"
#include "io/toml/reading_units.hpp"
#include "optimizer/api/pairs.hpp"
#include "optimizer/improve/near_plans.hpp"
#include "optimizer/preview/setting_changes.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <tuple>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

constexpr double gigabyte = (1_GB).si;
/// Draws of plans that are tried: means within a fraction of a percent, far below the error of the model.
constexpr int tried_draws = 1024;

using Json = nlohmann::ordered_json;

/// A plan or a setting to try.
struct Candidate {
    std::vector<std::string> values;
    int count = 1;
    bool setting = false;
    std::string price;
    ChosenPlan chosen;
};

/// Plans near the chosen one that fit, by their bounds: with one change, and with two.
std::vector<Candidate> plans_to_try(const ChosenPlan& chosen)
{
    constexpr std::size_t most_tried = 8;  // of each number of changes
    const StudyModel model(chosen.scenario, tables_of(chosen.scenario, {chosen.plan}));
    const NearPlans near = near_plans(chosen.plan, chosen.scenario, model.problem, {.most_changes = 2, .most = most_tried});
    std::vector<Candidate> candidates;
    for (const NearPlan& plan : near.plans) {
        Candidate candidate{.values = plan.changes, .count = plan.axes, .setting = false, .price = {}, .chosen = chosen};
        candidate.chosen.plan = plan.plan;
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

std::vector<Candidate> settings_to_try(const ChosenPlan& chosen)
{
    std::vector<Candidate> candidates;
    for (SettingChange& change : setting_changes(chosen.scenario)) {
        Candidate candidate{.values = {change.text}, .count = 1, .setting = true, .price = change.price, .chosen = chosen};
        candidate.chosen.scenario = std::move(change.scenario);
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

Explanation taken_apart(PlanPredictor& predictor, int draws)
{
    const Scenario& scenario = predictor.chosen().scenario;
    Explanation of;
    of.prediction = predictor.predict(rung_of(scenario, draws));
    of.stages = predictor.breakdown();
    of.memory = scenario.cluster.accelerator.memory;
    return of;
}

TakenApart parts_of(const Explanation& of) { return {of.stages, of.prediction.prediction.step.mean.value}; }

bool lacks_memory(const Explanation& of) { return of.prediction.prediction.infeasible || of.prediction.may_not_fit; }

/// A plan, predicted and taken apart.
struct Today {
    const PlanPredictor& predictor;
    const Explanation& of;
};

/// Nothing where the plan is infeasible with the change.
std::optional<ExplainedChange> tried(const Candidate& candidate, const Today& today, const ScenarioPredictor& plans,
                                     const PlanPairs& pairs)
{
    PlanPredictor predictor = plans.plan(candidate.chosen);
    const Explanation with = taken_apart(predictor, tried_draws);
    const Prediction& prediction = with.prediction.prediction;
    if (prediction.infeasible) {
        return std::nullopt;
    }
    ExplainedChange change;
    change.values = candidate.values;
    change.count = candidate.count;
    change.setting = candidate.setting;
    change.price = candidate.price;
    change.step_s = prediction.step.mean.value;
    change.fits = prediction.fit_probability;
    change.memory_bytes = prediction.memory.total().si;
    change.reason = reason_text(parts_of(today.of), parts_of(with));
    const ComparedPair pair = pairs.compared(today.predictor, today.of.prediction, predictor, with.prediction);
    change.ratio = change.step_s / today.of.prediction.prediction.step.mean.value;
    change.low = change.ratio * pair.low / pair.ratio;
    change.high = change.ratio * pair.high / pair.ratio;
    change.chance_faster = pair.chance_less;
    return change;
}

/// Whether it takes as long and as much memory as one with as many changes: a value without effect is not worth a line.
bool is_known(const ExplainedChange& change, const std::vector<ExplainedChange>& known)
{
    return std::any_of(known.begin(), known.end(), [&change](const ExplainedChange& other) {
        return other.count == change.count && other.step_s == change.step_s && other.memory_bytes == change.memory_bytes;
    });
}

std::string values_text(const ExplainedChange& change)
{
    const std::string price = change.price.empty() ? "" : fmt::format(" ({})", change.price);
    return fmt::format("  {}{}", fmt::join(change.values, " "), price);
}

std::string changes_text(const Explanation& of)
{
    const std::string what = lacks_memory(of) ? "fit" : "faster";
    if (of.changes.empty()) {
        return fmt::format("no change of one or two values makes it {}\n", what);
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
    return aligned(rows, {0, 6});
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
        rows.push_back(
            {"  " + changes[i].design, time_text(changes[i].step_s), fmt::format("{:.1f}", changes[i].memory_bytes / gigabyte)});
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
              {"reason", p.infeasible ? p.infeasible->text() : ""}};
    if (of.stages.empty()) {
        return json;
    }
    json["step_time_mean_s"] = p.step.mean.value;
    json["step_time_interval_s"] = {p.step.mean.value * of.prediction.model.low, p.step.mean.value * of.prediction.model.high};
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
    std::string text = fmt::format("{} dp={}\nsoftware {}\n", design_text(plan.plan, plan.space), plan.plan.dp, plan.software);
    if (p.infeasible) {
        text += fmt::format("infeasible: {}\n", p.infeasible->text());
    }
    if (plan.may_not_fit) {
        text += fmt::format("may not fit ({}): {}\n", chance_text(p.fit_probability), plan.may_not_fit->detail);
    }
    if (!of.stages.empty()) {
        text += fmt::format("mean step {}{} (95 % {} to {} with the error of the model)\n", time_text(p.step.mean.value),
                            p.infeasible ? " with enough memory" : "", time_text(p.step.mean.value * plan.model.low),
                            time_text(p.step.mean.value * plan.model.high));
    }
    return text;
}

}  // namespace

Explanation explain(const ChosenPlan& chosen, bool changes)
{
    PlanPredictor predictor(chosen);
    Explanation of = taken_apart(predictor, 0);
    if (!changes || of.stages.empty()) {
        return of;
    }
    const bool to_fit = lacks_memory(of);
    const double least_chance = to_fit ? chosen.scenario.memory_limit.probability : 0.0;
    std::vector<Candidate> candidates = plans_to_try(chosen);
    if (to_fit) {
        std::vector<Candidate> settings = settings_to_try(chosen);
        std::move(settings.begin(), settings.end(), std::back_inserter(candidates));
    }
    std::vector<ParallelPlan> plans;
    for (const Candidate& candidate : candidates) {
        plans.push_back(candidate.chosen.plan);
    }
    const ScenarioPredictor predictors(chosen.scenario, plans);
    const PlanPairs pairs;
    const Explanation by_as_many_draws = taken_apart(predictor, tried_draws);
    for (const Candidate& candidate : candidates) {
        auto change = tried(candidate, {predictor, by_as_many_draws}, predictors, pairs);
        const bool helps = change && (to_fit || change->ratio < 1.0) && change->fits >= least_chance;
        if (helps && !is_known(*change, of.changes)) {
            of.changes.push_back(std::move(*change));
        }
    }
    const auto order = [](const ExplainedChange& change) {
        return std::tuple(change.count, !change.price.empty(), change.step_s);
    };
    std::stable_sort(of.changes.begin(), of.changes.end(),
                     [&order](const ExplainedChange& a, const ExplainedChange& b) { return order(a) < order(b); });
    return of;
}

std::string explanation_text(const Explanation& of)
{
    std::string text = plan_text(of);
    if (of.stages.empty()) {
        return text + "\n" + feasible_text(of.prediction.changes);
    }
    text += "\n" + step_parts_text(of.stages, of.prediction.prediction.step.mean.value) + "\n" +
            memory_parts_text(of.stages, of.memory);
    if (const std::string stages = stage_parts_text(of.stages); !stages.empty()) {
        text += "\n" + stages;
    }
    return text + "\n" + changes_text(of);
}

std::string explanation_json(const Explanation& of) { return json_of(of).dump(2) + "\n"; }

ChosenPlan changed_plan(const ChosenPlan& chosen, const std::string& words)
{
    std::istringstream own(design_text(chosen.plan, chosen.scenario.space));
    std::string design = words;
    const std::string padded = " " + words;
    for (std::string word; own >> word;) {
        const std::string axis = " " + word.substr(0, word.find('=') + 1);
        if (padded.find(axis) == std::string::npos) {
            design += " " + word;
        }
    }
    ChosenPlan changed = plan_with(chosen.scenario, design);
    changed.variant = chosen.variant;
    return changed;
}

Versus explain_against(const ChosenPlan& first, const ChosenPlan& second)
{
    PlanPredictor of_first(first);
    PlanPredictor of_second(second);
    Versus versus{taken_apart(of_first, 0), taken_apart(of_second, 0), std::nullopt};
    if (!versus.first.stages.empty() && !versus.second.stages.empty()) {
        versus.pair = PlanPairs().compared(of_first, versus.first.prediction, of_second, versus.second.prediction);
    }
    return versus;
}

std::string versus_text(const Versus& of)
{
    std::string text = "first:  " + plan_text(of.first) + "second: " + plan_text(of.second);
    if (!of.pair) {
        return text;
    }
    const ComparedPair& pair = *of.pair;
    text += fmt::format("the second takes {:.3f} times as long (95 % {:.3f} to {:.3f}), less with a probability of {}: {}\n\n",
                        pair.ratio, pair.low, pair.high, chance_text(pair.chance_less),
                        reason_text(parts_of(of.first), parts_of(of.second)));
    return text + difference_text(parts_of(of.first), parts_of(of.second));
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
        json["because"] = reason_text(parts_of(of.first), parts_of(of.second));
    }
    return json.dump(2) + "\n";
}

}  // namespace prismopt
