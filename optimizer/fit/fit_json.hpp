#pragma once

/// What a fit found, as JSON, from which jobs/fit_pages.py writes pages of results/.

#include "optimizer/fit/components.hpp"
#include "optimizer/fit/plan_groups.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Errors and constants of collectives and kernels alone. Relative errors, not percentages.
std::string components_json(const Components& components);

/// What shortlists of measured plans are worth, and the discrepancy of all plans.
std::string shortlists_json(const std::vector<ShortlistAccuracy>& groups, const Discrepancy& discrepancy);

/// Rows that were left out of the fit with their family, and the covariance of their predictions by
/// the constants, row by row up to the diagonal: from which jobs/pair_study fits how errors on
/// different accelerators go together.
std::string held_out_rows_json(const std::vector<FittedRow>& rows, const std::vector<HeldOutFamily>& families,
                               const std::vector<double>& widening);

}  // namespace prismopt
