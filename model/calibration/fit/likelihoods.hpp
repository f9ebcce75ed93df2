#pragma once

/// The families of model/distribution/distribution.hpp, fitted by maximum likelihood.

#include "model/distribution/distribution.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// A family fitted to values. `log_density` is that of the values, in their unit.
struct FittedFamily {
    Family family;
    double unit = 1.0;  // where the family's unit, its mean or its median, lies among the values
    std::function<double(double)> log_density;
};

struct FamilyRecipe {
    std::string name;    // as scenarios name it, but for two more kinds of pareto-tail; "mixture-tail": its core is a mixture
    int parameters = 0;  // location among them
    /// Nothing where the family does not suit, or the values are too few for it.
    std::function<std::optional<FittedFamily>(std::span<const double> values)> fit;
};

/// All families with a density. Constant and empirical have none.
const std::vector<FamilyRecipe>& family_recipes();

}  // namespace prismopt
