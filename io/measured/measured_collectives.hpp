#pragma once

/// Measured collectives from a table, to validate the network model.

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

/// Name of their table in a folder.
inline constexpr const char* collectives_table = "collectives_bandwidth.csv";

struct MeasuredCollectives {
    std::vector<MeasuredCollective> rows;
    std::vector<SkippedRow> skipped;
};

/// Reads the rows of that table that the network model covers; empty if the folder has no such table. Sizes and
/// times are those of nccl-tests: for an all-gather the whole output, for an all-to-all the bytes that one GPU sends.
MeasuredCollectives read_measured_collectives(const std::string& folder);

}  // namespace prismopt
