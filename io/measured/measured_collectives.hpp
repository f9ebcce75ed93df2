#pragma once

/// Measured collectives from a folder's table: what the network model is held against.

#include "io/measured/measured_runs.hpp"
#include "model/hardware/collective.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct MeasuredCollective {
    std::string system;  // accelerator, GPUs and network
    std::string row;
    Cluster cluster;
    Collective kind = Collective::all_reduce;
    Bytes message;  // as collective_time() counts it
    double measured_s = 0.0;
};

struct MeasuredCollectives {
    std::vector<MeasuredCollective> rows;
    std::vector<SkippedRow> skipped;
};

/// Rows of collectives_bandwidth.csv that the network model covers; none where the folder has no such table. Sizes and times are
/// those of nccl-tests: of an all-gather the whole output, of an all-to-all what one GPU sends.
MeasuredCollectives read_measured_collectives(const std::string& folder);

}  // namespace prismopt
