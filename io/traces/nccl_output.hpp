#pragma once

/// Output of nccl-tests.

#include "io/traces/collective_table.hpp"

namespace prismopt {

bool is_nccl_output(std::string_view beginning);

/// Reads out-of-place times by the header of each output:
/// `# size count type redop root time algbw busbw ...`; root is optional. The lines of each rank that a
/// launcher labels are an output of their own. Source: NVIDIA/nccl-tests, src/common.cu and
/// doc/PERFORMANCE.md (bus bandwidth). Throws InputError with the line.
std::vector<CollectiveTable> read_nccl_tables(TraceStream& stream, const std::string& path,
                                              std::vector<Fault>& faults);

}  // namespace prismopt
