#pragma once

/// Output of nccl-tests.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/fit/samples.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

bool is_nccl_output(std::string_view beginning);

/// Out-of-place times, by the header that each output has: `# size count type redop root time algbw busbw ...`; root is not in all.
/// Times compare within a series: program, where the output names it, operation, type, ranks, and bus over algorithm bandwidth, which
/// tells collectives and their sizes apart where nothing else does (2 (n - 1) / n for an all-reduce, (n - 1) / n for its halves).
/// Each is a mean over iterations: only several outputs of one command tell of a spread. Throws InputError with the line.
void read_nccl_output(TraceStream& stream, const std::string& path, std::vector<CollectiveRun>& times,
                      std::vector<Fault>& faults);

}  // namespace prismopt
