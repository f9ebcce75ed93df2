#pragma once

namespace prismopt {

/// Quantile 0.975 of the normal distribution.
inline constexpr double two_sided_95 = 1.959964;

}  // namespace prismopt
