#pragma once

/// Error of the model on accelerators that were not measured.

#include "optimizer/fit/least_squares.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Rows of a measured accelerator, predicted with its own peaks and bandwidths but with the shares of the
/// peak that were fitted to another accelerator, as for a chip that is known from its datasheet only.
struct BorrowedShares {
    std::string measured;
    std::string shares_of;
    bool sibling = false;        // of the same family of accelerators
    std::vector<double> errors;  // [row]: log(predicted / measured)
    // [row]: standard deviation beyond the scatter for which the error lies on its 95 % limit
    std::vector<double> needed;
    std::vector<double> weight;
};

/// Every pair of accelerators.
std::vector<BorrowedShares> borrowed_shares(const std::vector<FittedRow>& rows, const Fit& fit,
                                            const NoiseByProfile& noise);

/// Returns the standard deviation that, in addition to the scatter, puts 95 % of the rows (by weight) inside
/// their 95 % intervals. Only pairs of different families count, because a chip that is known from its
/// datasheet only may have no sibling.
double unmeasured_deviation(const std::vector<BorrowedShares>& pairs);

}  // namespace prismopt
