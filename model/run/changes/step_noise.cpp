#include "model/run/changes/step_noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace prismopt {

namespace {

/// Least gain of a fit: an autoregression near a unit root would make every level look equal.
constexpr double least_gain = 0.03;

double sum_of(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Scales positively correlated coefficients so that their sum is free of its bias, -(1 + 4 sum) / n with an
/// estimated mean (Marriott and Pope, Biometrika 41 (1954) 390-402, and the Yule-Walker estimator's own:
/// Shaman and Stine, J. Am. Stat. Assoc. 83 (1988) 842-848).
void correct_bias(std::vector<double>& coefficients, double observations)
{
    const double sum = sum_of(coefficients);
    if (sum <= 0.0 || sum >= 1.0 - least_gain) {
        return;
    }
    const double corrected = std::min(1.0 - least_gain, sum + (1.0 + 4.0 * sum) / observations);
    for (double& coefficient : coefficients) {
        coefficient *= corrected / sum;
    }
}

}  // namespace

double Autoregression::gain() const { return std::max(least_gain, 1.0 - sum_of(coefficients)); }

double Autoregression::variance_allowance() const
{
    const auto order = static_cast<double>(std::max<std::size_t>(1, coefficients.size()));
    constexpr double one_sided_95 = 1.644854;
    return observations > 0 ? 1.0 + one_sided_95 * std::sqrt(4.0 * order / static_cast<double>(observations))
                            : 1.0;
}

double Autoregression::mean_deviation(double values) const
{
    return std::min(deviation, long_run_deviation() * std::sqrt(variance_allowance() / values));
}

void Autocovariances::add(double deviation)
{
    sums_[0] += deviation * deviation;
    for (std::size_t lag = 0; lag < lags; ++lag) {
        sums_[lag + 1] += deviation * last_[lag];
    }
    std::copy_backward(last_.begin(), last_.end() - 1, last_.end());
    last_[0] = deviation;
    ++count_;
}

Autoregression Autocovariances::fit() const
{
    const auto n = static_cast<double>(count_);
    Autoregression best;
    double variance = sums_[0] / n;
    double least = std::numeric_limits<double>::infinity();
    std::vector<double> coefficients;
    for (std::size_t order = 0; order <= lags; ++order) {
        if (order > 0) {
            double reflection = sums_[order] / n;
            for (std::size_t i = 0; i < order - 1; ++i) {
                reflection -= coefficients[i] * sums_[order - 1 - i] / n;
            }
            reflection = variance > 0.0 ? reflection / variance : 0.0;
            std::vector<double> next = coefficients;
            for (std::size_t i = 0; i < order - 1; ++i) {
                next[i] -= reflection * coefficients[order - 2 - i];
            }
            next.push_back(reflection);
            coefficients = next;
            variance *= 1.0 - reflection * reflection;
        }
        if (order == 0) {
            continue;  // steps that look independent in a short baseline may not be
        }
        const double criterion = n * std::log(std::max(variance, std::numeric_limits<double>::min())) +
                                 2.0 * static_cast<double>(order);
        if (criterion < least) {
            least = criterion;
            best.coefficients = coefficients;
            best.innovation_deviation = std::sqrt(variance);
        }
    }
    correct_bias(best.coefficients, n);
    best.deviation = std::sqrt(sums_[0] / n);
    best.observations = count_;
    return best;
}

}  // namespace prismopt
