#pragma once

/// How often the 95 % intervals of a calibration contain the truth of simulated measurements.

#include "model/calibration/calibration.hpp"
#include "model/calibration/fit/failure_fit.hpp"
#include "model/calibration/samples.hpp"
#include "tests/support/synthetic_job.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace prismopt {

/// Intervals of one kind.
struct Coverage {
    std::string of;
    bool wide = false;  // the wider of two intervals, which contains the truth more often
    int held = 0;
    int intervals = 0;

    void add(double low, double truth, double high)
    {
        ++intervals;
        held += low <= truth && truth <= high ? 1 : 0;
    }
    double share() const { return static_cast<double>(held) / intervals; }
};

/// 84 nodes of 4 GPUs, of which one in 20 is 9 % slower, as on a measured machine.
inline std::vector<Coverage> coverage_of_members(int seeds)
{
    constexpr double gpu = 0.012;
    constexpr double node = 0.015;
    constexpr double slow = 0.05;
    Coverage gpus{"spread of GPUs"};
    Coverage nodes{"spread of nodes"};
    Coverage slow_nodes{"share of slow nodes"};
    for (int seed = 0; seed < seeds; ++seed) {
        std::mt19937_64 generator(static_cast<unsigned>(seed));
        std::normal_distribution<double> normal;
        std::uniform_real_distribution<double> uniform;
        std::vector<GpuRun> runs;
        for (int n = 0; n < 84; ++n) {
            const double own = node * normal(generator) + (uniform(generator) < slow ? std::log(1.09) : 0.0);
            for (int g = 0; g < 4; ++g) {
                const double effect = own + gpu * normal(generator);
                for (int repeat = 0; repeat < 4; ++repeat) {
                    runs.push_back({"", std::to_string(g), "n" + std::to_string(n),
                                    std::exp(effect + 0.002 * normal(generator))});
                }
            }
        }
        const Calibration found = calibrate_gpu_runs(runs, "simulated");
        for (const Component& component : found.components) {
            (component.name == "gpu" ? gpus : nodes)
                .add(std::sqrt(component.low), component.name == "gpu" ? gpu : node,
                     std::sqrt(component.high));
        }
        const auto of_nodes = std::find_if(found.slow_shares.begin(), found.slow_shares.end(),
                                           [](const SlowShare& share) { return share.key == "node"; });
        const SlowShare share =
            of_nodes == found.slow_shares.end() ? slow_share("node", 0, 84, 0.0) : *of_nodes;
        slow_nodes.add(share.low, slow, share.high);
    }
    return {gpus, nodes, slow_nodes};
}

/// A job with a slow GPU, whose backward passes are slower still: what the
/// others vary by is found without it.
inline std::vector<Coverage> coverage_beside_slow_worker(int seeds)
{
    SyntheticJob job;
    job.replicas = 8;
    job.steps = 60;
    job.microbatch = 0.05;
    job.stage = 0.01;
    job.slow_worker = 0.1;
    job.slow_backward = 0.1;
    std::vector<Coverage> result{{"stage"}, {"microbatch", true}, {"residual"}};
    for (int seed = 0; seed < seeds; ++seed) {
        const std::vector<Component> found =
            calibrate(SyntheticTrace(job, static_cast<unsigned>(seed)).next()).components;
        const double truth[] = {job.stage, job.microbatch, job.residual};
        for (std::size_t k = 0; k < result.size(); ++k) {
            result[k].add(std::sqrt(found[k + 2].low), truth[k], std::sqrt(found[k + 2].high));
        }
    }
    return result;
}

/// A job whose last stage has little attention, and whose backward passes have more than forward ones.
inline SyntheticJob job_with_exponents()
{
    SyntheticJob job;
    job.steps = 60;
    job.microbatch = 0.1;
    job.forward_exponent = {1.1, 0.65};
    job.backward_exponent = {1.35, 0.9};
    return job;
}

inline std::vector<Coverage> coverage_of_exponents(int seeds)
{
    const SyntheticJob job = job_with_exponents();
    Coverage exponents{"exponents"};
    Coverage microbatch{"microbatch beside exponents", true};
    Coverage residual{"residual beside exponents"};
    for (int seed = 0; seed < seeds; ++seed) {
        const Calibration found = calibrate(SyntheticTrace(job, static_cast<unsigned>(seed)).next());
        for (const FittedExponent& e : found.exponents) {
            const std::vector<double>& truth =
                e.kind.starts_with("forward") ? job.forward_exponent : job.backward_exponent;
            exponents.add(e.low, truth[static_cast<std::size_t>(e.stage)], e.high);
        }
        microbatch.add(std::sqrt(found.components[3].low), job.microbatch,
                       std::sqrt(found.components[3].high));
        residual.add(std::sqrt(found.components[4].low), job.residual, std::sqrt(found.components[4].high));
    }
    return {exponents, microbatch, residual};
}

/// Failures of a stationary renewal process of rate one.
struct FailureProcess {
    std::string name;
    bool weibull = false;
    double shape = 1.0;
    double failures = 60.0;  // expected
    double together = 0.0;   // expected further failures at the start of each
};
inline const std::vector<FailureProcess>& failure_processes()
{
    // Shapes of a cv of two: gamma 1/4; Weibull 0.5427.
    static const std::vector<FailureProcess> list{
        {"Poisson process, 60 failures", false, 1.0, 60.0, 0.0},
        {"gamma gaps of cv 2, 20 failures", false, 0.25, 20.0, 0.0},
        {"gamma gaps of cv 2, 60 failures", false, 0.25, 60.0, 0.0},
        {"Weibull gaps of cv 2, 60 failures", true, 0.5427, 60.0, 0.0},
        {"gamma gaps of cv 2, 150 failures", false, 0.25, 150.0, 0.0},
        {"gamma gaps of cv 2 in batches, 60 failures", false, 0.25, 60.0, 0.4}};
    return list;
}

inline Coverage coverage_of_rates(const FailureProcess& process, int seeds)
{
    constexpr double day_s = 86'400.0;
    Coverage result{process.name};
    for (int seed = 0; seed < seeds; ++seed) {
        std::mt19937_64 generator(static_cast<unsigned>(seed));
        std::gamma_distribution<double> gamma(process.shape, 1.0 / process.shape);
        std::weibull_distribution<double> weibull(process.shape,
                                                  1.0 / std::tgamma(1.0 + 1.0 / process.shape));
        std::poisson_distribution<int> more(process.together > 0.0 ? process.together : 1e-9);
        std::vector<Outage> outages;
        constexpr double before = 100.0;  // gaps, after which the process is stationary
        const double days = process.failures / (1.0 + process.together);
        for (double t = -before; t < days; t += process.weibull ? weibull(generator) : gamma(generator)) {
            const int count = 1 + (process.together > 0.0 ? more(generator) : 0);
            for (int i = 0; t >= 0.0 && i < count; ++i) {
                outages.push_back({"n" + std::to_string(outages.size()), "fault", t * day_s});
            }
        }
        if (outages.size() > 2) {
            const CauseFit fit = fit_failures(outages, {1000, days * day_s}).causes.front();
            result.add(fit.low, 1e-3 * (1.0 + process.together), fit.high);
        }
    }
    return result;
}

}  // namespace prismopt
