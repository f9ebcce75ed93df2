#pragma once

/// The catalog's discrepancy of measured plans (discrepancy.toml).

#include "model/calibration/posterior/discrepancy.hpp"

#include <string>

namespace prismopt {

/// Throws InputError when discrepancy.toml is not as jobs/fit_constants writes it.
Discrepancy catalog_discrepancy();

/// The text of discrepancy.toml. `date`: of the fit.
std::string discrepancy_text(const Discrepancy& discrepancy, const std::string& date);

}  // namespace prismopt
