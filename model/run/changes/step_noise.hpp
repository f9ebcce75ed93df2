#pragma once

/// Autocorrelation of step times: an autoregression of the logarithms about
/// their level. docs/methods/watch.md.

#include <array>
#include <cstdint>
#include <vector>

namespace prismopt {

/// An autoregression d(t) = sum of coefficient[i] d(t - 1 - i) + noise.
struct Autoregression {
    std::vector<double> coefficients;
    double innovation_deviation = 0.0;
    double deviation = 0.0;         // of the series
    std::int64_t observations = 0;  // from which it was fitted

    /// 1 less the coefficients: a constant passes through the filter with this gain.
    double gain() const;
    /// Standard deviation of the noise of slow means, times the square root of their
    /// number: innovations over gain().
    double long_run_deviation() const { return innovation_deviation / gain(); }
    /// Upper 95 % limit of the long-run variance, relative to its estimate, whose relative standard error is
    /// sqrt(4 order / n) (Berk, Ann. Stat. 2 (1974) 489-502, at frequency 0).
    double variance_allowance() const;
    /// Standard deviation of the mean of so many values: at most that of one, else the
    /// long-run one with its allowance.
    double mean_deviation(double values) const;
};

/// Autocovariances of a series, updated one by one.
class Autocovariances {
public:
    static constexpr int lags = 12;

    void add(double deviation);
    std::int64_t observations() const { return count_; }
    /// Yule-Walker fit (Durbin-Levinson recursion) of the order, 1 or more, with the least AIC (Akaike, IEEE
    /// Trans. Autom. Control 19 (1974) 716-723).
    Autoregression fit() const;

private:
    std::array<double, lags + 1> sums_{};
    std::array<double, lags> last_{};
    std::int64_t count_ = 0;
};

}  // namespace prismopt
