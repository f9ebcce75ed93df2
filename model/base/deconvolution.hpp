#pragma once

/// The law of one part of a sum, where the sum and values of the other part are known.

#include <span>
#include <vector>

namespace prismopt {

/// Width of the grid's bins: noise of a smaller deviation is not worth the rounding.
inline constexpr double deconvolution_bin = 0.125;

/// Values, ascending and as many as there are sums, of the part X of sums X + N: the law of X that explains the sums best, seen from `start`.
///
/// Expectation maximisation on a grid (Richardson, J. Opt. Soc. Am. 62 (1972) 55-59; Lucy, Astron. J. 79 (1974) 745-754), a few rounds: where N
/// is small beside X, the law is the sums' own, two modes and all; where it is large, they say little and the law stays near `start`.
/// All in units of the sums' standard deviation, about their mean; what lies beyond eight of these counts as eight.
std::vector<double> deconvolved(std::span<const double> sums, std::span<const double> noise, std::span<const double> start);

}  // namespace prismopt
