#include "optimizer/api/pairs.hpp"

#include "io/base/input_error.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/question_answer.hpp"
#include "io/report/study_notes.hpp"
#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/base/statistics.hpp"
#include "model/objective.hpp"
#include "optimizer/accuracy/step_gradients.hpp"
#include "optimizer/study/stored_study.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace prismopt {

namespace {

constexpr const char* answer_to_question = "answer";
constexpr const char* cost_of_answer = "answer, its cost";
constexpr double tail_of_interval = 0.025;

/// What errors of pairs come from, read once.
struct PairKnowledge {
    FittedModel fitted = fitted_model();
    Discrepancy discrepancy = catalog_discrepancy();
    MachineCorrelations correlations = catalog_correlations();
};

StepError error_of(const Problem& problem, const ParallelPlan& plan, const FittedModel& fitted)
{
    const Phase& first = problem.phases.front();
    return step_error(setting_of(problem, first), plan_in_phase(plan, first), fitted);
}

StepError error_of(const ChosenPlan& chosen, const FittedModel& fitted)
{
    const StudyModel model(chosen.scenario, tables_of(chosen.scenario, {chosen.plan}));
    const Phase& first = model.problem.phases.front();
    const ParallelPlan plan = plan_in_phase(chosen.plan, first);
    const Setting setting = setting_of(model.problem, first);
    if (!compiled_without_limit(setting, plan)) {
        PlanCompiler compiler(setting);
        const auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
        const auto& why = std::get<Infeasible>(compiled);
        throw InfeasiblePlan(why, "the errors of two plans go together only where both are feasible: " +
                                      infeasible_text(why));
    }
    return step_error(setting, plan, fitted);
}

/// The objective that is the expectation of what an objective is about.
const Objective& expectation_of(const std::string& objective)
{
    const auto named = [](const char* name) -> const Objective& { return *find_objective(name); };
    if (objective.starts_with("training_time") || objective == "promised_time" ||
        objective == answer_to_question) {
        return named("training_time_mean");
    }
    if (objective.starts_with("step_time")) {
        return named("step_time_mean");
    }
    return objective == "cost" || objective == cost_of_answer ? named("expected_cost")
                                                              : *find_objective(objective);
}

/// A plan whose expectation is compared.
struct Side {
    std::string name;
    const FrontPoint* point = nullptr;
    std::string plan;
    const StepError* error = nullptr;
};

/// Standard deviation of the logarithm of an estimate, by its 95 % confidence
/// interval; zero: exact, or no interval.
double deviation_of_draws(const Estimate& estimate)
{
    const bool has_limits =
        estimate.low > 0.0 && std::isfinite(estimate.high) && estimate.high > estimate.low;
    return has_limits ? std::log(estimate.high / estimate.low) / (2.0 * two_sided_95) : 0.0;
}

/// Expectations of both plans, and the scatter of their runs.
struct PairedValues {
    const Objective& quantity;
    Estimate first;
    Estimate second;
    std::vector<double> first_run;
    std::vector<double> second_run;
};

std::vector<std::string> differences(const MachinesDiffer& differ)
{
    std::vector<std::string> words;
    const auto add = [&words](bool differs, const char* word) {
        if (differs) {
            words.emplace_back(word);
        }
    };
    add(differ.accelerator, "accelerator");
    add(differ.software, "software");
    add(differ.gpus, "GPUs");
    add(differ.network, "network");
    return words;
}

ComparedPair compared_values(const PairedValues& values, const PairError& of_model, double repeat)
{
    ComparedPair pair;
    pair.quantity = values.quantity.name;
    pair.units = values.quantity.units;
    pair.first.value = values.first.value;
    pair.second.value = values.second.value;
    pair.ratio = values.second.value / values.first.value;
    pair.same_plan = of_model.same_design;
    pair.differ = differences(of_model.differ);
    if (!of_model.differ.machine() && of_model.variance.hardware > 0.0) {
        pair.differ.emplace_back("numbers of the hardware");
    }
    pair.correlation = of_model.correlation;
    const PairVariance& variance = of_model.variance;
    const bool same_draws = of_model.same_plan && values.first.value == values.second.value;
    const double draws =
        same_draws ? 0.0 : std::hypot(deviation_of_draws(values.first), deviation_of_draws(values.second));
    pair.deviations = {std::sqrt(variance.constants), std::sqrt(variance.source), std::sqrt(variance.plans),
                       std::sqrt(variance.hardware), draws};
    PairError error = of_model;
    for (NormalComponent& component : error.components) {
        component.deviation = std::hypot(component.deviation, draws);
    }
    pair.low = pair.ratio * error.quantile(tail_of_interval);
    pair.high = pair.ratio * error.quantile(1.0 - tail_of_interval);
    pair.chance_expected_less =
        same_draws ? 0.5 : mixture_probability(error.components, -std::log(pair.ratio));
    pair.chance_less = chance_less(error, std::log(pair.ratio), values.first_run, values.second_run, repeat);
    return pair;
}

std::vector<double> run_of(const Objective& quantity, const Prediction& prediction)
{
    return quantity.scales == ScalesWith::run ? run_scatter(prediction.training) : std::vector<double>{0.0};
}

/// Nothing where an expectation is not known: files of older versions.
std::optional<ComparedPair> compared_sides(const std::string& best_in, const Side& first, const Side& second,
                                           const PairKnowledge& knowledge)
{
    const Objective& quantity = expectation_of(best_in);
    const auto value = [&quantity](const Side& side) { return quantity.value(side.point->prediction); };
    const auto known = [](const Estimate& e) { return std::isfinite(e.value) && e.value > 0.0; };
    if (!known(value(first)) || !known(value(second))) {
        return std::nullopt;
    }
    const PairError error = pair_error(*first.error, *second.error, knowledge.fitted, knowledge.discrepancy,
                                       knowledge.correlations);
    ComparedPair pair = compared_values({.quantity = quantity,
                                         .first = value(first),
                                         .second = value(second),
                                         .first_run = run_of(quantity, first.point->prediction),
                                         .second_run = run_of(quantity, second.point->prediction)},
                                        error, knowledge.discrepancy.repeat);
    pair.best_in = best_in;
    const auto describe = [](PairedPlan& plan, const Side& side) {
        plan.name = side.name;
        plan.point = side.point->index;
        plan.plan = side.plan;
        plan.low = plan.value * side.point->model_low;
        plan.high = plan.value * side.point->model_high;
    };
    describe(pair.first, first);
    describe(pair.second, second);
    return pair;
}

/// A study whose plans are compared; errors of plans are computed once.
class PairedStudy {
public:
    PairedStudy(const NamedResults& of, std::string name, const PairKnowledge& knowledge)
        : results_(of.results), name_(std::move(name)), knowledge_(knowledge),
          stored_(std::make_unique<StoredStudy>(of.results))
    {
    }

