#pragma once

/// Waiting for the other end, told from the transfer itself.

#include <span>

namespace prismopt {

/// Durations above this wait; infinite where nothing waits. Transfers alone vary about evenly around their median in logarithms;
/// waiting only adds. So what is too far above, by the spread below the median, waits: Otsu's threshold on logarithms first parts
/// the two, then median and spread of those below set it anew, four standard deviations above, until it stays. Less than a hundredth
/// above, or a mean there of less than three times the transfers', is a tail of theirs, or transfers of two sizes.
double waiting_threshold(std::span<const double> seconds);

}  // namespace prismopt
