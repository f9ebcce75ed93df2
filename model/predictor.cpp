#include "model/predictor.hpp"

#include "model/base/statistics.hpp"
#include "model/network/call_times.hpp"
#include "model/network/network.hpp"
#include "model/plan/node_order.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/placement.hpp"
#include "model/productive_times.hpp"
#include "model/run_outlook.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

/// A time is not negative, whatever its error: a lower limit is at least zero, and
/// zero where the draws support none.
Estimate of_time(Estimate e)
{
    e.low = std::max(0.0, e.low);
    e.simultaneous_low = std::max(0.0, e.simultaneous_low);
    return e;
}

/// `factor`: equally probable values of what scales all of a draw and was not drawn; empty: nothing does.
TimeDistribution distribution(const std::vector<double>& draws, const Clusters& clusters,
                              std::span<const DistributionNode> factor, std::span<const int> percents,
                              const Confidence& confidence)
{
    const auto quantile = [&](double p) {
        return of_time(factor.empty() ? quantile_estimate(draws, clusters, p, confidence)
                                      : scaled_quantile_estimate(draws, clusters, factor, p, confidence));
    };
    TimeDistribution d;
    d.mean = of_time(mean_estimate(draws, clusters, confidence));  // the factor's mean is one
    d.p50 = quantile(0.50);
    d.p95 = quantile(0.95);
    d.p99 = quantile(0.99);
    d.quantiles = quantiles(draws, factor, reported_probabilities);
    for (const int percent : percents) {
        d.asked.push_back({percent, quantile(percent / 100.0)});
    }
    return d;
}

double two_sided_normal_score(double level) { return normal_quantile(0.5 * (1.0 - level), true); }

/// Limits of a training-time estimate, wider by an independent error of this standard deviation.
Estimate widened(const Estimate& e, double deviation, const Confidence& confidence)
{
    const auto limit = [&](double value, double level) {
        const double error = deviation * two_sided_normal_score(level);
        return std::hypot(value - e.value, error);
    };
    return of_time({e.value, e.value - limit(e.low, confidence.reported),
                    e.value + limit(e.high, confidence.reported),
                    e.value - limit(e.simultaneous_low, confidence.simultaneous),
                    e.value + limit(e.simultaneous_high, confidence.simultaneous)});
}

/// The same with a reported interval as wide as twice `half_width` in the geometric mean of its sides, which
/// is as asymmetric as that of `order_statistics`. Simultaneous limits enclose it.
Estimate with_reported_limits(Estimate e, double half_width, const Estimate& order_statistics)
{
    constexpr double most_asymmetric = 4.0;  // an assumption: order statistics in a tail scatter
    const double below = order_statistics.value - order_statistics.low;
    const double above = order_statistics.high - order_statistics.value;
    const double ratio =
        below > 0.0 ? std::clamp(above / below, 1.0 / most_asymmetric, most_asymmetric) : 1.0;
    e.low = e.value - half_width / std::sqrt(ratio);
    e.high = e.value + half_width * std::sqrt(ratio);
    e.simultaneous_low = std::min(e.simultaneous_low, e.low);
    e.simultaneous_high = std::max(e.simultaneous_high, e.high);
    return of_time(e);
}

/// Of the quantiles of the training time that predictions have.
std::vector<double> training_probabilities(const Job& job)
{
    std::vector<double> probabilities{0.50, 0.95, 0.99};
    for (const int percent : job.percents) {
        probabilities.push_back(percent / 100.0);
    }
    if (job.promise.asked()) {
        probabilities.push_back(job.promise.probability);
    }
    return probabilities;
}

/// In the order of their probabilities above.
std::vector<Estimate*> training_quantiles(Prediction& prediction)
{
    TimeDistribution& training = prediction.training;
    std::vector<Estimate*> result{&training.p50, &training.p95, &training.p99};
    for (TimeAtPercent& asked : training.asked) {
        result.push_back(&asked.time);
    }
    result.push_back(&prediction.promised);
    return result;
}

/// From its quantiles at reported_probabilities; linear between them, and none beyond them.
std::vector<DistributionNode> as_nodes(std::span<const double> quantiles)
{
    std::vector<DistributionNode> nodes;
    for (std::size_t i = 0; i < quantiles.size(); ++i) {
        nodes.push_back({reported_probabilities[i], quantiles[i]});
    }
    nodes.front().below = 0.0;
    nodes.back().below = 1.0;
    return nodes;
}

}  // namespace

