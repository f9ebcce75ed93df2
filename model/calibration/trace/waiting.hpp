#pragma once

/// Separation of transfers from waiting for the other end. docs/methods/calibration.md.

#include <span>

namespace prismopt {

/// Returns the threshold above which durations include waiting; infinite if none do. The logarithms of
/// transfer times alone are about symmetric around their median, and waiting only lengthens them. Otsu's
/// threshold on logarithms first separates the two groups; then the threshold is set four standard deviations
/// above the median of the lower group, repeatedly, until it no longer changes. Infinite if less than a
/// hundredth lies above it, or if the mean there is less than three times that of the transfers: that is a
/// tail, or transfers of two sizes.
double waiting_threshold(std::span<const double> seconds);

}  // namespace prismopt
