#pragma once

/// Laws of duration factors. Each has mean one, is positive and truncated at a cap, and is known by its quantile function;
/// the sampler sees only the tables compiled from them (model/distribution/quantile_table.hpp).
///
/// A family has a unit of its own: its mean where it is given by a cv, its median where it is given by a `scale` (laws that
/// may have neither variance nor mean). Its functions are in model/distribution/families.cpp.

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
/// Never below `shift`, a part of the mean in [0, 1); gamma above it. Its skewness is 2 cv / (1 - shift).
struct ShiftedGamma {
    double cv = 0.0;
    double shift = 0.0;
};
/// 1 + scale * t. Degrees of freedom from 1 up, not only whole ones.
struct StudentT {
    double degrees_of_freedom = 0.0;
    double scale = 0.0;
};
/// Generalized extreme values about their median. Shape above zero: a power tail, P(X > x) ~ x^(-1/shape); zero: Gumbel's;
/// below zero: a longest value.
struct GeneralizedExtremeValue {
    double shape = 0.0;
    double scale = 0.0;
};
/// A pool of measured durations in any unit; only ratios matter.
struct Empirical {
    std::vector<double> values;
};

struct MixturePart;
/// One of the parts, each with its probability. The weights sum to one.
struct Mixture {
    std::vector<MixturePart> parts;
};
/// `core` up to its quantile with `probability` above it, from there on the generalized Pareto law of peaks over a threshold:
/// shape as of extreme values, scale in the core's unit. A core of one part is that family.
struct ParetoTail {
    Mixture core;
    double probability = 0.0;
    double shape = 0.0;
    double scale = 0.0;
};

using Family = std::variant<Constant, Normal, LogNormal, Gamma, Weibull, ShiftedGamma, StudentT, GeneralizedExtremeValue,
                            Empirical, Mixture, ParetoTail>;

struct MixturePart {
    double weight = 1.0;
    double at = 1.0;  // where the part's unit lies: 1.5 for a mode that is 50 % slower
    Family family;
};

/// A family for the rest of the program, before any truncation. To be found in model/distribution/families.cpp.
struct FamilyFunctions {
    Quantile quantile;
    /// P(X > x) when `upper`, P(X <= x) otherwise.
    std::function<double(double x, bool upper)> probability;
    /// Rising values, between neighbours of which both functions are smooth and neither changes out of all proportion.
    std::vector<double> knots;
};
/// Throws std::domain_error when a parameter is outside its range.
FamilyFunctions functions_of(const Family& family);

/// With `probability` the factor is drawn around (1 + excess) instead of 1: a rare slow GPU or link. Short for a mixture of the
/// family with itself, stretched.
struct SlowMode {
    double probability = 0.0;
    double excess = 0.0;
};

struct Law {
    Family family = Constant{};
    SlowMode slow;
    double cap = 20.0;   // longest factor, slow mode included, in the family's unit
    std::string source;  // where the figures are from; goes into results and reports
};

/// A law, truncated and then normalised.
///
/// One rule for all families: X is drawn on condition that 0 < X <= cap, factors below 1e-3 are raised to that, and the result
/// is divided by its mean. Truncation is conditional, not clamping: a draw beyond the cap does not happen, since what a watchdog
/// ends is a failure, not a duration; so no probability sits at the cap.
class LawQuantile {
public:
    /// Throws std::domain_error when a parameter is outside its range, or less than 1e-6 of the law lies within the cap.
    explicit LawQuantile(const Law& law);

    /// Quantile at lower probability p, or at upper (survival) probability p when `upper`: tails keep their digits. Its mean
    /// over p is one. Throws std::domain_error when p is outside (0, 1).
    double operator()(double p, bool upper) const;
    /// P(factor > x) when `upper`, P(factor <= x) otherwise.
    double probability(double x, bool upper) const;

    double longest() const;  // nothing is above: the cap over the mean
    Moments moments() const;
    bool constant() const { return constant_; }

private:
    double untruncated(double p, bool upper) const;  // probability beside p, of the family
    double truncated_probability(double x, bool upper) const;

    FamilyFunctions family_;
    double cap_;
    double below_ = 0.0;   // probability of the family at or below zero
    double beyond_ = 0.0;  // ... above the cap
    bool constant_ = false;
    Moments raw_;  // after truncation, before normalisation
};

/// Probability that the family, with its slow mode, is above the cap: what truncation takes away.
double beyond_cap(const Law& law);

}  // namespace prismopt
