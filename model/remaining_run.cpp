#include "model/remaining_run.hpp"

#include "model/plan/node_order.hpp"
#include "model/predictor.hpp"
#include "model/run/drift.hpp"
#include "model/run_outlook.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace prismopt {

namespace {

constexpr std::size_t histories = 8192;
/// Failures of all histories, which take some seconds. A longer run has fewer histories, whose times differ
/// less in relation, and one too long for the least number is said to take about its mean.
constexpr double most_failures = 1e8;
constexpr double least_histories = 128.0;

FailureModel failures_of(const Problem& problem, const ParallelPlan& plan)
{
    return failure_model(problem.reliability, job_size(plan, nodes_used(plan, problem.cluster)));
}

/// Expected time of the parts as if failures were independent, and their number.
struct Outline {
    double seconds = 0.0;
    double failures = 0.0;
};
Outline outline_of(const std::vector<RunSegment>& segments, const std::vector<double>& segment_s)
{
    Outline outline;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const double seconds = expected_training_time(segment_s[i], segments[i].model);
        const auto& sources = segments[i].model.sources;
        const double rate =
            std::accumulate(sources.begin(), sources.end(), 0.0,
                            [](double sum, const FailureModel::Source& source) { return sum + source.rate; });
        outline.seconds += seconds;
        outline.failures += rate * seconds;
    }
    return outline;
}

}  // namespace

std::size_t phase_of_step(const std::vector<Phase>& phases, double steps_done)
{
    std::size_t phase = 0;
    for (double end = phases.front().steps(); phase + 1 < phases.size() && steps_done >= end;
         end += phases[phase].steps()) {
        ++phase;
    }
    return phase;
}

RemainingRun remaining_run(const Problem& problem, const ParallelPlan& plan,
                           const std::vector<double>& phase_step_s, const JobSoFar& job,
                           const SamplerOptions& options)
{
    const std::vector<Phase> phases = phases_of_plan(problem, plan);
    RemainingRun result;
    const ParallelPlan now = plan_in_phase(plan, phases[phase_of_step(phases, job.steps_done)]);
    result.expected_failures = failures_of(problem, now).rate() * job.trained_s;
    if (job.failures) {
        result.rate_factor = (prior_failures + *job.failures) / (prior_failures + result.expected_failures);
    }

    std::vector<RunSegment> segments;
    std::vector<double> segment_s;
    double end = 0.0;
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        end += phases[phase].steps();
        const double steps = std::clamp(end - job.steps_done, 0.0, phases[phase].steps());
        if (steps <= 0.0) {
            continue;
        }
        result.steps += steps;
        const ParallelPlan here = plan_in_phase(plan, phases[phase]);
        if (segments.empty() || segments.back().gpus != here.gpus()) {
            segments.push_back({failures_of(problem, here), here.gpus(), {}});
            for (FailureModel::Source& source : segments.back().model.sources) {
                source.rate *= source.planned ? 1.0 : result.rate_factor;
            }
            segment_s.push_back(0.0);
        }
        segment_s.back() += steps * phase_step_s[phase] * job.speed;
    }
    if (segments.empty()) {
        result.seconds.assign(histories, 0.0);
        return result;
    }
    const double all_s = std::accumulate(segment_s.begin(), segment_s.end(), 0.0);
    const double cv = std::hypot(job.speed_error, mean_drift_cv(problem.reliability.drift, all_s));
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (run_problem(segments[i].model, segment_s[i])) {
            return result;
        }
    }
    const Outline outline = outline_of(segments, segment_s);
    const double affordable = std::floor(most_failures / std::max(1.0, outline.failures));
    if (!(affordable >= least_histories)) {
        result.about_s = outline.seconds;
        return result;
    }
    const auto count = static_cast<std::uint32_t>(std::min(static_cast<double>(histories), affordable));
    for (std::size_t i = 0; i < segments.size(); ++i) {
        for (std::uint32_t history = 0; history < count; ++history) {
            segments[i].productive_s.push_back(
                segment_s[i] * std::max(0.0, drift_factor(cv, problem.noise.scores, options.seed,
                                                          options.purpose, history)));
        }
    }
    FailureTables tables(problem.noise.exponential);
    result.seconds = sample_histories(segments, all_causes(problem.reliability).size(), tables, options.seed,
                                      options.purpose)
                         .seconds;
    std::sort(result.seconds.begin(), result.seconds.end());
    return result;
}

}  // namespace prismopt