    Side side(const FrontPoint& point, const std::string& machine = "")
    {
        auto [found, is_new] = errors_.try_emplace(point.index);
        if (is_new) {
            const Point where = stored_->space().point(point.index);
            found->second = error_of(stored_->problem(where), stored_->plan(where), knowledge_.fitted);
        }
        return {.name = machine.empty() ? name_ : name_ + ", " + machine,
                .point = &point,
                .plan = plan_words(results_, point),
                .error = &found->second};
    }

    const Results& results() const { return results_; }

    /// The plan of the front with the least of an objective, of those that `counts`.
    template <class Counts>
    const FrontPoint* best(std::size_t objective, const Counts& counts) const
    {
        const FrontPoint* found = nullptr;
        for (const FrontPoint& point : results_.front) {
            const double value = point.objectives[objective].value;
            if (counts(point) && (found == nullptr || value < found->objectives[objective].value)) {
                found = &point;
            }
        }
        return found;
    }

    const FrontPoint* answer() const
    {
        const StudyNotes notes = study_notes(results_);
        const auto answer = notes.question ? answer_to(*notes.question, results_, notes) : std::nullopt;
        return answer && answer->best ? answer->best->plan : nullptr;
    }

private:
    const Results& results_;
    std::string name_;
    const PairKnowledge& knowledge_;
    std::unique_ptr<StoredStudy> stored_;
    std::map<std::uint64_t, StepError> errors_;
};

void add_pair(std::vector<ComparedPair>& pairs, const std::string& best_in, const Side& first,
              const Side& second, const PairKnowledge& knowledge)
{
    if (auto pair = compared_sides(best_in, first, second, knowledge)) {
        pairs.push_back(std::move(*pair));
    }
}

constexpr auto any_point = [](const FrontPoint&) { return true; };

void add_studies(std::vector<ComparedPair>& pairs, PairedStudy& first, PairedStudy& second,
                 const PairKnowledge& knowledge)
{
    const FrontPoint* one = first.answer();
    const FrontPoint* other = second.answer();
    if (one != nullptr && other != nullptr) {
        add_pair(pairs, answer_to_question, first.side(*one), second.side(*other), knowledge);
        add_pair(pairs, cost_of_answer, first.side(*one), second.side(*other), knowledge);
    }
    for (std::size_t k = 0; k < first.results().objectives.size(); ++k) {
        const std::string& objective = first.results().objectives[k].name;
        const bool shared =
            k < second.results().objectives.size() && second.results().objectives[k].name == objective;
        one = first.best(k, any_point);
        other = shared ? second.best(k, any_point) : nullptr;
        if (follows_step(objective) && one != nullptr && other != nullptr) {
            add_pair(pairs, objective, first.side(*one), second.side(*other), knowledge);
        }
    }
}

std::optional<VariantChoice> choice_of_machine(const Results& results)
{
    std::vector<VariantChoice> choices = variant_choices(results);
    const auto found = std::find_if(choices.begin(), choices.end(),
                                    [](const VariantChoice& choice) { return choice.name == "cluster"; });
    return found == choices.end() ? std::nullopt : std::optional(std::move(*found));
}

void add_machines(std::vector<ComparedPair>& pairs, PairedStudy& study, const PairKnowledge& knowledge)
{
    const std::optional<VariantChoice> cluster = choice_of_machine(study.results());
    if (!cluster) {
        return;
    }
    for (std::size_t k = 0; k < study.results().objectives.size(); ++k) {
        const std::string& objective = study.results().objectives[k].name;
        const FrontPoint* best = study.best(k, any_point);
        if (!follows_step(objective) || best == nullptr) {
            continue;
        }
        const std::string of_best = cluster->at(best->point);
        std::vector<std::string> others;
        for (const FrontPoint& point : study.results().front) {
            const std::string& machine = cluster->at(point.point);
            if (machine != of_best && std::find(others.begin(), others.end(), machine) == others.end()) {
                others.push_back(machine);
            }
        }
        std::sort(others.begin(), others.end());
        for (const std::string& machine : others) {
            const FrontPoint* of_machine =
                study.best(k, [&](const FrontPoint& point) { return cluster->at(point.point) == machine; });
            add_pair(pairs, objective, study.side(*best, of_best), study.side(*of_machine, machine),
                     knowledge);
        }
    }
}

}  // namespace

