#pragma once

/// Root finding for continuous functions of one variable.

#include <functional>
#include <optional>

namespace prismopt {

/// Returns the root between `low` and `high` by bisection, to `bits` binary digits. Empty if
/// an end is not finite, if the function is not a number there or has the same sign at both
/// ends, or if it does not converge.
std::optional<double> root_between(const std::function<double(double)>& function, double low, double high,
                                   int bits);

}  // namespace prismopt
