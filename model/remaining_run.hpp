#pragma once

/// Time until a running job is done, from its own speed and the failures so far. docs/methods/watch.md.

#include <optional>
#include <vector>

namespace prismopt {

struct ParallelPlan;
struct Phase;
struct Problem;
struct SamplerOptions;

/// What is known of a running job.
struct JobSoFar {
    double steps_done = 0.0;
    double speed = 1.0;                // measured over predicted step time
    double speed_error = 0.0;          // standard error of its logarithm
    double trained_s = 0.0;            // time that the steps took, those done again included
    std::optional<double> failures{};  // in that time; nothing: not known, and the scenario's rate stays
};

struct RemainingRun {
    double steps = 0.0;
    double expected_failures = 0.0;  // in the time so far, by the scenario
    double rate_factor = 1.0;        // of the failure rates, from the failures so far
    std::vector<double> seconds;     // by history, ascending; empty: the run never ends, or
    double about_s = 0.0;            // takes so long that no histories are drawn
};

/// The failures of a job so far and their rate: the mean of a gamma distribution of the rate with mean one
/// and this shape, after Poisson counts (Gelman et al., Bayesian Data Analysis, 3rd ed., section 2.6). Its
/// standard deviation of 50 % is an assumption, after published rates of similar clusters that differ by
/// about a factor of two (arXiv 2407.21783, 2410.21680).
inline constexpr double prior_failures = 4.0;

/// `phase_step_s`: predicted mean step times, [phase].
RemainingRun remaining_run(const Problem& problem, const ParallelPlan& plan,
                           const std::vector<double>& phase_step_s, const JobSoFar& job,
                           const SamplerOptions& options);

/// Phase of the step after so many, [0, phases).
std::size_t phase_of_step(const std::vector<Phase>& phases, double steps_done);

}  // namespace prismopt
