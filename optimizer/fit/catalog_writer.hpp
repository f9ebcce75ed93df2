#pragma once

/// Writes fitted constants into the files of the catalog, each on its own line.

#include "optimizer/fit/components.hpp"
#include "optimizer/fit/least_squares.hpp"

#include <string>

namespace prismopt {

/// Returns the text of a catalog file in which each line whose comment says "as NAME", an entry of that file,
/// has the value that NAME has for the same key.
std::string with_values_of_siblings(const std::string& text);

/// Rewrites accelerators.toml, stacks.toml, links.toml and libraries.toml of `folder`, and writes fit.toml
/// with date, rows, residuals, covariance and the errors of families left out of the fit. Throws InputError
/// if a file or a line is missing.
void write_catalog(const std::string& folder, const Fit& fit, const std::vector<FittedRow>& rows,
                   const std::string& date, double mean_error, double median_error,
                   const std::vector<HeldOutErrors>& held_out, const Components& components);

}  // namespace prismopt
