#pragma once

/// Maximum-likelihood fits of the families of model/distribution/distribution.hpp.

#include "model/distribution/distribution.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// Family fitted to values. `log_density` is that of the values, in their unit.
struct FittedFamily {
    Family family;
    double unit = 1.0;  // value of the family's unit (mean or median), in the unit of the values
    std::function<double(double)> log_density;
};

/// Fit of one family.
struct FamilyRecipe {
    // as in scenarios, and two more kinds of pareto-tail; "mixture-tail": its core is a mixture
    std::string name;
    int parameters = 0;  // including location
    /// Returns nothing if the family does not suit the values, or if there are too few.
    std::function<std::optional<FittedFamily>(std::span<const double> values)> fit;
};

/// Returns the pool of values with generalized Pareto tails, fitted to what lies beyond several thresholds,
/// at least 25 of the values. None with fewer than 250 values. `rising`, `pool`: in one unit.
std::vector<FittedFamily> pool_with_tails(std::span<const double> rising, const std::vector<double>& pool);

/// Returns the recipes of all families with a density, that is, all except constant and empirical.
const std::vector<FamilyRecipe>& family_recipes();

}  // namespace prismopt
