#pragma once

/// Which law measured durations follow.

#include "model/distribution/distribution.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// One family, fitted.
struct FamilyFit {
    std::string family;
    Law law;
    double ks = 0.0;        // distance between the law, truncated as the sampler has it, and the values
    double held_out = 0.0;  // mean log-likelihood of values that the fit did not see
    double beyond = 0.0;    // values that the law has beyond the tenth longest; of chance between 5 and 18
    double spread = 0.0;    // its cv, capped, over the values'
    bool fits = false;
};

/// Whether the law has a far tail as the values do: a third to three times as many beyond the tenth longest, where there are 1,000.
bool far_tail_holds(double beyond_found, std::size_t values);

/// Whether the law's cv is two thirds to one and a half times the values', where there are 1,000: a law that is right about most values may
/// have a tail so long that it is several times as wide.
bool spread_holds(double spread, std::size_t values);

struct LawFit {
    Law law;  // of mean one
    std::string family;
    double ks = 0.0;
    std::size_t values = 0;
    double beyond = 0.0;           // of the law, as for a family
    double spread = 1.0;           // of the law, as for a family
    double claims_to = 0.0;        // highest quantile of which the values say something; zero: none
    std::vector<FamilyFit> tried;  // best first
};

struct FitOptions {
    /// A law fits when the KS test does not reject it at 5 %, or when it is nearer than this: with many values every law is rejected.
    double near_enough = 0.02;
    std::size_t pool = 200;  // most values of an empirical law that is written
};

/// The family with the greatest cross-validated likelihood among those that fit, those with the values' far tail before others: barriers
/// of thousands draw there, where neither KS nor likelihood looks. Where none has it, the one nearest to it. The pool of values itself where none does, or
/// where there are fewer than 20. Values are positive, in the order of measurement. Five folds of neighbours: what is near in time is
/// alike, and would vouch for itself.
LawFit fit_law(const std::vector<double>& values, const std::string& source, const FitOptions& options = {});

/// The law with no spread.
LawFit constant_law(const std::string& source);

/// Highest quantile with at least ten values beyond: its probability is then known to a third.
double highest_claim(std::size_t values);

}  // namespace prismopt
