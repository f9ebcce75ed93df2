#include "model/predictor.hpp"

#include "model/phase_plan.hpp"
#include "model/run/drift.hpp"
#include "model/run/histories.hpp"
#include "model/step/mean_step.hpp"
#include "model/step/node_order.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace prismopt {

namespace {

/// What the sampler's single precision may lose over a step of a million ops; a bound must stay below it.
constexpr double single_precision = 1e-5;

constexpr double longest_run_s = 1e3 * 365.0 * 86400.0;

double mean_of(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// `factor`: equally probable values of what scales all of a draw and was not drawn; empty: nothing does.
TimeDistribution distribution(const std::vector<double>& draws, const Clusters& clusters, std::span<const LawNode> factor,
                              const Confidence& confidence)
{
    const auto quantile = [&](double p) {
        return factor.empty() ? quantile_estimate(draws, clusters, p, confidence)
                              : scaled_quantile_estimate(draws, clusters, factor, p, confidence);
    };
    TimeDistribution d;
    d.mean = mean_estimate(draws, clusters, confidence);  // the factor's mean is one
    d.p50 = quantile(0.50);
    d.p95 = quantile(0.95);
    d.p99 = quantile(0.99);
    for (const double p : reported_probabilities) {
        d.quantiles.push_back(quantile(p).value);
    }
    return d;
}

/// Productive seconds of the whole run by fleet, free of the noise of averaging few steps, and what that leaves uncertain.
struct ProductiveTimes {
    std::vector<double> seconds;  // [fleet]
    double mean = 0.0;
    double mean_variance = 0.0;     // of `mean`, beyond what the scatter of `seconds` shows
    double shrink_deviation = 0.0;  // standard error of the factor by which deviations were shrunk, relative to it
    double deviation = 0.0;         // of `seconds`
};

ProductiveTimes productive_times(const std::vector<Phase>& phases, const PhaseDraws& draws, int steps)
{
    const std::size_t fleets = draws.front().size() / steps;
    std::vector<double> productive(fleets, 0.0);
    double within = 0.0;  // mean over fleets of the variance of a step; phases share their draws, so theirs do not simply add up
    std::vector<double> step(static_cast<std::size_t>(steps));
    for (std::size_t f = 0; f < fleets; ++f) {
        std::fill(step.begin(), step.end(), 0.0);
        for (std::size_t phase = 0; phase < phases.size(); ++phase) {
            for (std::size_t k = 0; k < step.size(); ++k) {
                step[k] += phases[phase].steps() * draws[phase][f * step.size() + k];
            }
        }
        productive[f] = mean_of(step);
        for (const double s : step) {
            within += (s - productive[f]) * (s - productive[f]) / std::max(1, steps - 1) / static_cast<double>(fleets);
        }
    }
    const double noise_variance = within / steps;
    ProductiveTimes result;
    result.mean = mean_of(productive);
    const auto count = static_cast<double>(std::max<std::size_t>(2, fleets));
    double total_variance = 0.0;
    for (const double p : productive) {
        total_variance += (p - result.mean) * (p - result.mean) / (count - 1.0);
    }
    const double mean_deviation = fleets > 1 ? mean_error(productive, {1, block_fleets}) : 0.0;
    const double noise_share = total_variance > 0.0 ? std::min(1.0, noise_variance / total_variance) : 0.0;
    const double shrink = std::sqrt(1.0 - noise_share);
    for (double& p : productive) {
        p = result.mean + shrink * (p - result.mean);
    }
    result.seconds = std::move(productive);
    result.mean_variance = noise_share * mean_deviation * mean_deviation;
    // Both variances have relative errors sqrt(2 / degrees of freedom); shrink^2 = 1 - noise / total.
    const double share_error = noise_share * std::sqrt(2.0 / count + 2.0 / (count * std::max(1, steps - 1)));
    const double smallest = std::sqrt(share_error);  // what cannot be told from zero
    result.shrink_deviation = std::min(1.0, 0.5 * share_error / std::pow(std::max({shrink, smallest, 1e-12}), 2));
    result.deviation = std::max(shrink, smallest) * std::sqrt(total_variance);
    return result;
}

/// Of the productive time, by the mean steps.
std::vector<double> phase_shares(const std::vector<Phase>& phases, const PhaseDraws& draws)
{
    std::vector<double> shares;
    double sum = 0.0;
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        shares.push_back(phases[phase].steps() * mean_of(draws[phase]));
        sum += shares.back();
    }
    for (double& share : shares) {
        share /= sum;
    }
    return shares;
}

/// The speed of the whole job changes slowly: each fleet has its own mean of that over the run.
void drift(ProductiveTimes& productive, const Problem& problem, const SamplerOptions& options)
{
    const double cv = mean_drift_cv(problem.reliability.drift, productive.mean);
    for (std::size_t f = 0; cv > 0.0 && f < productive.seconds.size(); ++f) {
        productive.seconds[f] *=
            drift_factor(cv, problem.noise.scores, options.seed, options.purpose, static_cast<std::uint32_t>(f));
    }
}

/// Limits of a training-time estimate, wider by an independent error of this standard deviation.
Estimate widened(const Estimate& e, double deviation, const Confidence& confidence)
{
    const boost::math::normal z;
    const auto limit = [&](double value, double level) {
        const double error = deviation * boost::math::quantile(boost::math::complement(z, 0.5 * (1.0 - level)));
        return std::hypot(value - e.value, error);
    };
    return {e.value, e.value - limit(e.low, confidence.reported), e.value + limit(e.high, confidence.reported),
            e.value - limit(e.safe_low, confidence.safe), e.value + limit(e.safe_high, confidence.safe)};
}

int spare_gpus(const FailureModel& model, const Cluster& cluster)
{
    return model.spares == enough_spares ? 0 : model.spares * cluster.gpus_per_node();
}

/// Checkpoints that do not suit the run.
std::optional<Infeasible> run_problem(const RunPart& part, const ParallelPlan& plan, const Problem& problem, double productive_s)
{
    const FailureModel& model = part.model;
    const bool given = plan.checkpoint_interval.si > 0.0 || problem.reliability.checkpoint_interval.si > 0.0;
    if (given && model.interval_s > productive_s) {
        return Infeasible{"checkpoint interval longer than the run",
                          std::to_string(std::lround(model.interval_s)) + " s for a run of " +
                              std::to_string(std::lround(productive_s)) + " s; give a shorter one, or 0 s for Young's",
                          model.interval_s - productive_s};
    }
    if (model.interval_s < model.lag_s) {
        return Infeasible{"checkpoints overlap",
                          "a write takes " + std::to_string(std::lround(model.lag_s)) + " s, longer than the interval of " +
                              std::to_string(std::lround(model.interval_s)) + " s; lengthen the interval",
                          model.lag_s - model.interval_s};
    }
    return std::nullopt;
}

/// Share of runs beyond the deadline, with Clopper and Pearson's limits (Biometrika 26 (1934) 404-413): exact for independent runs.
Estimate share_beyond(const std::vector<double>& runs, double deadline, const Confidence& confidence)
{
    const auto late = static_cast<double>(std::count_if(runs.begin(), runs.end(), [=](double t) { return t > deadline; }));
    const auto count = static_cast<double>(runs.size());
    using Law = boost::math::binomial;
    const auto low = [&](double level) { return Law::find_lower_bound_on_p(count, late, 0.5 * (1.0 - level)); };
    const auto high = [&](double level) { return Law::find_upper_bound_on_p(count, late, 0.5 * (1.0 - level)); };
    return {late / count, low(confidence.reported), high(confidence.reported), low(confidence.safe), high(confidence.safe)};
}

RunOutlook outlook(const Problem& problem, const FailureModel& model, const Histories& histories, const Prediction& result,
                   const Confidence& confidence)
{
    RunOutlook run;
    const std::vector<Cause> causes = all_causes(problem.reliability);
    for (std::size_t c = 0; c < causes.size(); ++c) {
        run.losses.push_back({causes[c].name, histories.cause[c]});
    }
    run.checkpoint_gpu_s = histories.checkpoint_gpu_s;
    const double rate = model.rate();
    constexpr double never = std::numeric_limits<double>::infinity();
    run.mean_time_between_failures_s = rate > 0.0 ? 1.0 / rate : never;
    run.interval_s = model.interval_s;
    run.young_s = rate > 0.0 ? young_interval(rate, model.stall_s) : never;
    run.daly_s = rate > 0.0 ? daly_interval(rate, model.stall_s) : never;
    run.optimal_s = rate > 0.0 ? optimal_interval(rate, model.stall_s) : never;
    run.spare_gpus = spare_gpus(model, problem.cluster);
    run.deadline = problem.deadline;
    if (problem.deadline.si > 0.0) {
        run.miss_probability = share_beyond(histories.seconds, problem.deadline.si, confidence);
    }
    const double held = result.gpus + run.spare_gpus;
    run.energy_j = held * power_per_gpu(problem.power, problem.cluster.accelerator.power).si * result.training.mean;
    run.carbon_kg = problem.power.carbon.si * run.energy_j;
    return run;
}

}  // namespace

