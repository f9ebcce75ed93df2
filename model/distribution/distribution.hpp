#pragma once

/// Distributions of duration factors. Each has mean one, is positive and truncated at a cap, and is given by
/// its quantile function; the sampler sees only tables compiled from it (distribution/quantile_table.hpp).
/// docs/methods/distributions.md.
///
/// The unit of a family is its mean if it is given by a cv, and its median if it is given by a `scale`
/// (families that may have neither variance nor mean). The families are implemented in
/// model/distribution/families.cpp.

#include "model/distribution/quantile_table.hpp"

#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace prismopt {

struct Constant {};
struct Normal {
    double cv = 0.0;
};
struct LogNormal {
    double cv = 0.0;
};
struct Gamma {
    double cv = 0.0;
};
struct Weibull {
    double cv = 0.0;
};
/// Gamma distribution above `shift`, a fraction of the mean in [0, 1). Its skewness is 2 cv / (1 - shift).
struct ShiftedGamma {
    double cv = 0.0;
    double shift = 0.0;
};
/// 1 + scale * t, with Student's t. Degrees of freedom of at least 1, not only integers.
struct StudentT {
    double degrees_of_freedom = 0.0;
    double scale = 0.0;
};
/// Generalized extreme value distribution about its median. Shape > 0: power tail, P(X > x) ~ x^(-1/shape);
/// 0: Gumbel; < 0: bounded above.
struct GeneralizedExtremeValue {
    double shape = 0.0;
    double scale = 0.0;
};
/// Empirical distribution: a pool of measured durations in any unit; only ratios matter.
struct Empirical {
    std::vector<double> values;
};

struct MixtureComponent;
/// Mixture distribution. The weights of the parts sum to one.
struct Mixture {
    std::vector<MixtureComponent> components;
};
/// `core` up to its quantile with `probability` above it, and a generalized Pareto distribution
/// from there on (peaks over threshold): shape as of extreme values, scale in the core's unit. A
/// core of one part is that family.
struct ParetoTail {
    Mixture core;
    double probability = 0.0;
    double shape = 0.0;
    double scale = 0.0;
};

using Family = std::variant<Constant, Normal, LogNormal, Gamma, Weibull, ShiftedGamma, StudentT,
                            GeneralizedExtremeValue, Empirical, Mixture, ParetoTail>;

struct MixtureComponent {
    double weight = 1.0;
    double at = 1.0;  // place of the part's unit: 1.5 for a mode that is 50 % slower
    Family family;
};

/// Functions of a family before truncation, implemented in model/distribution/families.cpp.
struct FamilyFunctions {
    Quantile quantile;
    /// P(X > x) when `upper`, P(X <= x) otherwise.
    std::function<double(double x, bool upper)> probability;
    /// Ascending values between which both functions are smooth and change moderately.
    std::vector<double> knots;
};
/// Returns the functions of a family. Throws std::domain_error if a parameter is outside its range.
FamilyFunctions functions_of(const Family& family);

/// Slow mode: with `probability` the factor is drawn around (1 + excess) instead of 1, as for a rare slow GPU
/// or link. Equivalent to a mixture of the family with itself, stretched.
struct SlowMode {
    double probability = 0.0;
    double excess = 0.0;
};

/// Distribution of a duration factor.
struct Distribution {
    Family family = Constant{};
    SlowMode slow;
    double cap = 20.0;   // largest factor, slow mode included, in the family's unit
    std::string source;  // source of the numbers, for results and reports
};

/// Quantile function of a distribution, truncated and then normalised.
///
/// X is drawn conditional on 0 < X <= cap, factors below 1e-3 are raised to 1e-3, and the result is divided
/// by its mean. Truncation is conditional, not clamping, so no probability accumulates at the cap: an op that
/// a watchdog ends counts as a failure, not as a duration.
class DistributionQuantile {
public:
    /// Throws std::domain_error if a parameter is outside its range, or if less than 1e-6 of the
    /// distribution lies within the cap.
    explicit DistributionQuantile(const Distribution& distribution);

    /// Returns the quantile at lower probability p, or at upper (survival) probability p when `upper`, so
    /// that tails keep their digits. Its mean over p is one. Throws std::domain_error if p is outside (0, 1).
    double operator()(double p, bool upper) const;
    /// P(factor > x) when `upper`, P(factor <= x) otherwise.
    double probability(double x, bool upper) const;

    double longest() const;  // largest factor: the cap over the mean
    Moments moments() const;
    bool constant() const { return constant_; }

private:
    // Returns the probability of the untruncated family that belongs to p.
    double untruncated(double p, bool upper) const;
    double truncated_probability(double x, bool upper) const;

    FamilyFunctions family_;
    double cap_;
    double below_ = 0.0;   // probability of the family at or below zero
    double beyond_ = 0.0;  // probability of the family above the cap
    bool constant_ = false;
    Moments raw_;  // after truncation, before normalisation
};

/// Returns the probability that the family, with its slow mode, exceeds the cap: what truncation removes.
double beyond_cap(const Distribution& distribution);

}  // namespace prismopt
