#include "optimizer/study/measured_plans.hpp"

#include "io/base/input_error.hpp"
#include "io/words/infeasible_text.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

/// Plans of one job share the error of their source (catalog: discrepancy.toml): plans of a
/// network and, where clusters are alternatives, on one accelerator with one software. Between
/// accelerators that error does not cancel.
std::string job_name(const Scenario& scenario, const Job& job)
{
    const Cluster& cluster = job.cluster;
    return scenario.machines.empty() ? job.workload.name
                                     : fmt::format("{} on {} with {}", job.workload.name,
                                                   cluster.accelerator.name, cluster.stack.name);
}

int position_of(const std::string& name, std::vector<std::string>& names)
{
    const auto found = std::find(names.begin(), names.end(), name);
    const auto position = static_cast<int>(found - names.begin());
    if (found == names.end()) {
        names.push_back(name);
    }
    return position;
}

/// What may be written of a measured step.
LearnedStep step_of(const StudyModel& model, const Point& point, VariantGradients& gradients,
                    const PlanOfPosterior& known)
{
    LearnedStep step =
        unmeasured_step(model.designs, point, gradients.bench().problem(model.designs.variant(point)));
    for (std::size_t k = 0; k < known.gradient.size(); ++k) {
        if (known.gradient[k] != 0.0) {
            step.gradient.emplace_back(name_of(gradients.fitted().constants[k]), known.gradient[k]);
        }
    }
    return step;
}

bool same_measurement(const LearnedStep& a, const LearnedStep& b)
{
    return a.network == b.network && a.design == b.design && a.measured_s == b.measured_s;
}

/// As the problem of a study, for plans that ran although their predicted memory is too large.
Problem without_memory_limit(Problem problem)
{
    problem.memory_limit = without_limit(problem.memory_limit);
    return problem;
}

/// Predictions of measured plans, by index.
class Predictions {
public:
    Predictions(const StudyModel& model, HardwareBench& limited)
        : model_(model), limited_(limited), any_memory_(without_memory_limit(model.problem)),
          unlimited_(model.scenario, any_memory_)
    {
    }

    /// The predicted peak of the fullest GPU, as a share of the accelerator's memory.
    double memory_share(std::uint64_t index)
    {
        const Point point = model_.designs.space().point(index);
        const auto found = bound(point);
        const auto* plan = std::get_if<NoiseFree>(&found);
        return plan == nullptr ? std::numeric_limits<double>::infinity()
                               : plan->memory_bytes / capacity(point);
    }

    double capacity(const Point& point)
    {
        return limited_.problem(model_.designs.variant(point)).cluster.accelerator.memory.si;
    }

    /// The mean of the first phase's steps, in seconds.
    double mean_step(std::uint64_t index)
    {
        const auto known = means_.find(index);
        if (known != means_.end()) {
            return known->second;
        }
        constexpr DrawRange range{0, 64, 4};
        const Point point = model_.designs.space().point(index);
        const auto found = bound(point);
        if (const auto* refusal = std::get_if<Infeasible>(&found)) {
            throw InputError(
                fmt::format("point {} was measured, but is infeasible for this study: {}; correct the "
                            "scenario, and search again",
                            index, infeasible_text(*refusal)));
        }
        const std::vector<double> steps = bench(point)
                                              .of(model_.designs.variant(point))
                                              .sample(model_.designs.plan(point), range, model_.sampler({}))
                                              .front();
        return means_[index] =
                   std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
    }

