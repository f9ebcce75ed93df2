#pragma once

/// Plots of the tables of `prismopt numerics`.

#include "optimizer/numerics/numerics_study.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Deviation over the length of the sequence, distance of the weights and loss over a small training, in one
/// SVG; those whose tables are not among these are omitted.
std::string numerics_svg(const std::vector<NumericsTable>& tables);

}  // namespace prismopt
