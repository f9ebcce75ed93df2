#include "model/predictor.hpp"

#include "model/step/mean_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace prismopt {

namespace {

/// What the sampler's single precision may lose over a step of a million ops; a bound must stay below it.
constexpr double single_precision = 1e-5;

double mean_of(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TimeDistribution distribution(const std::vector<double>& draws, std::size_t cluster, const Confidence& confidence)
{
    TimeDistribution d;
    d.mean = mean_estimate(draws, cluster, confidence);
    d.p50 = quantile_estimate(draws, cluster, 0.50, confidence);
    d.p95 = quantile_estimate(draws, cluster, 0.95, confidence);
    d.p99 = quantile_estimate(draws, cluster, 0.99, confidence);
    std::vector<double> sorted = draws;
    std::sort(sorted.begin(), sorted.end());
    for (const double p : reported_probabilities) {
        const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(sorted.size())));
        d.quantiles.push_back(sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1]);
    }
    return d;
}

/// Productive seconds of the whole run by fleet, free of the noise of averaging few steps.
std::vector<double> productive_times(const std::vector<Phase>& phases, const PhaseDraws& draws, int steps)
{
    const std::size_t fleets = draws.front().size() / steps;
    std::vector<double> productive(fleets, 0.0);
    double noise_variance = 0.0;
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        const double count = phases[phase].steps();
        double within = 0.0;  // mean over fleets of the variance of a step
        for (std::size_t f = 0; f < fleets; ++f) {
            const double* step = &draws[phase][f * steps];
            const double mean = std::accumulate(step, step + steps, 0.0) / steps;
            productive[f] += count * mean;
            for (int k = 0; k < steps; ++k) {
                within += (step[k] - mean) * (step[k] - mean) / std::max(1, steps - 1) / static_cast<double>(fleets);
            }
        }
        noise_variance += count * count * within / steps;
    }
    const double mean = mean_of(productive);
    double total_variance = 0.0;
    for (const double p : productive) {
        total_variance += (p - mean) * (p - mean) / static_cast<double>(std::max<std::size_t>(1, fleets - 1));
    }
    const double shrink = total_variance > 0.0 ? std::sqrt(std::max(0.0, 1.0 - noise_variance / total_variance)) : 1.0;
    for (double& p : productive) {
        p = mean + shrink * (p - mean);
    }
    return productive;
}

int nodes_used(const ParallelPlan& plan, const Cluster& cluster)
{
    return (plan.gpus() + cluster.gpus_per_node() - 1) / cluster.gpus_per_node();
}

}  // namespace

Predictor::Predictor(const Problem& problem) : problem_(problem)
{
    for (const Phase& phase : problem.phases) {
        compilers_.emplace_back(Setting{problem.workload, phase, problem.cluster, problem.noise, problem.memory_headroom});
    }
}

std::variant<NoiseFree, Infeasible> Predictor::bound(const ParallelPlan& plan)
{
    NoiseFree bound;
    double productive_s = 0.0;
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        auto compiled = compilers_[phase].compile(plan);
        if (auto* refusal = std::get_if<Infeasible>(&compiled)) {
            return *refusal;
        }
        const auto& result = std::get<CompiledPlan>(compiled);
        const double step_s = noise_free_step(result.graph).step_s * (1.0 - single_precision);
        productive_s += problem_.phases[phase].steps() * step_s;
        bound.step_s = phase == 0 ? step_s : bound.step_s;
        bound.memory_bytes = std::max(bound.memory_bytes, result.memory.total().si);
    }
    const FailureModel failures = failure_model(problem_.reliability, nodes_used(plan, problem_.cluster));
    if (failures.hopeless()) {
        return Infeasible{"run never ends", "failures come faster than checkpoints; shorten the checkpoint interval", 0.0};
    }
    bound.gpus = plan.gpus();
    bound.training_s = expected_training_time(productive_s, failures);
    bound.cost_usd = bound.gpus * problem_.cluster.gpu_price.si * bound.training_s;
    return bound;
}

PhaseDraws Predictor::sample(const ParallelPlan& plan, const DrawRange& range, const SamplerOptions& options)
{
    PhaseDraws draws;
    for (PlanCompiler& compiler : compilers_) {
        auto compiled = compiler.compile(plan);
        if (auto* refusal = std::get_if<Infeasible>(&compiled)) {
            throw std::logic_error("an infeasible plan was to be sampled: " + refusal->detail);
        }
        draws.push_back(sample_steps(std::get<CompiledPlan>(compiled).graph, problem_.noise, range, options));
    }
    return draws;
}

Prediction Predictor::summarise(const ParallelPlan& plan, const PhaseDraws& draws, int steps, const SamplerOptions& options,
                                const Confidence& confidence)
{
    Prediction result;
    result.gpus = plan.gpus();
    for (std::size_t phase = 0; phase < compilers_.size(); ++phase) {
        auto compiled = compilers_[phase].compile(plan);
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
    result.step = distribution(draws.front(), static_cast<std::size_t>(steps), confidence);

    const FailureModel failures = failure_model(problem_.reliability, nodes_used(plan, problem_.cluster));
    std::vector<double> training = productive_times(problem_.phases, draws, steps);
    const double productive_s = mean_of(training);
    for (std::size_t fleet = 0; fleet < training.size(); ++fleet) {
        training[fleet] = sampled_training_time(training[fleet], failures, problem_.noise.exponential, options.seed,
                                                options.purpose, static_cast<std::uint32_t>(fleet));
    }
    result.training = distribution(training, 1, confidence);

    const Phase& first = problem_.phases.front();
    const double flops = model_flops_per_sequence(problem_.workload, first.sequence) * first.global_batch;
    result.tflops_per_gpu = flops / result.step.mean.value / result.gpus / 1e12;
    result.mfu = result.tflops_per_gpu * 1e12 / problem_.cluster.accelerator.peak_bf16.si;
    result.tokens_per_second = static_cast<double>(first.sequence) * first.global_batch / result.step.mean.value;
    result.ettr = productive_s / result.training.mean.value;
    const double price = result.gpus * problem_.cluster.gpu_price.si;
    result.cost_usd = price * result.training.p99;
    result.expected_cost_usd = price * result.training.mean;
    return result;
}

}  // namespace prismopt
