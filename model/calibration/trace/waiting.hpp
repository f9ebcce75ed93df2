#pragma once

/// Separation of transfers from waiting for the other end. docs/methods/calibration.md.

#include <span>

namespace prismopt {

/// Returns the threshold above which durations include waiting; infinite if none do. Transfers alone vary about evenly around
/// their median in logarithms, and waiting only adds: Otsu's threshold on logarithms first separates the two, then median and
/// spread of those below set it anew, four standard deviations above, until it no longer changes. Less than a hundredth above, or
/// a mean there of less than three times the transfers', is a tail, or transfers of two sizes.
double waiting_threshold(std::span<const double> seconds);

}  // namespace prismopt