    /// The smallest and the largest coefficient of variation of the first phase's
    /// steps, on 64 random sets of GPUs.
    std::pair<double, double> variation(std::uint64_t index, int steps)
    {
        const DrawRange range{0, block_fleets, steps};
        const Point point = model_.designs.space().point(index);
        const std::vector<double> all = bench(point)
                                            .of(model_.designs.variant(point))
                                            .sample(model_.designs.plan(point), range, model_.sampler({}))
                                            .front();
        std::pair<double, double> result{std::numeric_limits<double>::infinity(), 0.0};
        for (auto begin = all.begin(); begin != all.end(); begin += steps) {
            const double own = variation_of({begin, begin + steps});
            result = {std::min(result.first, own), std::max(result.second, own)};
        }
        return result;
    }

private:
    /// The one on which the plan fits into memory.
    HardwareBench& bench(const Point& point)
    {
        const auto found = limited_.of(model_.designs.variant(point)).bound(model_.designs.plan(point));
        const auto* refusal = std::get_if<Infeasible>(&found);
        return refusal != nullptr && refusal->reason() == Reason::out_of_memory ? unlimited_ : limited_;
    }
    std::variant<NoiseFree, Infeasible> bound(const Point& point)
    {
        return bench(point).of(model_.designs.variant(point)).bound(model_.designs.plan(point));
    }

    const StudyModel& model_;
    HardwareBench& limited_;
    Problem any_memory_;
    HardwareBench unlimited_;
    std::map<std::uint64_t, double> means_;
};

void refuse_mistakes(const MeasuredPlan& plan, double predicted_s, double capacity)
{
    if (plan.step_s > 0.0 &&
        std::abs(std::log(plan.step_s / predicted_s)) > std::log(largest_measured_ratio)) {
        throw InputError(
            fmt::format("point {}: the measured step of {:.4g} s is {:.3g} times the predicted {:.4g} s; "
                        "give seconds per step of the "
                        "whole job, or check that the scenario describes what ran",
                        plan.index, plan.step_s, plan.step_s / predicted_s, predicted_s));
    }
    if (plan.memory_bytes > capacity) {
        constexpr double gigabyte = 1e9;
        throw InputError(
            fmt::format("point {}: a peak of {:.4g} GB is more than the {:.4g} GB of the accelerator; give "
                        "the peak of one GPU",
                        plan.index, plan.memory_bytes / gigabyte, capacity / gigabyte));
    }
}

/// Adds what a plan says about memory, and returns how surprising that was.
double add_memory(Measurements& known, const MeasuredPlan& plan, LearnedTrial trial, double share,
                  double capacity)
{
    trial.ran = !plan.out_of_memory;
    const bool has_peak = plan.memory_bytes > 0.0;
    const auto says_as_much = [&trial, has_peak](const LearnedTrial& other) {
        const bool same =
            other.network == trial.network && other.design == trial.design && other.ran == trial.ran;
        return same && (std::isnan(other.limit) || !has_peak);
    };
    const bool known_before = std::any_of(known.trials.begin(), known.trials.end(), says_as_much);
    const double fits_below = -std::log(share);
    if (known_before || !std::isfinite(fits_below)) {
        return absent;
    }
    const double limit = surprise(known.memory, fits_below, 0.0);
    if (has_peak) {
        const double log_ratio = std::log(plan.memory_bytes / (share * capacity));
        const double surprising = surprise(known.memory, log_ratio, measured_memory_noise);
        known.memory = after(std::move(known.memory), log_ratio, measured_memory_noise);
        known.trials.push_back(std::move(trial));
        return surprising;
    }
    trial.limit = fits_below;
    std::vector<double>& limits = trial.ran ? known.memory.ran : known.memory.failed;
    limits.push_back(fits_below);
    known.trials.push_back(std::move(trial));
    const bool expected = plan.out_of_memory == (limit < 0.0);  // it needed what was predicted
    return expected ? absent : limit;
}

}  // namespace

double variation_of(const std::vector<double>& steps)
{
    const auto n = static_cast<double>(steps.size());
    const double mean = std::accumulate(steps.begin(), steps.end(), 0.0) / n;
    const double squares = std::accumulate(steps.begin(), steps.end(), 0.0, [mean](double sum, double step) {
        return sum + (step - mean) * (step - mean);
    });
    return steps.size() > 1 ? std::sqrt(squares / (n - 1.0)) / mean : 0.0;
}

