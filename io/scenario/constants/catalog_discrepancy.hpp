#pragma once

/// The catalog's discrepancy of measured plans (discrepancy.toml).

#include "model/calibration/posterior/discrepancy.hpp"
#include "model/calibration/posterior/memory_error.hpp"
#include "model/calibration/posterior/pair_variance.hpp"
#include "model/hardware/memory_limit.hpp"

#include <string>

namespace prismopt {

struct Learned;

/// Throws InputError when discrepancy.toml is not as jobs/fit_constants writes it.
Discrepancy catalog_discrepancy();

/// How errors go together on two machines (pairs.toml, which jobs/pair_study writes). Throws InputError.
MachineCorrelations catalog_correlations();

/// Error of predicted peaks: as learned from the cluster, else as the catalog has it for this software
/// stack. Throws as catalog_discrepancy().
MemoryError memory_error_of(const Learned& learned, const std::string& stack);

/// The limit with the error of predicted peaks: that of what was learned from the cluster, if memory was
/// measured there, else that of the catalog's measured runs on this software stack.
MemoryLimit with_error(MemoryLimit limit, const std::string& stack, const MemoryError& learned = {});

/// The text of discrepancy.toml. `date`: of the fit.
std::string discrepancy_text(const Discrepancy& discrepancy, const std::string& date);

}  // namespace prismopt
