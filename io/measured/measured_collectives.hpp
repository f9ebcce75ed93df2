#pragma once

/// Measured collectives from a table, to validate the network model.

#include "io/measured/measured_runs.hpp"
#include "model/hardware/collective.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct MeasuredCollective {
    std::string system;  // a machine of one source
    std::string what;    // GPUs, accelerator and collective
    std::string row;
    Cluster cluster;
    Group group;
    Collective kind = Collective::all_reduce;
    Bytes message;  // as collective_time() counts it
    double measured_s = 0.0;
    bool doubtful = false;  // the source doubts its fabric, or it is unlike others with its links
};

/// Name of their table in a folder.
inline constexpr const char* collectives_table = "collectives_bandwidth.csv";

struct MeasuredCollectives {
    std::vector<MeasuredCollective> rows;
    std::vector<SkippedRow> skipped;
};

/// The collective of a program, as nccl-tests name it ("alltoall"); nothing for others.
std::optional<Collective> collective_of_nccl(const std::string& program);

/// Reads the rows of that table that the network model covers; empty if the folder has no such table. Throws
/// InputError for a published table in another format. Sizes and times are those of nccl-tests: for an
/// all-gather the whole output, for an all-to-all the bytes that one GPU sends.
MeasuredCollectives read_measured_collectives(const std::string& folder);

}  // namespace prismopt
