#pragma once

/// Nonlinear least-squares fit of the constants of the catalog to measured step times.

#include "io/scenario/constants/fitted_model.hpp"
#include "model/distribution/noise_tables.hpp"
#include "optimizer/fit/constants.hpp"

#include <string>
#include <utility>
#include <vector>

namespace prismopt {

using NoiseByProfile = std::map<std::string, NoiseTables>;

/// A measured run in the fit.
struct FittedRow {
    MeasuredRun run;
    // mean step time over the noise-free step, from one sampling at the catalog's constants
    double inflation = 1.0;
    double weight = 1.0;
};

struct Fit {
    std::vector<FitConstant> constants;  // at their fitted values
    std::vector<double> deviation;       // standard deviations of their logarithms
    std::vector<double> covariance;      // [i * constants + j], of logarithms
    std::vector<double> scatter;         // [kind of run]: of log(measured / predicted), as in FittedModel
    std::vector<double> widening;        // [kind of run]: as in FittedModel
    double unmeasured = 0.0;             // as in FittedModel
    double cost = 0.0;                   // sum of squares, with the priors'
    int evaluations = 0;
};

/// Rows with weights such that a source of n rows counts as n^0.3, since its rows share its peculiarities.
/// (As one row, dense runs were 5.6 % off in the mean and 3.8 % in the median, not 5.5 and 3.5.)
std::vector<FittedRow> fitted_rows(const std::vector<MeasuredRun>& runs,
                                   const std::vector<double>& inflation);

/// Starts at the values of `start`, constants of the same order, and minimises the sum of a robust loss
/// of log(predicted / measured) over the rows, of the prior terms of `believed` and of its observations,
/// by the Levenberg-Marquardt method (Eigen, after MINPACK). The loss is that of Cauchy's weights
/// (Holland and Welsch, Communications in Statistics A 6 (1977) 813-827) with a scale of 10 %: rows
/// beyond that have the less influence the farther off they are. Covariance: inverse of J^T J, scaled by
/// the square of what a prior counts as.
Fit fit_constants(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& believed,
                  const std::vector<FitConstant>& start, const NoiseByProfile& noise, int most_steps);

/// Priors whose `spread` within each family is what its fitted members show.
///
/// One step of expectation-maximisation (Dempster, Laird and Rubin, J. R. Stat. Soc. B 39 (1977) 1-38): the
/// variance is the mean, over the members that runs determine, of the squared distance from their mean and of
/// that distance's posterior variance. The believed variance counts as `believed_members` members more.
std::vector<FitConstant> with_estimated_spreads(std::vector<FitConstant> believed, const Fit& fit,
                                                const std::vector<FittedRow>& rows);

/// fit_constants() and with_estimated_spreads() in turn: constants at their fitted values,
/// and the priors of the last fit.
struct HierarchicalFit {
    Fit fit;
    std::vector<FitConstant> believed;
};
HierarchicalFit fit_hierarchy(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& believed,
                              const NoiseByProfile& noise, int most_steps);

/// Predicted mean step times of the rows with these constants. `lender`: accelerator whose shares of the
/// peak replace those of all others.
std::vector<double> predicted_times(const std::vector<FittedRow>& rows,
                                    const std::vector<FitConstant>& constants, const NoiseByProfile& noise,
                                    const std::string& lender = "");

/// Weighted quantile; zero if there are no values.
double weighted_quantile(std::vector<std::pair<double, double>> values_and_weights, double share);

/// A row excluded from a fit: |log(measured / predicted)| and its expected standard deviations.
struct HeldOut {
    double error = 0.0;
    double constants = 0.0;
    double scatter = 0.0;
    double weight = 0.0;
};

/// Factor, at least one, by which the variance of the constants must grow for 95 % of the excluded rows
/// (by weight) to lie inside their 95 % intervals. The covariance assumes independent rows, but rows of one
/// source are correlated (design effect of clustered samples, Kish, "Survey Sampling", 1965).
double widening_of(const std::vector<HeldOut>& held_out);

/// Covariance of the logarithms of the predicted times due to the uncertainty of the fitted constants, by the
/// delta method: g C g, [i * rows + j].
std::vector<double> constants_covariance(const std::vector<FittedRow>& rows, const Fit& fit,
                                         const NoiseByProfile& noise);
/// Its standard deviations.
std::vector<double> constants_deviations(const std::vector<FittedRow>& rows, const Fit& fit,
                                         const NoiseByProfile& noise);

}  // namespace prismopt
