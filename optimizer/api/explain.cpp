#include "optimizer/api/explain.hpp"

#include "io/report/breakdown_text.hpp"
#include "optimizer/api/pairs.hpp"
#include "optimizer/improve/near_plans.hpp"
#include "optimizer/preview/setting_changes.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace prismopt {

namespace {

/// Draws of plans that are tried: means within a fraction of a percent, far below the error of the model.
constexpr int tried_draws = 1024;

/// A plan or a setting to try.
struct Candidate {
    std::vector<std::string> values;
    int count = 1;
    bool setting = false;
    std::string price;
    ChosenPlan chosen;
};

/// What a change is about: values without those that only fit others, of which the best stands for all.
std::string kind_of(const std::vector<std::string>& values)
{
    constexpr std::array fitting{"v=", "group=", "recomputed_layers=", "split=", "order="};
    std::string kind;
    for (const std::string& value : values) {
        const bool fits_others = std::any_of(fitting.begin(), fitting.end(),
                                             [&value](const char* axis) { return value.starts_with(axis); });
        kind += fits_others && values.size() > 1 ? "" : value + " ";
    }
    return kind;
}

/// Plans near the chosen one that fit, by their bounds: with one change, and with two.
std::vector<Candidate> plans_to_try(const ChosenPlan& chosen, const Pause& pause)
{
    constexpr std::size_t most_bounded = 24;  // of each number of changes
    constexpr std::size_t most_tried = 8;
    const StudyModel model(chosen.scenario, tables_of(chosen.scenario, {chosen.plan}));
    const NearPlans near = near_plans(chosen.plan, chosen.scenario, model.problem,
                                      {.most_changes = 2, .most = most_bounded}, pause);
    std::vector<Candidate> candidates;
    std::map<int, std::set<std::string>> kinds;  // by number of changes
    for (const NearPlan& plan : near.plans) {
        std::set<std::string>& known = kinds[plan.axes];
        if (known.size() == most_tried || !known.insert(kind_of(plan.changes)).second) {
            continue;
        }
        Candidate candidate{
            .values = plan.changes, .count = plan.axes, .setting = false, .price = {}, .chosen = chosen};
        candidate.chosen.plan = plan.plan;
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

std::vector<Candidate> settings_to_try(const ChosenPlan& chosen)
{
    std::vector<Candidate> candidates;
    for (SettingChange& change : setting_changes(chosen.scenario)) {
        Candidate candidate{
            .values = {change.text}, .count = 1, .setting = true, .price = change.price, .chosen = chosen};
        candidate.chosen.scenario = std::move(change.scenario);
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

/// Single changes of the plan, each with a setting that costs nothing.
std::vector<Candidate> plans_with_settings(const ChosenPlan& chosen, const Pause& pause)
{
    std::vector<Candidate> candidates;
    for (const Candidate& setting : settings_to_try(chosen)) {
        if (!setting.price.empty()) {
            continue;
        }
        for (Candidate& plan : plans_to_try(setting.chosen, pause)) {
            if (plan.count == 1) {
                plan.values.insert(plan.values.end(), setting.values.begin(), setting.values.end());
                plan.count = 2;
                plan.setting = true;
                candidates.push_back(std::move(plan));
            }
        }
    }
    return candidates;
}

Explanation explained(PlanPredictor& predictor, int draws, const Pause& pause)
{
    const Scenario& scenario = predictor.chosen().scenario;
    Explanation of;
    of.prediction = predictor.predict(rung_of(scenario, draws), pause);
    of.stages = predictor.breakdown();
    of.memory = usable_memory(scenario.memory_limit, scenario.cluster.accelerator.memory);
    return of;
}

/// A plan with its prediction and breakdown.
struct Today {
    const PlanPredictor& predictor;
    const Explanation& of;
};

/// Nothing where the plan is infeasible with the change.
std::optional<ExplainedChange> tried(const Candidate& candidate, const Today& today,
                                     const ScenarioPredictor& plans, const PlanPairs& pairs,
                                     const Pause& pause)
{
    PlanPredictor predictor = plans.plan(candidate.chosen);
    const Explanation with = explained(predictor, tried_draws, pause);
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
    change.reason = reason_text(breakdown_of(today.of), breakdown_of(with));
    const ComparedPair pair =
        pairs.compared(today.predictor, today.of.prediction, predictor, with.prediction);
    change.ratio = change.step_s / today.of.prediction.prediction.step.mean.value;
    change.low = change.ratio * pair.low / pair.ratio;
    change.high = change.ratio * pair.high / pair.ratio;
    change.chance_faster = pair.chance_expected_less;
    return change;
}

/// Whether it takes as long and as much memory as one with as many changes: a value
/// without effect is not worth a line.
bool is_known(const ExplainedChange& change, const std::vector<ExplainedChange>& known)
{
    return std::any_of(known.begin(), known.end(), [&change](const ExplainedChange& other) {
        return other.count == change.count && other.step_s == change.step_s &&
               other.memory_bytes == change.memory_bytes;
    });
}

}  // namespace

Explanation explain(const ChosenPlan& chosen, bool changes, const Pause& pause)
{
    PlanPredictor predictor(chosen);
    Explanation of = explained(predictor, 0, pause);
    if (!changes || of.stages.empty()) {
        return of;
    }
    const bool to_fit = of.lacks_memory();
    const double least_chance = to_fit ? chosen.scenario.memory_limit.probability : 0.0;
    std::vector<Candidate> candidates = plans_to_try(chosen, pause);
    if (to_fit) {
        std::vector<Candidate> settings = settings_to_try(chosen);
        std::move(settings.begin(), settings.end(), std::back_inserter(candidates));
    }
    const PlanPairs pairs;
    const Explanation by_as_many_draws = explained(predictor, tried_draws, pause);
    const auto try_all = [&](const std::vector<Candidate>& all) {
        std::vector<ParallelPlan> plans;
        for (const Candidate& candidate : all) {
            plans.push_back(candidate.chosen.plan);
        }
        const ScenarioPredictor predictors(chosen.scenario, plans);
        for (const Candidate& candidate : all) {
            auto change = tried(candidate, {predictor, by_as_many_draws}, predictors, pairs, pause);
            const bool helps = change && (to_fit || change->ratio < 1.0) && change->fits >= least_chance;
            if (helps && !is_known(*change, of.changes)) {
                of.changes.push_back(std::move(*change));
            }
        }
    };
    try_all(candidates);
    if (to_fit && of.changes.empty()) {
        try_all(plans_with_settings(chosen, pause));
    }
    const auto order = [](const ExplainedChange& change) {
        return std::tuple(change.count, !change.price.empty(), change.step_s);
    };
    std::stable_sort(of.changes.begin(), of.changes.end(),
                     [&order](const ExplainedChange& a, const ExplainedChange& b) {
                         return order(a) < order(b);
                     });
    return of;
}

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

Versus explain_against(const ChosenPlan& first, const ChosenPlan& second, const Pause& pause)
{
    PlanPredictor of_first(first);
    PlanPredictor of_second(second);
    Versus versus{explained(of_first, 0, pause), explained(of_second, 0, pause), std::nullopt};
    if (!versus.first.stages.empty() && !versus.second.stages.empty()) {
        versus.pair =
            PlanPairs().compared(of_first, versus.first.prediction, of_second, versus.second.prediction);
    }
    return versus;
}

}  // namespace prismopt