std::vector<LawNode> common_step_law(const NoiseTables& noise)
{
    std::vector<LawNode> law;
    const std::vector<TailProbability> nodes = NoiseTables::step_node_probabilities();
    for (std::size_t i = 0; noise.step_varies && i < nodes.size(); ++i) {
        law.push_back({nodes[i].below(), noise.common_step[i]});
    }
    if (!law.empty()) {
        law.front().below = 0.0;
        law.back().below = 1.0;
    }
    return law;
}

Predictor::Predictor(const Problem& problem) : problem_(problem), failure_tables_(problem.noise.exponential)
{
    for (const Phase& phase : problem.phases) {
        compilers_.emplace_back(
            Setting{problem.workload, phase, problem.cluster, problem.noise, problem.memory_headroom, problem.orders});
    }
}

FailureModel Predictor::failures(const ParallelPlan& plan) const
{
    return failure_model(problem_.reliability,
                         {nodes_used(plan, problem_.cluster), plan.gpus(), plan.checkpoint_interval, plan.spares});
}

std::vector<RunPart> Predictor::parts(const ParallelPlan& plan, const std::vector<double>& productive_s,
                                      const std::vector<double>& share) const
{
    std::vector<RunPart> parts;
    std::vector<double> shares;
    for (std::size_t phase = 0; phase < share.size(); ++phase) {
        const ParallelPlan here = plan_in_phase(plan, problem_.phases[phase]);
        if (parts.empty() || parts.back().gpus != here.gpus()) {
            parts.push_back({failures(here), here.gpus(), {}});
            shares.push_back(0.0);
        }
        shares.back() += share[phase];
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].productive_s = productive_s;
        for (double& seconds : parts[i].productive_s) {
            seconds *= parts.size() > 1 ? shares[i] : 1.0;
        }
    }
    return parts;
}

