#pragma once

/// Errors of predicted collectives against measured ones, by kind and size.

#include "io/measured/measured_collectives.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Mean over systems of their mean errors, relative to the measured times.
struct RegionErrors {
    Collective kind = Collective::all_reduce;
    std::string region;  // of message sizes
    int systems = 0;
    int rows = 0;
    double error = 0.0;  // absolute
    double bias = 0.0;
};

/// By kind, then by size: below 64 KiB, to 1 MiB, to 64 MiB, and from there on. `predicted_s`: [row].
/// Doubtful rows do not count; kinds and regions without rows are omitted.
std::vector<RegionErrors> errors_by_region(const std::vector<MeasuredCollective>& rows,
                                           const std::vector<double>& predicted_s);

}  // namespace prismopt
