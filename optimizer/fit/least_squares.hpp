#pragma once

/// Nonlinear least squares of the catalog's constants against measured step times.

#include "io/measured/fitted_model.hpp"
#include "model/distribution/noise_tables.hpp"
#include "optimizer/fit/constants.hpp"

#include <string>
#include <utility>
#include <vector>

namespace prismopt {

using NoiseByProfile = std::map<std::string, NoiseTables>;

/// A measured run as the fit sees it.
struct FittedRow {
    MeasuredRun run;
    double inflation = 1.0;  // mean step time over the noise-free step, from one sampling at the catalog's constants
    double weight = 1.0;
};

struct Fit {
    std::vector<FitConstant> constants;  // at their fitted values
    std::vector<double> deviation;       // standard deviations of their logarithms
    std::vector<double> covariance;      // [i * constants + j], of logarithms
    std::vector<double> scatter;         // [kind of run]: of log(measured / predicted), as in FittedModel
    double unmeasured = 0.0;             // as in FittedModel
    double cost = 0.0;                   // sum of squares, with the priors'
    int evaluations = 0;
};

/// Rows weighted so that a source counts as its rows to the power 0.3.
std::vector<FittedRow> fitted_rows(const std::vector<MeasuredRun>& runs, const std::vector<double>& inflation);

/// Starts at what is believed and minimises the sum over rows of a robust loss of log(predicted / measured), and over constants of their priors, by
/// Levenberg and Marquardt's method (Eigen, after MINPACK). The loss is quadratic up to 5 % and linear beyond (Charbonnier et al.,
/// ICIP 1994), so that a few disturbed runs do not pull. Covariance: inverse of J^T J, scaled by the residual variance.
Fit fit_constants(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& believed, const NoiseByProfile& noise,
                  int most_steps);

/// Mean step times that these constants give the rows. `lender`: an accelerator whose shares of the peak all take instead of their own.
std::vector<double> predicted_times(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& constants,
                                    const NoiseByProfile& noise, const std::string& lender = "");

/// The value that a share of the weights does not exceed; zero of none.
double weighted_quantile(std::vector<std::pair<double, double>> values_and_weights, double share);

/// A row that was left out of a fit: |log(measured / predicted)|, and the standard deviations that were expected of it.
struct LeftOut {
    double error = 0.0;
    double constants = 0.0;
    double scatter = 0.0;
    double weight = 0.0;
};

/// By how much the constants' variance must grow for 95 % of the left-out rows (by weight) to be inside their 95 % limits; at least
/// one. The rows of a source are not independent, as the covariance takes them to be: what is peculiar to a source is in all of them
/// (the design effect of clustered samples, Kish, "Survey Sampling", 1965).
double widening_of(const std::vector<LeftOut>& left_out);
void widen(Fit& fit, double widening);

/// Standard deviations of the logarithms of these rows' times, as far as the fitted constants are uncertain: sqrt(g C g), the delta
/// method.
std::vector<double> constants_deviations(const std::vector<FittedRow>& rows, const Fit& fit, const NoiseByProfile& noise);

}  // namespace prismopt
