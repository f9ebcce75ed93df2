#include "model/calibration/compute_distributions.hpp"

#include "model/calibration/component_distributions.hpp"
#include "model/calibration/fit/effect_spread.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

namespace prismopt {

namespace {

/// GPUs that are always slow, as the slow mode of "gpu"; returns whether there are some.
bool add_slow_gpus(const WorkerPeers& peers, const NamedWorkers& named, const std::string& source,
                   Calibration& result)
{
    const std::optional<SlowGpus> slow = slow_gpus(peers, named, source);
    if (!slow) {
        return false;
    }
    result.slow.insert(result.slow.end(), slow->named.begin(), slow->named.end());
    result.notes.emplace_back(slow->share);
    result.slow_shares.push_back(slow->share);
    add_distribution(result, {"gpu", slow->fit});
    return true;
}

std::vector<double> finite_ones(const std::vector<double>& effects)
{
    std::vector<double> finite;
    std::copy_if(effects.begin(), effects.end(), std::back_inserter(finite),
                 [](double effect) { return std::isfinite(effect); });
    return finite;
}

/// Whether an operation is a backward pass, by its name.
bool is_backward(std::string name)
{
    const auto lower = [](unsigned char c) { return static_cast<char>(std::tolower(c)); };
    std::transform(name.begin(), name.end(), name.begin(), lower);
    return name.find("back") != std::string::npos || name.find("bwd") != std::string::npos;
}

std::vector<FittedExponent> fitted_exponents(const std::vector<MicrobatchExponent>& exponents,
                                             const std::vector<OpKind>& kinds)
{
    std::vector<FittedExponent> fitted;
    for (const MicrobatchExponent& found : exponents) {
        const std::string& kind = kinds[static_cast<std::size_t>(found.kind)].name;
        fitted.push_back({kind, found.stage, found.exponent, found.low, found.high});
    }
    return fitted;
}

/// Exponents of kinds that are forward or backward passes, from the first stage to the last; of several such
/// kinds, or chunks of a stage, the mean.
MicrobatchExponents exponents_by_pass(const std::vector<FittedExponent>& fitted)
{
    std::map<int, std::vector<double>> forward;  // by stage
    std::map<int, std::vector<double>> backward;
    for (const FittedExponent& exponent : fitted) {
        std::map<int, std::vector<double>>& stages = is_backward(exponent.kind) ? backward : forward;
        stages[exponent.stage].push_back(exponent.exponent);
    }
    const auto in_order = [](const std::map<int, std::vector<double>>& stages) {
        std::vector<double> exponents;
        for (const auto& [stage, of_stage] : stages) {
            exponents.push_back(mean_of(of_stage));
        }
        return exponents;
    };
    return {in_order(forward), in_order(backward)};
}

}  // namespace

WorkerComparison compare_workers(const WorkerTimes& times, const StepEffects& steps,
                                 const NamedWorkers& named)
{
    WorkerComparison result{named, peers_of(times, named.workers), throttling_workers(steps, named), {}};
    result.excluded = workers_to_exclude(result.peers, result.throttling.workers);
    return result;
}

void add_microbatch_distributions(const ComputeEffects& of_compute, const std::vector<std::int32_t>& steps,
                                  double step_s, const WorkerComparison& workers,
                                  const std::vector<OpKind>& kinds, Calibration& result)
{
    const Component& step = of_compute.components[0];
    const Component& gpu = of_compute.components[1];
    const Component& stage = of_compute.components[2];
    const Component& microbatch = of_compute.components[3];
    const Component& residual = of_compute.components[4];
    result.components = of_compute.components;
    result.drift = fit_drift(of_compute.step_means, steps, step_s);
    // With the drift, as a step's quantiles need; over a run all but the drift's part averages out.
    add_component(
        {"common_compute", "steps"}, step,
        [&] {
            const std::vector<double> factors =
                exponentials(with_variance(of_compute.step_means, step.variance));
            return fit_distribution(factors, source_of("compute time of a step over its mean", result));
        },
        result);
    const std::string from_stage = source_of("compute time of a worker over the mean of its stage", result);
    if (!add_slow_gpus(workers.peers, workers.named, from_stage, result)) {
        add_component(
            {"gpu", "workers"}, gpu,
            [&] {
                const std::vector<double> effects =
                    with_variance(finite_ones(of_compute.worker_effects), gpu.variance);
                return fit_distribution(exponentials(effects), from_stage);
            },
            result);
    }
    add_component(
        {"stage", "stages in a step"}, stage,
        [&] { return lognormal_of(stage, source_of("compute time of a stage in one step", result)); },
        result);
    add_slow_steps(workers.throttling.steps, result);
    add_component(
        {"microbatch", "microbatches"}, microbatch,
        [&] {
            return fit_distribution(exponentials(of_compute.microbatch_effects),
                                    source_of("compute time of a microbatch", result));
        },
        result);
    result.exponents = fitted_exponents(of_compute.exponents, kinds);
    result.microbatch_exponent = exponents_by_pass(result.exponents);
    if (residual.unknown) {
        result.left.push_back({"operation", *residual.unknown});
        return;
    }
    const std::string from_operations = source_of("residual of a forward or backward operation", result);
    add_distribution(result,
                     {"operation", fit_distribution(exponentials(of_compute.residuals), from_operations)});
    result.left.push_back({"residual.gemm", OperationsOnly{}});
}

void add_kernel_gpus(const GpuEffects& gpus, const WorkerComparison& workers, Calibration& result)
{
    if (gpus.component.unknown) {
        return;
    }
    const std::string source = source_of("kernel times of a GPU over those of the median GPU", result);
    if (add_slow_gpus(workers.peers, workers.named, source, result)) {
        return;
    }
    constexpr std::size_t least = 4;  // fewer equal ones carry little information about others
    const std::vector<double> logs = finite_ones(gpus.effects);
    if (gpus.component.present) {
        const std::vector<double> factors = exponentials(with_variance(logs, gpus.component.variance));
        add_distribution(result, {"gpu", fit_distribution(factors, source)});
    } else if (logs.size() >= least) {
        const std::string none = source_of("no significant differences between GPUs", result);
        add_distribution(result, {"gpu", constant_distribution(none)});
    }
}

void add_kernel_steps(const StepEffects& steps, double step_s, const SlowMode& slow_steps,
                      Calibration& result)
{
    const Component& step = steps.components[0];
    const Component& gpu_in_step = steps.components[1];
    result.drift = fit_drift(steps.effects, steps.steps, step_s);
    add_component(
        {"common_compute", "steps"}, step,
        [&] {
            constexpr std::size_t least = 20;  // of fewer a pool would be all that is known
            const std::string source =
                source_of("compute time of a step over its mean, kernels weighted by their time", result);
            if (steps.effects.size() < least) {
                return lognormal_of(step, source);
            }
            return fit_distribution(exponentials(with_variance(steps.effects, step.variance)), source);
        },
        result);
    add_component(
        {"stage", "GPUs in a step"}, gpu_in_step,
        [&] { return lognormal_of(gpu_in_step, source_of("compute time of a GPU in one step", result)); },
        result);
    add_slow_steps(slow_steps, result);
}

}  // namespace prismopt
