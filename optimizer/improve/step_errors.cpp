#include "optimizer/improve/step_errors.hpp"

#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/scenario/reading/scaled_cluster.hpp"
#include "io/scenario/scenario.hpp"
#include "model/calibration/posterior/step_posterior.hpp"
#include "model/predictor.hpp"
#include "optimizer/accuracy/possible_software.hpp"
#include "optimizer/accuracy/step_gradients.hpp"
#include "optimizer/study/plan_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace prismopt {

namespace {

/// What was learned of a plan on the cluster, by the constants of the fit.
StepObservation observation_of(const LearnedStep& step, const FittedModel& fitted, int job)
{
    StepObservation observation{{traits_of(step.plan), std::vector<double>(fitted.constants.size(), 0.0),
                                 job},
                                step.log_ratio,
                                step.deviation};
    for (std::size_t k = 0; k < fitted.constants.size(); ++k) {
        for (const auto& [name, slope] : step.gradient) {
            observation.plan.gradient[k] += name == name_of(fitted.constants[k]) ? slope : 0.0;
        }
    }
    return observation;
}

/// Learned steps that do not contradict the others. The network of the problem is job 0.
std::vector<StepObservation> learned_observations(const Learned& learned, const std::string& network,
                                                  const FittedModel& fitted)
{
    std::vector<StepObservation> observations;
    std::vector<std::string> jobs{network};
    for (const LearnedStep& step : learned.steps) {
        if (std::find(jobs.begin(), jobs.end(), step.network) == jobs.end()) {
            jobs.push_back(step.network);
        }
        const auto job = std::find(jobs.begin(), jobs.end(), step.network) - jobs.begin();
        if (!step.own_plan_only) {
            observations.push_back(observation_of(step, fitted, static_cast<int>(job)));
        }
    }
    return observations;
}

}  // namespace

std::vector<double> step_error_draws(const Scenario& scenario, const Problem& problem,
                                     std::span<const ParallelPlan> plans,
                                     const std::optional<MeasuredStep>& measured)
{
    const FittedModel fitted = fitted_model();
    const Phase& first = problem.phases.front();
    const Setting setting = without_memory_limit(setting_of(problem, first));
    const Cluster catalog = without_learned(problem.cluster);
    const Setting by_catalog{problem.workload,     first,         catalog, problem.noise,
                             setting.memory_limit, setting.orders};
    StepGradients gradients(by_catalog, fitted);
    std::vector<PlanOfPosterior> known;
    std::vector<double> shifts;  // logarithm of the scenario's prediction over the catalog's
    for (const ParallelPlan& plan : plans) {
        const ParallelPlan here = plan_in_phase(plan, first);
        known.push_back({traits_of(here), gradients.of(here)});
        const auto own = scenario.learned.empty() ? std::nullopt : log_noise_free_step(setting, here);
        const auto of_catalog = own ? gradients.log_step(here) : std::nullopt;
        shifts.push_back(of_catalog ? *own - *of_catalog : 0.0);
    }
    std::vector<StepObservation> observations =
        learned_observations(scenario.learned, problem.workload.name, fitted);
    if (measured) {
        observations.push_back(
            {known.front(), std::log(measured->measured_s / measured->predicted_s) + shifts.front()});
    }
    const bool anything_measured = !observations.empty();
    const StepPosterior posterior(widened_covariance(fitted, kind_of(problem.workload, problem.cluster)),
                                  catalog_discrepancy(), std::move(observations));
    std::vector<double> draws = posterior.draw(known, posterior_draws, scenario.seed, {});
    StepsBySoftware by_software(setting);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const std::vector<PossibleSoftware>& possible = problem.cluster.possible;
        const bool unknown_software = !possible.empty() && !anything_measured;
        const auto ratios = unknown_software ? by_software.log_ratios(plan_in_phase(plans[i], first))
                                             : std::vector<std::optional<double>>{};
        for (std::size_t d = 0; d < posterior_draws; ++d) {
            double& draw = draws[d * plans.size() + i];
            draw -= shifts[i];
            draw += unknown_software ? ratios[drawn_software(possible, d)].value_or(0.0) : 0.0;
        }
    }
    return draws;
}

}  // namespace prismopt