Setting setting_of(const Problem& problem, const Phase& phase)
{
    return {problem.workload, phase, problem.cluster, problem.noise, problem.memory_limit, problem.orders};
}

double tokens_factor(const Problem& problem, const ParallelPlan& plan, const Phase& phase)
{
    if (plan.local_steps == 1) {
        return 1.0;
    }
    return problem.local.tokens_factor(plan.local_steps,
                                       buildings_of(plan_in_phase(plan, phase), problem.cluster));
}

std::vector<Phase> phases_of_plan(const Problem& problem, const ParallelPlan& plan)
{
    std::vector<Phase> phases = problem.phases;
    for (Phase& phase : phases) {
        phase = longer(phase, tokens_factor(problem, plan, phase));
    }
    return phases;
}

std::vector<DistributionNode> common_step_distribution(const NoiseTables& noise)
{
    std::vector<DistributionNode> distribution;
    const std::vector<TailProbability> nodes = NoiseTables::step_node_probabilities();
    for (std::size_t i = 0; noise.step_varies && i < nodes.size(); ++i) {
        distribution.push_back({nodes[i].below(), noise.common_step[i]});
    }
    if (!distribution.empty()) {
        distribution.front().below = 0.0;
        distribution.back().below = 1.0;
    }
    return distribution;
}

Predictor::Predictor(const Problem& problem)
    : problem_(problem), failure_tables_(problem.noise.exponential),
      quantile_errors_(training_probabilities(problem))
{
    for (const Phase& phase : problem.phases) {
        compilers_.emplace_back(setting_of(problem, phase));
        least_step_j_.push_back(compilers_.back().least_step_energy().si);
    }
}

double Predictor::work_of(const ParallelPlan& plan)
{
    double sum = 0.0;
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        const Phase& own = problem_.phases[phase];
        const double steps = own.steps() * tokens_factor(problem_, plan, own);
        sum += steps * compilers_[phase].step_energy(plan_in_phase(plan, own)).si;
    }
    return sum;
}

double Predictor::least_work_of(const ParallelPlan& plan) const
{
    constexpr double rounding = 1e-9;  // sums in another order
    double sum = 0.0;
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        const Phase& own = problem_.phases[phase];
        sum += own.steps() * tokens_factor(problem_, plan, own) * least_step_j_[phase];
    }
    return sum * (1.0 - rounding);
}

FailureModel Predictor::failures(const ParallelPlan& plan) const
{
    return failure_model(problem_.reliability, job_size(plan, nodes_used(plan, problem_.cluster)));
}

std::vector<RunSegment> Predictor::run_segments(const ParallelPlan& plan,
                                                const std::vector<double>& productive_s,
                                                const std::vector<double>& share) const
{
    std::vector<RunSegment> segments;
    std::vector<double> shares;
    for (std::size_t phase = 0; phase < share.size(); ++phase) {
        const ParallelPlan here = plan_in_phase(plan, problem_.phases[phase]);
        if (segments.empty() || segments.back().gpus != here.gpus()) {
            segments.push_back({failures(here), here.gpus(), {}});
            shares.push_back(0.0);
        }
        shares.back() += share[phase];
    }
    for (std::size_t i = 0; i < segments.size(); ++i) {
        segments[i].productive_s = productive_s;
        for (double& seconds : segments[i].productive_s) {
            seconds *= segments.size() > 1 ? shares[i] : 1.0;
        }
    }
    return segments;
}

int Predictor::most_gpus(const ParallelPlan& plan) const
{
    int most = 0;
    for (const Phase& phase : problem_.phases) {
        most = std::max(most, plan_in_phase(plan, phase).gpus());
    }
    return most;
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
                throw std::logic_error("cannot sample an infeasible plan: " + refusal->category());
            }
            compiled.push_back(std::get<CompiledPlan>(std::move(result)));
        }
        std::vector<const ExecutionGraph*> graphs;
        graphs.reserve(compiled.size());
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

PhaseDraws Predictor::sample(const CompiledRun& run, const DrawRange& range,
                             const SamplerOptions& options) const
{
    PhaseDraws draws;
    for (const CompiledPlan& phase : run.phases) {
        draws.push_back(sample_steps(phase.graph, problem_.noise, range, options));
    }
    return draws;
}

