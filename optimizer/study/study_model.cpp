#include "optimizer/study/study_model.hpp"

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
    return quantiles_reach_means(scenario.variability, probability) &&
           std::all_of(scenario.phases.begin(), scenario.phases.end(), of_lengths);
}

}  // namespace

NoiseTables tables_of(const Scenario& scenario) { return build_noise_tables(scenario.variability, layer_groups(scenario)); }

NoiseTables tables_of(const Scenario& scenario, const std::vector<ParallelPlan>& plans)
{
    std::vector<int> groups;
    for (const ParallelPlan& plan : plans) {
        for (const Phase& phase : scenario.phases) {
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
        bounded.push_back(found->bound != nullptr && (found->quantile == 0.0 || quantiles_reach_means_of(of, found->quantile)));
        if (!near_objective && bounded.back() && found->scales != ScalesWith::nothing) {
            near_objective = objectives.size() - 1;
        }
    }
    skewness = largest_skewness(of.variability);
    for (const Phase& phase : of.phases) {
        skewness = std::max(skewness, phase.lengths ? skewness_of_squares(*phase.lengths, phase.sequence) : 0.0);
    }
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

/// A seed of its own makes a round independent of all others: the generator is keyed by it.
SamplerOptions StudyModel::sampler(const DrawSource& source) const
{
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: seeds of rounds stay apart
    return {scenario.seed + golden * static_cast<std::uint64_t>(source.round), source.purpose,
            scenario.search.replicas_simulated};
}

}  // namespace prismopt
