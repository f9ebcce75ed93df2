#pragma once

/// Distributions for the tests that every family passes: to test a new one, add its rows.

#include "model/base/statistics.hpp"
#include "model/distribution/distribution.hpp"

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace prismopt {

struct DistributionCase {
    std::string name;
    Distribution distribution;
    double cv = 0.0;     // by closed form, where truncation does not change it; else 0
    bool steps = false;  // the quantile function has jumps or kinks
};

/// A distribution as a quantile function.
inline Quantile quantile_of(const Distribution& distribution)
{
    return [q = DistributionQuantile(distribution)](double p, bool upper) { return q(p, upper); };
}

inline void PrintTo(const DistributionCase& row, std::ostream* out) { *out << row.name; }

/// A pool of n values between 1 and 2, ten of a hundred equal, one of a thousand twice as long.
inline std::vector<double> measured_pool(int n)
{
    std::vector<double> values;
    for (int i = 0; i < n; ++i) {
        const double value = i % 10 == 0 ? 1.25 : 1.0 + std::fmod(0.618033988749895 * i, 1.0);
        values.push_back(i % 1000 == 999 ? 2.0 * value : value);
    }
    return values;
}

/// Deviation over mean of 1 + scale * (Z - median of Z), Z of generalized extreme values, shape below 1/2 and
/// not zero. Source: Hosking, Wallis, Wood, Technometrics 27 (1985) 251-261 (its shape has the other sign).
inline double extreme_value_cv(double shape, double scale)
{
    const double g1 = std::tgamma(1.0 - shape);
    const double g2 = std::tgamma(1.0 - 2.0 * shape);
    const double median = (std::pow(std::log(2.0), -shape) - 1.0) / shape;
    const double mean = 1.0 + scale * ((g1 - 1.0) / shape - median);
    return scale * std::sqrt(g2 - g1 * g1) / std::abs(shape) / mean;
}

inline std::vector<DistributionCase> distribution_cases()
{
    const SlowMode slow{0.0128, 0.089};
    const SlowMode rare{1e-3, 0.5};
    const SlowMode rarest{1e-4, 1.0};
    const SlowMode often{0.2, 1.0};
    const std::vector<double> pool{3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0};
    const double gumbel_cv = 0.05 * std::acos(-1.0) / std::sqrt(6.0) /
                             (1.0 + 0.05 * (0.57721566490153286 + std::log(std::log(2.0))));
    const Mixture bimodal{{{0.69, 1.0, LogNormal{0.02}}, {0.31, 1.5, LogNormal{0.05}}}};
    const Mixture overlapping{
        {{0.5, 1.0, Normal{0.1}}, {0.3, 1.2, Gamma{0.3}}, {0.2, 0.9, StudentT{2.5, 0.05}}}};
    const Mixture core{{{1.0, 1.0, LogNormal{0.05}}}};
    const Mixture spikes{{{1.0, 1.0, Constant{}}}};
    return {
        {"constant", {Constant{}, {}, 20.0, ""}},
        {"constant, rarely slow", {Constant{}, slow, 20.0, ""}, 0.0, true},
        {"constant, often slow", {Constant{}, often, 20.0, ""}, 0.4 / 1.2, true},
        {"normal, narrow", {Normal{0.0025}, {}, 20.0, ""}, 0.0025},
        {"normal", {Normal{0.1}, {}, 20.0, ""}, 0.1},
        {"normal cut at zero", {Normal{0.8}, {}, 20.0, ""}},
        {"normal, rarely slow", {Normal{0.016}, slow, 20.0, ""}, 0.0, true},
        {"normal, very rarely slow", {Normal{0.016}, rare, 20.0, ""}, 0.0, true},
        {"normal, hardly ever slow", {Normal{0.016}, rarest, 20.0, ""}, 0.0, true},
        {"lognormal", {LogNormal{0.3}, {}, 20.0, ""}, 0.3},
        {"lognormal, wide", {LogNormal{2.0}, {}, 1e6, ""}, 2.0},
        {"lognormal capped", {LogNormal{1.0}, {}, 3.0, ""}},
        {"lognormal, often slow", {LogNormal{0.2}, often, 20.0, ""}, 0.0, true},
        {"gamma", {Gamma{0.5}, {}, 40.0, ""}, 0.5},
        {"gamma, more than exponential", {Gamma{1.2}, {}, 200.0, ""}},
        {"gamma, often slow", {Gamma{0.2}, often, 20.0, ""}, 0.0, true},
        {"weibull, narrow", {Weibull{0.02}, {}, 20.0, ""}, 0.02},
        {"weibull", {Weibull{0.4}, {}, 20.0, ""}, 0.4},
        {"weibull, stretched", {Weibull{1.5}, {}, 1e3, ""}},
        {"weibull, rarely slow", {Weibull{0.05}, rare, 20.0, ""}, 0.0, true},
        {"shifted gamma", {ShiftedGamma{0.1, 0.9}, {}, 20.0, ""}, 0.1},
        {"shifted gamma, skew", {ShiftedGamma{0.3, 0.8}, {}, 200.0, ""}, 0.3},
        {"student-t 1", {StudentT{1.0, 0.1}, {}, 20.0, ""}},
        {"student-t 1, far cap", {StudentT{1.0, 0.02}, {}, 1e6, ""}},
        {"student-t 1.5", {StudentT{1.5, 0.1}, {}, 20.0, ""}},
        {"student-t 2", {StudentT{2.0, 0.05}, {}, 100.0, ""}},
        {"student-t 3.7", {StudentT{3.7, 0.05}, {}, 20.0, ""}},
        {"student-t 12", {StudentT{12.0, 0.01}, {}, 20.0, ""}, 0.01 * std::sqrt(1.2)},
        {"student-t, rarely slow", {StudentT{1.5, 0.01}, rare, 20.0, ""}, 0.0, true},
        {"gev, gumbel", {GeneralizedExtremeValue{0.0, 0.05}, {}, 20.0, ""}, gumbel_cv},
        {"gev, heavy", {GeneralizedExtremeValue{0.5, 0.1}, {}, 50.0, ""}},
        {"gev, heavier than a mean", {GeneralizedExtremeValue{1.2, 0.1}, {}, 1e3, ""}},
        {"gev, bounded", {GeneralizedExtremeValue{-0.3, 0.1}, {}, 20.0, ""}, extreme_value_cv(-0.3, 0.1)},
        {"gev, nearly gumbel",
         {GeneralizedExtremeValue{1e-3, 0.05}, {}, 20.0, ""},
         extreme_value_cv(1e-3, 0.05)},
        {"pareto tail", {ParetoTail{core, 0.05, 0.4, 0.05}, {}, 20.0, ""}, 0.0, true},
        {"pareto tail, far cap", {ParetoTail{core, 0.01, 1.0, 0.1}, {}, 1e5, ""}, 0.0, true},
        {"pareto tail, exponential", {ParetoTail{core, 0.05, 0.0, 0.05}, {}, 20.0, ""}, 0.0, true},
        {"pareto tail, bounded", {ParetoTail{core, 0.05, -0.5, 0.1}, {}, 20.0, ""}, 0.0, true},
        {"pareto spikes", {ParetoTail{spikes, 0.02, 0.7, 0.5}, {}, 100.0, ""}, 0.0, true},
        {"pareto tail, often slow", {ParetoTail{core, 0.05, 0.4, 0.05}, often, 40.0, ""}, 0.0, true},
        {"two modes", {bimodal, {}, 20.0, ""}, 0.0, true},
        {"three parts that overlap", {overlapping, {}, 20.0, ""}},
        {"mixture of mixtures",
         {Mixture{{{0.9, 1.0, bimodal}, {0.1, 2.0, overlapping}}}, {}, 20.0, ""},
         0.0,
         true},
        {"empirical, two values", {Empirical{{1.0, 3.0}}, {}, 20.0, ""}, 0.0, true},
        {"empirical, ties", {Empirical{{1.0, 1.0, 1.0, 2.0, 2.0}}, {}, 20.0, ""}, 0.0, true},
        {"empirical", {Empirical{pool}, {}, 20.0, ""}, 0.0, true},
        {"empirical, large", {Empirical{measured_pool(5000)}, {}, 20.0, ""}, 0.0, true},
        {"empirical, capped", {Empirical{measured_pool(5000)}, {}, 1.2, ""}, 0.0, true},
        {"empirical, often slow", {Empirical{pool}, often, 20.0, ""}, 0.0, true},
    };
}

}  // namespace prismopt
