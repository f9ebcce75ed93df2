#pragma once

/// How far the model is off on an accelerator that was never measured.

#include "optimizer/fit/least_squares.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Rows of a measured accelerator, predicted with the shares of the peak that were fitted to another one, as for a chip that is described
/// by its datasheet alone: peaks and bandwidths are its own.
struct BorrowedShares {
    std::string measured;
    std::string shares_of;
    std::vector<double> errors;  // [row]: log(predicted / measured)
    std::vector<double> needed;  // [row]: deviation beside the scatter for which the error is at its 95 % limit
    std::vector<double> weight;
};

/// Every pair of accelerators that share no fitted constant but those of all.
std::vector<BorrowedShares> borrowed_shares(const std::vector<FittedRow>& rows, const Fit& fit, const NoiseByProfile& noise);

/// The deviation beside the scatter that holds 95 % of these rows (by weight) inside their 95 % limits.
double unmeasured_deviation(const std::vector<BorrowedShares>& pairs);

}  // namespace prismopt