PairError pair_error(const ChosenPlan& first, const ChosenPlan& second)
{
    const PairKnowledge knowledge;
    return pair_error(error_of(first, knowledge.fitted), error_of(second, knowledge.fitted), knowledge.fitted,
                      knowledge.discrepancy, knowledge.correlations);
}

namespace {

/// A predicted plan, and how its error goes together with those of others.
struct PredictedPlan {
    const ChosenPlan& chosen;
    const PlanPrediction& of;
    StepError error;
};

ComparedPair compared_predictions(const PredictedPlan& first, const PredictedPlan& second,
                                  const PairKnowledge& knowledge)
{
    const PairError error = pair_error(first.error, second.error, knowledge.fitted, knowledge.discrepancy,
                                       knowledge.correlations);
    ComparedPair pair = compared_values({.quantity = *find_objective("training_time_mean"),
                                         .first = first.of.prediction.training.mean,
                                         .second = second.of.prediction.training.mean,
                                         .first_run = run_scatter(first.of.prediction.training),
                                         .second_run = run_scatter(second.of.prediction.training)},
                                        error, knowledge.discrepancy.repeat);
    const auto describe = [](PairedPlan& plan, const PredictedPlan& predicted) {
        plan.name = predicted.chosen.scenario.name;
        plan.plan = design_text(predicted.of.plan, predicted.of.space);
        plan.low = plan.value * predicted.of.model.low;
        plan.high = plan.value * predicted.of.model.high;
    };
    describe(pair.first, first);
    describe(pair.second, second);
    return pair;
}

}  // namespace

ComparedPair compared_plans(const ChosenPlan& first, const PlanPrediction& of_first, const ChosenPlan& second,
                            const PlanPrediction& of_second)
{
    const PairKnowledge knowledge;
    return compared_predictions({first, of_first, error_of(first, knowledge.fitted)},
                                {second, of_second, error_of(second, knowledge.fitted)}, knowledge);
}

struct PlanPairs::State {
    PairKnowledge knowledge;
};

PlanPairs::PlanPairs() : state_(std::make_shared<const State>()) {}

ComparedPair PlanPairs::compared(const PlanPredictor& first, const PlanPrediction& of_first,
                                 const PlanPredictor& second, const PlanPrediction& of_second) const
{
    const PairKnowledge& knowledge = state_->knowledge;
    return compared_predictions({first.chosen(), of_first, first.step_error(knowledge.fitted)},
                                {second.chosen(), of_second, second.step_error(knowledge.fitted)}, knowledge);
}

bool pairs_machines(const Results& results) { return choice_of_machine(results).has_value(); }

std::vector<ComparedPair> compared_pairs(const std::vector<NamedResults>& studies)
{
    if (studies.size() == 1 && !pairs_machines(studies.front().results)) {
        return {};
    }
    const PairKnowledge knowledge;
    const std::vector<std::string> names = study_names(studies);
    std::vector<ComparedPair> of_machines;
    std::vector<ComparedPair> pairs;
    std::unique_ptr<PairedStudy> first;  // the only one that is kept: a campaign has many
    for (std::size_t s = 0; s < studies.size(); ++s) {
        std::unique_ptr<PairedStudy> study;
        try {
            study = std::make_unique<PairedStudy>(studies[s], names[s], knowledge);
        } catch (const InputError&) {
            continue;  // of another version: its plans cannot be compiled
        }
        add_machines(of_machines, *study, knowledge);
        if (s == 0) {
            first = std::move(study);
        } else if (first && same_job(studies[0], studies[s])) {
            add_studies(pairs, *first, *study, knowledge);
        }
    }
    pairs.insert(pairs.end(), std::make_move_iterator(of_machines.begin()),
                 std::make_move_iterator(of_machines.end()));
    return pairs;
}

}  // namespace prismopt