std::variant<CompiledRun, Infeasible> Predictor::compile(const ParallelPlan& plan, CompileFor purpose)
{
    CompiledRun run;
    run.plan = plan;
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        run.in_phase.push_back(plan_in_phase(plan, problem_.phases[phase]));
        auto compiled = compilers_[phase].compile(run.in_phase.back(), purpose);
        if (auto* refusal = std::get_if<Infeasible>(&compiled)) {
            refusal->phase = static_cast<int>(phase) + 1;
            return *refusal;
        }
        run.phases.push_back(std::get<CompiledPlan>(std::move(compiled)));
    }
    return run;
}

std::vector<double> Predictor::training_times(const ParallelPlan& plan, const PhaseDraws& draws, int steps,
                                              const SamplerOptions& options)
{
    const std::vector<Phase> phases = phases_of_plan(problem_, plan);
    ProductiveTimes productive = productive_times(phases, draws, steps);
    drift(productive, problem_, options);
    const std::vector<RunSegment> run = run_segments(plan, productive.seconds, phase_shares(phases, draws));
    return sample_histories(run, all_causes(problem_.reliability).size(), failure_tables_, options.seed,
                            options.purpose)
        .seconds;
}

double Predictor::tflops_per_gpu(const Phase& phase, const ParallelPlan& here, double mean_step_s) const
{
    const LengthMix trained =
        phase.lengths ? trained_mix(*phase.lengths, phase.sequence, phase.filled) : LengthMix{};
    const double flops = model_flops_per_sequence(network_of(problem_.workload), phase.sequence,
                                                  phase.lengths ? &trained : nullptr) *
                         phase.global_batch;
    return flops / mean_step_s / here.gpus() / 1e12;
}

TimeDistribution Predictor::step_distribution(const std::vector<double>& draws, int steps,
                                              const Confidence& confidence) const
{
    const auto fleet = static_cast<std::size_t>(steps);
    return distribution(draws, {fleet, block_fleets * fleet}, common_step_distribution(problem_.noise),
                        problem_.percents, confidence);
}

std::vector<PhasePrediction> Predictor::phases(const CompiledRun& run, const PhaseDraws& draws, int steps,
                                               const Confidence& confidence) const
{
    std::vector<PhasePrediction> result;
    const std::vector<Phase> all = phases_of_plan(problem_, run.plan);
    for (std::size_t i = 0; i < run.phases.size(); ++i) {
        const Phase& phase = all[i];
        PhasePrediction& here = result.emplace_back();
        here.plan = run.in_phase[i];
        here.sequence = phase.sequence;
        here.steps = phase.steps();
        here.step = step_distribution(draws[i], steps, confidence);
        here.productive_s = here.steps * here.step.mean.value;
        here.tflops_per_gpu = tflops_per_gpu(phase, here.plan, here.step.mean.value);
        here.memory = run.phases[i].memory;
    }
    return result;
}

Prediction Predictor::summarise(const ParallelPlan& plan, const PhaseDraws& draws, int steps,
                                const SamplerOptions& options, const Confidence& confidence,
                                std::span<const double> model_error)
{
    const auto run = compile(plan, CompileFor::noise_free_step);
    if (const auto* refusal = std::get_if<Infeasible>(&run)) {
        Prediction result;
        result.gpus = most_gpus(plan);
        result.infeasible = *refusal;
        return result;
    }
    return summarise(std::get<CompiledRun>(run), draws, steps, options, confidence, model_error);
}

Estimate Predictor::promised(std::span<const double> training, std::span<const double> model_error,
                             const Confidence& confidence) const
{
    const Promise& promise = problem_.promise;
    const Clusters runs{1, block_fleets};
    if (!promise.asked() || (promise.includes_model_error() && model_error.empty())) {
        return Estimate::exact(std::numeric_limits<double>::quiet_NaN());
    }
    return of_time(promise.model_error ? scaled_quantile_estimate(training, runs, as_nodes(model_error),
                                                                  promise.probability, confidence)
                                       : quantile_estimate(training, runs, promise.probability, confidence));
}

