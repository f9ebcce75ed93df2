#pragma once

/// Deconvolution: the distribution of one summand, given samples of the sum and of the other summand.

#include <span>
#include <vector>

namespace prismopt {

/// Width of the grid's bins. Noise with a smaller standard deviation is ignored.
inline constexpr double deconvolution_bin = 0.125;

/// Returns ascending values of X, as many as there are sums, that explain the sums X + N best, starting
/// from the distribution of `start`.
///
/// Expectation maximisation on a grid, 10 rounds (Richardson, J. Opt. Soc. Am. 62 (1972) 55-59; Lucy, Astron.
/// J. 79 (1974) 745-754). All values are in units of the sums' standard deviation, about their mean; values
/// beyond 8 count as 8. If N is small compared with X, the result is close to the distribution of the sums;
/// if N is large, to `start`. docs/methods/training-time.md.
std::vector<double> deconvolved(std::span<const double> sums, std::span<const double> noise,
                                std::span<const double> start);

}  // namespace prismopt
