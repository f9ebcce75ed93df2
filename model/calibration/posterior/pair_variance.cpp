#include "model/calibration/posterior/pair_variance.hpp"

#include "model/base/powers.hpp"

#include <algorithm>

namespace prismopt {

double correlation_of(const MachineCorrelations& correlations, const MachinesDiffer& differ)
{
    double correlation = 1.0;
    if (differ.accelerator) {
        correlation = std::min(correlation, correlations.accelerator);
    }
    if (differ.software) {
        correlation = std::min(correlation, correlations.software);
    }
    if (differ.gpus) {
        correlation = std::min(correlation, correlations.gpus);
    }
    return correlation;
}

PairVariance variance_of_ratio(const Discrepancy& discrepancy, std::span<const double> covariance,
                               const PlanOfPosterior& a, const PlanOfPosterior& b, double correlation)
{
    const std::size_t n = a.gradient.size();
    std::vector<double> slope(n);
    for (std::size_t k = 0; k < n; ++k) {
        slope[k] = a.gradient[k] - b.gradient[k];
    }
    PairVariance result;
    for (std::size_t i = 0; i < n; ++i) {
        if (slope[i] == 0.0) {
            continue;
        }
        for (std::size_t j = 0; j < n; ++j) {
            result.constants += slope[i] * covariance[i * n + j] * slope[j];
        }
    }
    result.constants = std::max(0.0, result.constants);  // rounding
    const double shared_source = a.job == b.job ? correlation : 0.0;
    result.source = 2.0 * square(discrepancy.source) * (1.0 - shared_source);
    const double shared_plan = correlation * prismopt::covariance(discrepancy, a.traits, b.traits);
    result.plans = std::max(0.0, 2.0 * square(discrepancy.deviation) - 2.0 * shared_plan);
    return result;
}

}  // namespace prismopt
