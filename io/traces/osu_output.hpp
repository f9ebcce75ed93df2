#pragma once

/// Output of the OSU Micro-Benchmarks for collectives.

#include "io/traces/collective_table.hpp"

namespace prismopt {

bool is_osu_output(std::string_view beginning);

/// Reads the mean times of each output: "# OSU MPI Allreduce Latency Test v7.5", "# Size  Avg Latency(us)
/// ...", and rows. The number of ranks is not printed. Source: MVAPICH project, OSU Micro-Benchmarks,
/// util/osu_util.c and README. Throws InputError with the line.
std::vector<CollectiveTable> read_osu_tables(TraceStream& stream, const std::string& path,
                                             std::vector<Fault>& faults);

}  // namespace prismopt
