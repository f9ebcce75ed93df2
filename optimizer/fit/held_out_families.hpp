#pragma once

/// Errors of rows that were left out of the fit, by family: a line of models within a source.

#include "optimizer/fit/least_squares.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A row predicted by constants that were fitted without its family.
struct HeldOutRow {
    std::size_t row = 0;  // in the fit
    double error = 0.0;   // predicted / measured - 1
    HeldOut deviations;
};

struct HeldOutFamily {
    std::string source;
    std::string line;
    bool known = false;  // accelerator and stack of each row occur in other families
    std::vector<HeldOutRow> rows;
    // of log(predicted) from the constants, fitted without the family, [i * rows + j]
    std::vector<double> covariance{};
};

/// Fits the rows again without each family in turn, from the constants of `full` and with its priors, and
/// predicts that family. Constants that only this family determines return to the means of theirs.
std::vector<HeldOutFamily> held_out_families(const std::vector<FittedRow>& rows, const HierarchicalFit& full,
                                             const NoiseByProfile& noise, int most_steps);

/// Factors of the left-out rows of each kind, as widening_of() in least_squares.hpp with equal
/// weights; one where there are none.
std::vector<double> widening_of(const std::vector<FittedRow>& rows,
                                const std::vector<HeldOutFamily>& families);

/// Left-out families of one kind of run beside the fit of all rows. `deviations`: of the constants in
/// the full fit, not widened, [row].
std::vector<HeldOutErrors> held_out_errors(const std::vector<FittedRow>& rows,
                                           const std::vector<HeldOutFamily>& families, const Fit& full,
                                           const std::vector<double>& predicted,
                                           const std::vector<double>& deviations);

}  // namespace prismopt
