#pragma once

/// How much of the variance of measured effects is theirs, and how much is the noise of measuring them.

#include "model/calibration/fit/variance_components.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Of effects (logarithms) with standard errors, which `freedom` degrees tell together. Variance: that of the effects less that of their
/// errors, with limits by chi-squared; present where the effects differ by more than their errors explain (F test, 1 %).
/// `draws`: independent effects among them, fewer where neighbours are alike.
Component spread_of_effects(const std::string& name, const std::vector<double>& effects, const std::vector<double>& errors,
                            double freedom, double draws);

/// Effects in time, of how many independent ones they tell the variance: n (1 - r^2) / (1 + r^2) with correlation r of neighbours.
/// Source: Bayley and Hammersley, J. R. Statist. Soc. Suppl. 8 (1946) 184-197, for an autoregressive series.
double independent_draws(const std::vector<double>& series);

}  // namespace prismopt