int Predictor::most_gpus(const ParallelPlan& plan) const
{
    int most = 0;
    for (const Phase& phase : problem_.phases) {
        most = std::max(most, plan_in_phase(plan, phase).gpus());
    }
    return most;
}

std::variant<NoiseFree, Infeasible> Predictor::bound(const ParallelPlan& plan)
{
    NoiseFree bound;
    double productive_s = 0.0;
    std::vector<double> phase_s;
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        auto compiled = compilers_[phase].compile(plan_in_phase(plan, problem_.phases[phase]), CompileFor::noise_free_step);
        if (auto* refusal = std::get_if<Infeasible>(&compiled)) {
            return *refusal;
        }
        const auto& result = std::get<CompiledPlan>(compiled);
        const double step_s = noise_free_step(result.graph).step_s * (1.0 - single_precision);
        phase_s.push_back(problem_.phases[phase].steps() * step_s);
        productive_s += phase_s.back();
        bound.step_s = phase == 0 ? step_s : bound.step_s;
        bound.memory_bytes = std::max(bound.memory_bytes, result.memory.total().si);
    }
    for (double& share : phase_s) {
        share /= productive_s;
    }
    const std::vector<RunPart> run = parts(plan, {productive_s}, phase_s);
    for (const RunPart& part : run) {
        if (part.model.hopeless()) {
            return Infeasible{"run never ends", "failures come faster than checkpoints; shorten the checkpoint interval", 0.0};
        }
        if (auto refusal = run_problem(part, plan, problem_, productive_s)) {
            return *refusal;
        }
        bound.training_s += least_mean_training_time(part.productive_s.front(), part.model);
    }
    bound.gpus = most_gpus(plan);
    if (!(bound.training_s < longest_run_s)) {
        return Infeasible{"run never ends", "the mean training time is beyond a thousand years; check rates and bandwidths", 0.0};
    }
    const double held = bound.gpus + spare_gpus(run.front().model, problem_.cluster);
    bound.cost_usd = held * problem_.cluster.gpu_price.si * bound.training_s;
    bound.energy_j = held * power_per_gpu(problem_.power, problem_.cluster.accelerator.power).si * bound.training_s;
    bound.carbon_kg = problem_.power.carbon.si * bound.energy_j;
    return bound;
}

std::vector<PhaseDraws> Predictor::sample(std::span<const ParallelPlan> plans, const DrawRange& range,
                                          const SamplerOptions& options)
{
    std::vector<PhaseDraws> draws(plans.size());
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        std::vector<CompiledPlan> compiled;
        for (const ParallelPlan& plan : plans) {
            auto result = compilers_[phase].compile(plan_in_phase(plan, problem_.phases[phase]));
            if (auto* refusal = std::get_if<Infeasible>(&result)) {
                throw std::logic_error("an infeasible plan was to be sampled: " + refusal->detail);
            }
            compiled.push_back(std::get<CompiledPlan>(std::move(result)));
        }
        std::vector<const ExecutionGraph*> graphs;
        for (const CompiledPlan& plan : compiled) {
            graphs.push_back(&plan.graph);
        }
        auto seconds = sample_steps(graphs, problem_.noise, range, options);
        for (std::size_t i = 0; i < plans.size(); ++i) {
            draws[i].push_back(std::move(seconds[i]));
        }
    }
    return draws;
}

