#include "optimizer/calibration_study/halves.hpp"

#include "model/base/random.hpp"
#include "model/calibration/fit/fit_law.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/trace/predicted_steps.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

std::vector<double> rising(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values;
}

/// Half the 95 % interval of a quantile, by the percentile bootstrap (Efron, Ann. Statist. 7 (1979) 1-26).
double bootstrap_half_width(const std::vector<double>& values, double p)
{
    constexpr std::uint32_t resamples = 2000;
    constexpr std::uint64_t seed = 1;
    std::vector<double> estimates;
    std::vector<double> sample(values.size());
    for (std::uint32_t r = 0; r < resamples; ++r) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::uint32_t word =
                philox(seed, {r, 1, static_cast<std::uint32_t>(i), use(Stream::calibration, Purpose::confirm)})[0];
            sample[i] = values[static_cast<std::size_t>((static_cast<std::uint64_t>(word) * values.size()) >> 32)];
        }
        std::sort(sample.begin(), sample.end());
        estimates.push_back(quantile_of(sample, p));
    }
    std::sort(estimates.begin(), estimates.end());
    return 0.5 * (quantile_of(estimates, 0.975) - quantile_of(estimates, 0.025));
}

double cv_of(const std::vector<double>& values) { return std::sqrt(variance_of(values)) / mean_of(values); }

}  // namespace

HalvesCheck check_halves(const Trace& trace)
{
    const std::vector<StepTime> times = step_times(trace);
    const std::size_t half = times.size() / 2;
    std::vector<double> first;
    std::vector<double> second;
    for (std::size_t i = 0; i < times.size(); ++i) {
        (i < half ? first : second).push_back(times[i].seconds);
    }
    HalvesCheck check;
    check.job = trace.source;
    check.warm_up_steps = steady_from(first);
    check.fitted_steps = half - check.warm_up_steps;
    std::vector<std::int32_t> steps;
    for (std::size_t i = check.warm_up_steps; i < half; ++i) {
        steps.push_back(times[i].step);
    }
    const Trace fitted = steps_of(trace, steps);
    const StepGraph graph = step_graph(fitted);
    check.predicted_s = predicted_steps(fitted, graph, compute_parts(fitted, graph));
    check.measured_s = rising(second);
    for (const double p : {0.5, 0.95, 0.99}) {
        const double measured = quantile_of(check.measured_s, p);
        check.quantiles.push_back(
            {p, quantile_of(check.predicted_s, p), measured, bootstrap_half_width(check.measured_s, p) / measured});
    }
    check.ks = ks_distance(check.predicted_s, check.measured_s);
    const auto n = static_cast<double>(check.predicted_s.size());
    const auto m = static_cast<double>(check.measured_s.size());
    check.ks_probability = ks_probability(check.ks, n * m / (n + m));
    check.repeat_ks = ks_distance(rising(first), check.measured_s);
    return check;
}

SpreadCheck check_series(const std::string& run, const std::vector<double>& step_s)
{
    const std::size_t half = step_s.size() / 2;
    std::vector<double> first(step_s.begin(), step_s.begin() + static_cast<std::ptrdiff_t>(half));
    first.erase(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(steady_from(first)));
    const std::vector<double> second = rising({step_s.begin() + static_cast<std::ptrdiff_t>(half), step_s.end()});
    const LawFit fit = fit_law(first, run);
    const LawQuantile law(fit.law);
    const double mean = mean_of(first);
    SpreadCheck check;
    check.run = run;
    check.steps = step_s.size();
    check.predicted_cv = law.moments().cv();
    check.measured_cv = cv_of(second);
    // By the jackknife: one long step decides a cv.
    std::vector<double> without;
    for (std::size_t i = 0; i < second.size(); ++i) {
        std::vector<double> others = second;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        without.push_back(cv_of(others));
    }
    const auto n = static_cast<double>(second.size());
    check.measured_error = std::sqrt(variance_of(without) * (n - 1.0) * (n - 1.0) / n);
    check.p50_error = mean * law(0.5, false) / quantile_of(second, 0.5) - 1.0;
    check.p95_error = mean * law(0.95, false) / quantile_of(second, 0.95) - 1.0;
    check.ks = ks_distance(second, [&](double x) { return law.probability(x / mean, false); });
    const auto fitted = static_cast<double>(first.size());
    const double size = fitted * n / (fitted + n);
    check.ks_probability = ks_probability(check.ks, size);
    check.repeat_probability = ks_probability(ks_distance(rising(first), second), size);
    return check;
}

}  // namespace prismopt
