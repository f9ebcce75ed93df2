#pragma once

/// Root of a continuous function of one variable.

#include <functional>
#include <optional>

namespace prismopt {

/// Bisection between `low` and `high`, to `bits` binary digits. Empty when the ends are not finite, when the function is not a number
/// there or has the same sign at both, or when it does not converge.
std::optional<double> root_between(const std::function<double(double)>& function, double low, double high, int bits);

}  // namespace prismopt
