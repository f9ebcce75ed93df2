#include "optimizer/study/study_model.hpp"

#include "io/scenario/variants.hpp"
#include "model/base/root.hpp"
#include "model/plan/phase.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace prismopt {

namespace {

Problem problem_of(const Scenario& s, NoiseTables tables)
{
    Problem problem{s, std::move(tables)};
    problem.deviation = deviation_from(s.numerics.reference, numeric_choice(s.workload));
    problem.local = local_updates_of(s, s.workload, tokens_to_the_loss(s));
    return problem;
}

/// Whether this quantile of all that varies is at least its mean.
bool quantiles_reach_means_of(const Scenario& scenario, double probability)
{
    const auto of_lengths = [probability](const Phase& phase) {
        return !phase.lengths || quantiles_reach_means(*phase.lengths, phase.sequence, probability);
    };
    const std::vector<Phase> phases = every_phase(scenario);
    return quantiles_reach_means(scenario.variability, probability) &&
           std::all_of(phases.begin(), phases.end(), of_lengths);
}

/// Whether the bound of the objective is one of it under the distributions of the scenario.
bool is_bounded(const Scenario& scenario, const Objective& objective)
{
    return objective.bound != nullptr &&
           (objective.quantile == 0.0 || quantiles_reach_means_of(scenario, objective.quantile));
}

Keeping keeping_of(const Estimate& estimate, double most)
{
    if (estimate.simultaneous_low > most) {
        return Keeping::never;
    }
    if (estimate.simultaneous_high <= most) {
        return Keeping::surely;
    }
    return estimate.value <= most ? Keeping::by_value : Keeping::not_by_value;
}

/// The smallest probability, of at least a half, of which all quantiles are at least their means; one
/// if the promised one is smaller.
double least_reaching_quantile(const Scenario& scenario)
{
    const auto is_too_small = [&](double probability) {
        return !quantiles_reach_means_of(scenario, probability);
    };
    const double promised = scenario.promise.probability;
    if (is_too_small(promised)) {
        return 1.0;
    }
    return bisect({0.5, promised}, {.width = 1e-3}, is_too_small).high;
}

}  // namespace

NoiseTables tables_of(const Scenario& scenario)
{
    return build_noise_tables(scenario.variability, layer_groups(scenario));
}

NoiseTables tables_of(const Scenario& scenario, const std::vector<ParallelPlan>& plans)
{
    std::vector<int> groups;
    for (const ParallelPlan& plan : plans) {
        for (const Phase& phase : every_phase(scenario)) {
            const ParallelPlan here = plan_in_phase(plan, phase);
            groups.push_back(here.tp * here.cp);
        }
    }
    return build_noise_tables(scenario.variability, groups);
}

StudyModel::StudyModel(const Scenario& of, NoiseTables tables)
    : scenario(of), problem(problem_of(of, std::move(tables))), designs(of)
{
    for (const std::string& objective : of.objectives) {
        const Objective* found = find_objective(objective);
        objectives.push_back(found);
        bounded.push_back(is_bounded(of, *found));
        if (!near_objective && bounded.back() && found->scales != ScalesWith::nothing) {
            near_objective = objectives.size() - 1;
        }
    }
    for (const auto& [objective, most] : of.question ? limits_of(*of.question, of.start) : QuestionLimits{}) {
        const Objective* found = find_objective(objective);
        limits.push_back({found, most, is_bounded(of, *found)});
    }
    if (of.promise.asked()) {
        problem.promise_quantiles = promise_quantiles(of.promise, least_reaching_quantile(of));
    }
    name_machines();
    skewness = largest_skewness(of.variability);
    for (const Phase& phase : every_phase(of)) {
        skewness =
            std::max(skewness, phase.lengths ? skewness_of_squares(*phase.lengths, phase.sequence) : 0.0);
    }
}

/// In the order of their variants.
void StudyModel::name_machines()
{
    for (const ChosenValues& values : scenario.variants) {
        const std::string name = machine_text(scenario.choices, values);
        const auto found = std::find(machines_.begin(), machines_.end(), name);
        const auto* cluster = chosen<ChosenCluster>(values);
        const auto* network = chosen<TrainedNetwork>(values);
        at_variant_.push_back({.cluster = cluster != nullptr ? cluster->number : 0,
                               .machine = static_cast<std::size_t>(found - machines_.begin()),
                               .network = network != nullptr ? network->number : 0});
        if (found == machines_.end()) {
            machines_.push_back(name);
        }
    }
}

std::size_t StudyModel::cell(std::size_t variant) const
{
    return at_variant_[variant].machine * scenario.workloads.size() + at_variant_[variant].network;
}

std::vector<Estimate> StudyModel::values(const Prediction& prediction) const
{
    std::vector<Estimate> values;
    for (const Objective* objective : objectives) {
        values.push_back(objective->value(prediction));
    }
    return values;
}

std::vector<double> StudyModel::bounds_of(const NoiseFree& bound) const
{
    std::vector<double> result;
    for (std::size_t k = 0; k < objectives.size(); ++k) {
        result.push_back(bounded[k] ? objectives[k]->bound(bound) : -std::numeric_limits<double>::infinity());
    }
    return result;
}

std::uint64_t StudyModel::region(const ParallelPlan& plan, std::size_t variant) const
{
    if (!scenario.served.empty()) {
        return cell(variant);
    }
    const std::size_t clusters = std::max<std::size_t>(1, scenario.machines.size());
    return static_cast<std::uint64_t>(plan.gpus()) * clusters + at_variant_[variant].cluster;
}

std::uint64_t StudyModel::region(std::uint64_t index) const
{
    const Point point = designs.space().point(index);
    return region(designs.plan(point), designs.variant(point));
}

std::size_t StudyModel::position_of(std::string_view objective) const
{
    const auto found = std::find(objectives.begin(), objectives.end(), find_objective(objective));
    return static_cast<std::size_t>(found - objectives.begin());
}

bool StudyModel::limits_promise() const
{
    return std::any_of(limits.begin(), limits.end(),
                       [](const Limit& limit) { return limit.objective == find_objective("promised_time"); });
}

bool StudyModel::beyond_limits(const NoiseFree& bound) const
{
    return std::any_of(limits.begin(), limits.end(), [&](const Limit& limit) {
        return limit.bounded && limit.objective->bound(bound) > limit.most;
    });
}

Keeping StudyModel::keeping(const Prediction& prediction) const
{
    Keeping keeping = Keeping::surely;
    for (const Limit& limit : limits) {
        keeping = std::max(keeping, keeping_of(limit.objective->value(prediction), limit.most));
    }
    return keeping;
}

/// A seed of its own makes a round independent of all others: the generator is keyed by it.
SamplerOptions StudyModel::sampler(const DrawSource& source) const
{
    // 2^64 over the golden ratio: seeds of rounds stay apart
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
    return {scenario.seed + golden * static_cast<std::uint64_t>(source.round), source.purpose,
            scenario.search.replicas_simulated};
}

}  // namespace prismopt
