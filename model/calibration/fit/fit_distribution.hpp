#pragma once

/// Choice of a distribution for measured durations. docs/methods/calibration.md.

#include "model/distribution/distribution.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Fit of one family.
struct FamilyFit {
    std::string family;
    Distribution distribution;
    double ks = 0.0;        // Kolmogorov-Smirnov distance to the values, truncated as in the sampler
    double held_out = 0.0;  // mean log-likelihood of held-out values (cross-validation)
    double beyond = 0.0;    // expected number of values beyond the tenth longest; usually between 5 and 18
    double spread = 0.0;    // ratio of its cv, truncated, to that of the values
    bool fits = false;
};

/// Returns whether the far tail agrees with the values: a third to three times as many beyond the tenth
/// longest, from 1,000 values on.
bool far_tail_holds(double beyond_found, std::size_t values);

/// Returns whether the cv is two thirds to one and a half times that of the values, from 1,000
/// values on. A distribution that fits most values may have a long tail that makes its standard
/// deviation several times too large.
bool spread_holds(double spread, std::size_t values);

/// The chosen distribution.
struct DistributionFit {
    Distribution distribution;  // of mean one
    std::string family;
    double ks = 0.0;
    std::size_t values = 0;
    double beyond = 0.0;           // as FamilyFit::beyond
    double spread = 1.0;           // as FamilyFit::spread
    double claims_to = 0.0;        // highest quantile that the values support; zero: none
    std::vector<FamilyFit> tried;  // best first
};

struct FitOptions {
    /// A family fits if the KS test does not reject it at 5 %, or if its distance is below this: with many
    /// values every family is rejected.
    double near_enough = 0.02;
    std::size_t pool = 200;  // most values of an empirical distribution
};

/// Fits a distribution to positive values in the order of measurement: the family with the greatest
/// cross-validated likelihood among those that fit, preferring families that agree with the far tail of the
/// values, because barriers of thousands of members depend on it. If none agrees, the nearest one; if none
/// fits, or with fewer than 20 values, the pool of values itself (empirical), with a fitted tail if the
/// pool's largest value is below the largest of the values ("empirical with a tail"). Five folds of
/// neighbours, because values near in time are correlated.
DistributionFit fit_distribution(const std::vector<double>& values, const std::string& source,
                                 const FitOptions& options = {});

/// Returns the distribution of the longest of `times` independent draws, which need not be a whole
/// number, fitted again, of mean one.
DistributionFit longest_of_fit(const DistributionFit& fit, double times, const std::string& source);

/// Returns the distribution without spread.
DistributionFit constant_distribution(const std::string& source);

/// Returns the highest quantile with at least ten values beyond, whose probability is known to a third.
double highest_claim(std::size_t values);

}  // namespace prismopt
