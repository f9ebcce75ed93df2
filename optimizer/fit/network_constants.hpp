#pragma once

/// Constants of links and of the library of collectives, fitted to measured
/// collectives without any training step.

#include "io/measured/measured_collectives.hpp"
#include "optimizer/fit/constants.hpp"

#include <vector>

namespace prismopt {

struct NetworkFit {
    std::vector<FitConstant> constants;  // at their fitted values
    std::vector<double> deviation;       // of their logarithms
    std::vector<double> fitted_s;        // [row of the measured collectives]
    // [row]: by fits without its families of links (NVLink, InfiniBand, EFA, ...), the farther
    std::vector<double> held_out_s;
    int rows = 0;  // without those of systems that stand apart
};

/// Priors: what NCCL's tuner assumes (NVIDIA/nccl, src/graph/tuning.cc), and shares of data sheets.
NetworkFit fit_network(const std::vector<MeasuredCollective>& rows);

}  // namespace prismopt