PhaseDraws Predictor::sample(const ParallelPlan& plan, const DrawRange& range, const SamplerOptions& options)
{
    return std::move(sample(std::span(&plan, 1), range, options).front());
}

std::vector<double> Predictor::training_times(const ParallelPlan& plan, const PhaseDraws& draws, int steps,
                                              const SamplerOptions& options, std::size_t section)
{
    const std::size_t fleets = draws.front().size() / static_cast<std::size_t>(steps);
    const std::size_t size = section > 0 ? section : fleets;
    ProductiveTimes productive;
    for (std::size_t first = 0; first + size <= fleets; first += size) {
        PhaseDraws part;
        for (const std::vector<double>& phase : draws) {
            const auto begin = phase.begin() + static_cast<std::ptrdiff_t>(first * steps);
            part.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size * steps));
        }
        const std::vector<double> seconds = productive_times(problem_.phases, part, steps).seconds;
        productive.seconds.insert(productive.seconds.end(), seconds.begin(), seconds.end());
    }
    productive.mean = mean_of(productive.seconds);
    drift(productive, problem_, options);
    const std::vector<RunPart> run = parts(plan, productive.seconds, phase_shares(problem_.phases, draws));
    return sample_histories(run, all_causes(problem_.reliability).size(), failure_tables_, options.seed, options.purpose).seconds;
}

Prediction Predictor::summarise(const ParallelPlan& plan, const PhaseDraws& draws, int steps, const SamplerOptions& options,
                                const Confidence& confidence)
{
    Prediction result;
    result.gpus = most_gpus(plan);
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        auto compiled = compilers_[phase].compile(plan_in_phase(plan, problem_.phases[phase]), CompileFor::noise_free_step);
        if (auto* refusal = std::get_if<Infeasible>(&compiled)) {
            result.infeasible = *refusal;
            return result;
        }
        const auto& plan_of_phase = std::get<CompiledPlan>(compiled);
        if (phase == 0) {
            const NoiseFreeStep noise_free = noise_free_step(plan_of_phase.graph);
            result.noise_free_step_s = noise_free.step_s;
            result.shares = noise_free.shares;
        }
        if (phase == 0 || plan_of_phase.memory.total() > result.memory.total()) {
            result.memory = plan_of_phase.memory;
        }
    }
    result.memory_headroom = 1.0 - result.memory.total() / problem_.cluster.accelerator.memory;
    result.draws = draws.front().size();
    const auto fleet = static_cast<std::size_t>(steps);
    result.step = distribution(draws.front(), {fleet, block_fleets * fleet}, common_step_law(problem_.noise), confidence);

    ProductiveTimes productive = productive_times(problem_.phases, draws, steps);
    drift(productive, problem_, options);
    const std::vector<RunPart> run = parts(plan, productive.seconds, phase_shares(problem_.phases, draws));
    const Histories histories =
        sample_histories(run, all_causes(problem_.reliability).size(), failure_tables_, options.seed, options.purpose);
    const std::vector<double>& training = histories.seconds;
    result.training = distribution(training, {1, block_fleets}, {}, confidence);  // a run's many steps average their factors
    // The limits above take the shrunk times as given; their mean and the shrinking have errors of their own.
    const double stretch = mean_of(training) / productive.mean;
    const auto widen = [&](Estimate& e, double normal_quantile) {
        const double shape = normal_quantile * productive.deviation * productive.shrink_deviation;
        e = widened(e, stretch * std::sqrt(productive.mean_variance + shape * shape), confidence);
    };
    widen(result.training.mean, 0.0);
    widen(result.training.p50, 0.0);
    widen(result.training.p95, 1.645);  // standard normal quantiles: size of the deviation that was shrunk
    widen(result.training.p99, 2.326);

    const Phase& first = problem_.phases.front();
    const double flops = model_flops_per_sequence(problem_.workload, first.sequence) * first.global_batch;
    result.tflops_per_gpu = flops / result.step.mean.value / plan.gpus() / 1e12;
    result.mfu = result.tflops_per_gpu * 1e12 / problem_.cluster.accelerator.peak_bf16.si;
    result.tokens_per_second = static_cast<double>(first.sequence) * first.global_batch / result.step.mean.value;
    result.ettr = productive.mean / result.training.mean.value;
    result.run = outlook(problem_, run.front().model, histories, result, confidence);
    const double price = (result.gpus + result.run.spare_gpus) * problem_.cluster.gpu_price.si;
    result.cost_usd = price * result.training.p99;
    result.expected_cost_usd = price * result.training.mean;
    return result;
}

}  // namespace prismopt
