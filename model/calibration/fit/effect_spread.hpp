#pragma once

/// Variance of measured effects, separated from the noise of measuring them.

#include "model/calibration/fit/variance_components.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Returns the variance component of effects (logarithms) whose standard errors have `freedom` degrees of
/// freedom in total: the variance of the effects less that of their errors, with limits by chi-squared;
/// present if the effects differ by more than their errors explain (F test, 1 %). `draws`: number of
/// independent effects, fewer if neighbours are correlated.
Component spread_of_effects(const std::string& name, const std::vector<double>& effects,
                            const std::vector<double>& errors, double freedom, double draws);

/// Returns the effects stretched to the variance of their component: means have noise of their own,
/// and are about the mean of a few.
std::vector<double> with_variance(std::vector<double> effects, double variance);

/// Returns the number of independent effects with the same information on the variance as a series in time: n
/// (1 - r^2) / (1 + r^2) with correlation r of neighbours. Source: Bayley and Hammersley, J. R. Statist. Soc.
/// Suppl. 8 (1946) 184-197, for an autoregressive series.
double independent_draws(const std::vector<double>& series);

}  // namespace prismopt
