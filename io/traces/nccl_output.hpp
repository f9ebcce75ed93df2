#pragma once

/// Output of nccl-tests.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/fit/samples.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

bool is_nccl_output(std::string_view beginning);

/// Reads out-of-place times by the header of each output: `# size count type redop root time algbw busbw ...`; root is optional.
/// Times are comparable within a series: program, if the output names it, operation, type, ranks, and the ratio of bus to
/// algorithm bandwidth, which distinguishes collectives if nothing else does (2 (n - 1) / n for an all-reduce, (n - 1) / n for
/// its halves). Each time is a mean over iterations, so only several outputs of one command show a spread. Throws InputError with
/// the line.
void read_nccl_output(TraceStream& stream, const std::string& path, std::vector<CollectiveRun>& times,
                      std::vector<Fault>& faults);

}  // namespace prismopt
