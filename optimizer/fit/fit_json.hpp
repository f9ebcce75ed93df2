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

}  // namespace prismopt
