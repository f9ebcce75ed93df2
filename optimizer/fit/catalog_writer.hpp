#pragma once

/// Puts fitted constants into the catalog's files, each on the line where it was.

#include "optimizer/fit/least_squares.hpp"

#include <string>

namespace prismopt {

/// Rewrites accelerators.toml, stacks.toml and links.toml of `folder`, and writes fit.toml with date, rows, residuals and covariance.
/// Throws InputError when a file or a line is not there.
void write_catalog(const std::string& folder, const Fit& fit, const std::vector<FittedRow>& rows, const std::string& date,
                   double mean_error, double median_error, double widening);

}  // namespace prismopt