namespace {

/// What the plan does without noise, and the memory of its fullest phase.
void add_noise_free(const CompiledRun& compiled, const Problem& problem, Prediction& result)
{
    const NoiseFreeStep noise_free = noise_free_step(compiled.phases.front().graph);
    result.noise_free_step_s = noise_free.step_s;
    result.shares = noise_free.shares;
    result.memory = std::max_element(compiled.phases.begin(), compiled.phases.end(),
                                     [](const CompiledPlan& a, const CompiledPlan& b) {
                                         return a.memory.total() < b.memory.total();
                                     })
                        ->memory;
    const Bytes memory = problem.cluster.accelerator.memory;
    result.memory_headroom = 1.0 - result.memory.total() / memory;
    result.fit_probability = fit_probability(problem.memory_limit, result.memory.total(), memory);
}

/// Limits of training times take the times as given; their mean, and what was done about noise, have errors
/// of their own. `errors`: of quantiles of deconvolved steps; none of steps that are draws as any, whose
/// quantiles order statistics limit.
void widen_training(const Problem& problem, const ProductiveTimes& productive,
                    const std::vector<double>& errors, const Confidence& confidence, Prediction& result)
{
    const double stretch = result.training.mean.value / productive.mean;
    const auto widen = [&](Estimate& e, double deviation) {
        e = widened(e, stretch * std::sqrt(productive.mean_variance + deviation * deviation), confidence);
    };
    widen(result.training.mean, 0.0);
    const std::vector<Estimate*> estimates = training_quantiles(result);
    const std::vector<double> probabilities = training_probabilities(problem);
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        Estimate& e = *estimates[i];
        const Estimate of_times = e;
        widen(e, productive.deviation_at(probabilities[i]));
        if (!errors.empty()) {
            const double shape = two_sided_normal_score(confidence.reported) * stretch *
                                 productive.shape_deviation_at(probabilities[i]);
            e = with_reported_limits(e, std::hypot(errors[i], shape), of_times);
        }
    }
}

/// Rates at the mean step of the first phase, from its FLOP/s.
void add_rates(const Problem& problem, Prediction& result)
{
    constexpr double tera = 1e12;
    const Phase& first = problem.phases.front();
    result.peak_tflops_per_gpu = peak_of_products(network_of(problem.workload), first.sequence,
                                                  problem.workload.precision, problem.cluster.accelerator)
                                     .si /
                                 tera;
    result.mfu = result.tflops_per_gpu / result.peak_tflops_per_gpu;
    result.tokens_per_second = first.tokens_of_step() / result.step.mean.value;
}

/// Needs the outlook of the run: spares and energy.
void add_costs(const Problem& problem, Prediction& result)
{
    constexpr double hour_s = (1_h).si;
    result.gpu_price_usd_per_h = problem.cluster.gpu_price.si * hour_s;
    const double price = result.held_gpus() * problem.cluster.gpu_price.si;
    result.cost_usd = price * result.training.p99 + result.run.electricity_usd;
    result.expected_cost_usd =
        price * result.training.mean + problem.power.electricity_price.si * result.run.energy_j;
}

}  // namespace

Prediction Predictor::summarise(const CompiledRun& compiled, const PhaseDraws& draws, int steps,
                                const SamplerOptions& options, const Confidence& confidence,
                                std::span<const double> model_error)
{
    const ParallelPlan& plan = compiled.plan;
    const std::vector<Phase> phases = phases_of_plan(problem_, plan);
    Prediction result;
    result.gpus = most_gpus(plan);
    add_noise_free(compiled, problem_, result);
    result.draws = draws.front().size();
    result.step = step_distribution(draws.front(), steps, confidence);

    ProductiveTimes productive = productive_times(phases, draws, steps);
    const std::vector<double> without_drift = productive.seconds;
    drift(productive, problem_, options);
    const std::vector<RunSegment> run = run_segments(plan, productive.seconds, phase_shares(phases, draws));
    const Histories histories = sample_histories(run, all_causes(problem_.reliability).size(),
                                                 failure_tables_, options.seed, options.purpose);
    const std::vector<double>& training = histories.seconds;
    // A run's many steps average their factors.
    result.training = distribution(training, {1, block_fleets}, {}, problem_.percents, confidence);
    result.promised = promised(training, model_error, confidence);
    const std::vector<double> errors =
        productive.deconvolved ? quantile_errors_({phases, draws, steps, without_drift, training}, confidence)
                               : std::vector<double>{};
    widen_training(problem_, productive, errors, confidence, result);

    result.tflops_per_gpu = tflops_per_gpu(problem_.phases.front(), plan, result.step.mean.value);
    add_rates(problem_, result);
    result.ettr = std::min(1.0, productive.mean / result.training.mean.value);
    result.run = outlook(problem_, run, histories, result, work_of(plan), confidence);
    result.deviation = problem_.deviation;
    result.tokens = tokens_of(phases);
    result.steps = steps_of(phases);
    add_costs(problem_, result);
    return result;
}

}  // namespace prismopt
