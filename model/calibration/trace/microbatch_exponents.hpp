#pragma once

/// Exponents of the microbatch factor: how much more one pass and stage varies with a microbatch's length
/// than another. docs/methods/calibration.md.

#include "model/calibration/fit/variance_components.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Exponent of one kind of operation on one stage.
struct MicrobatchExponent {
    int kind = 0;  // of the trace
    int stage = 0;
    double exponent = 1.0;
    double low = 1.0;  // 95 % interval
    double high = 1.0;
};

/// Log durations of microbatches, by what each belongs to.
struct MicrobatchTimes {
    std::vector<double> y;   // about the mean of the cell
    Partition cells;         // kind and stage
    Partition microbatches;  // of one replica in one step
    Partition groups;        // of microbatches that share all but their own effect
    Partition blocks;        // neighbouring steps: units of the jackknife
};

/// Returns the exponent of each cell, of mean one over cells; empty if they do not differ significantly
/// (1 %), or are not known: where microbatches have no common effect (four standard errors), and of two
/// cells, of which only the product is known.
///
/// Deviations of the microbatches within their group follow a one-factor model, y = exponent(cell) *
/// effect(microbatch) + residual. Its exponents are those that come nearest to the covariances of different
/// cells, which residuals do not enter (Harman and Jones, Psychometrika 31 (1966) 351-368: minimum
/// residuals). Intervals: jackknife over blocks.
std::vector<MicrobatchExponent> microbatch_exponents(const MicrobatchTimes& times);

/// Returns what the exponents add to each y: (exponent - 1) times the least-squares effect of its microbatch.
std::vector<double> beyond_exponent_one(const MicrobatchTimes& times,
                                        const std::vector<MicrobatchExponent>& exponents);

}  // namespace prismopt