LearnedStep unmeasured_step(const DesignMap& designs, const Point& point, const Problem& problem)
{
    const Phase& first = problem.phases.front();
    LearnedStep step;
    step.network = problem.workload.name;
    step.plan = plan_in_phase(designs.plan(point), first);
    step.design = design_text(step.plan);
    step.hardware = designs.variant_words(point);
    step.sequence = first.sequence;
    step.global_batch = first.global_batch;
    return step;
}

PlanOfPosterior known_of(const StudyModel& model, const Point& point, const Problem& problem,
                         std::vector<double> gradient, std::vector<std::string>& jobs)
{
    const ParallelPlan first = plan_in_phase(model.designs.plan(point), problem.phases.front());
    return {traits_of(first), std::move(gradient), position_of(job_name(model.scenario, problem), jobs)};
}

void add_measured(Measurements& known, const std::vector<MeasuredPlan>& measured, const StudyModel& model,
                  VariantGradients& gradients, std::vector<std::string>& jobs, double repeat)
{
    constexpr int fewest_steps = 10;
    constexpr int most_steps = 64;
    const auto earlier = static_cast<std::ptrdiff_t>(known.steps.size());
    for (const LearnedStep& step : known.steps) {
        position_of(step.network, jobs);
    }
    Predictions predictions(model, gradients.bench());
    std::map<std::uint64_t, LearnedStep> plans;  // by index, without what was measured
    for (const MeasuredPlan& plan : measured) {
        const Point point = model.designs.space().point(plan.index);
        const std::size_t variant = model.designs.variant(point);
        const double capacity = predictions.capacity(point);
        MeasuredAndPredicted row;
        row.measured = plan;
        row.predicted_s = plan.step_s > 0.0 ? predictions.mean_step(plan.index) : absent;
        row.memory_share = predictions.memory_share(plan.index);
        row.measured_memory_share = plan.memory_bytes > 0.0 ? plan.memory_bytes / capacity : absent;
        row.surprise = absent;
        refuse_mistakes(plan, row.predicted_s, capacity);
        if (plan.steps >= fewest_steps) {
            std::tie(row.variation_low, row.variation_high) =
                predictions.variation(plan.index, std::min(plan.steps, most_steps));
        }
        LearnedTrial trial;
        trial.network = gradients.bench().problem(variant).workload.name;
        trial.design = design_text(model.designs.plan(point));
        row.memory_surprise = add_memory(known, plan, std::move(trial), row.memory_share, capacity);
        std::size_t position = Measurements::no_step;
        if (plan.step_s > 0.0) {
            if (!plans.contains(plan.index)) {
                const ParallelPlan first = plan_in_phase(model.designs.plan(point), gradients.phase(variant));
                std::vector<double> gradient = gradients.of(variant).of(first);
                const Problem& problem = gradients.bench().problem(variant);
                plans.emplace(plan.index,
                              step_of(model, point, gradients,
                                      known_of(model, point, problem, std::move(gradient), jobs)));
            }
            LearnedStep step = plans.at(plan.index);
            step.measured_s = plan.step_s;
            step.log_ratio = std::log(plan.step_s / row.predicted_s) + gradients.shift(variant, step.plan);
            step.deviation = std::hypot(plan.deviation, repeat);
            const auto end = known.steps.begin() + earlier;
            const auto found = std::find_if(known.steps.begin(), end, [&step](const LearnedStep& other) {
                return same_measurement(step, other);
            });
            position =
                found == end ? known.steps.size() : static_cast<std::size_t>(found - known.steps.begin());
            if (found == end) {
                known.steps.push_back(std::move(step));
            }
        }
        known.rows.push_back(row);
        known.step_of_row.push_back(position);
    }
}

}  // namespace prismopt
