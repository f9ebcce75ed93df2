#pragma once

/// Reads measurements of a job or cluster in any supported format.

#include "io/traces/collective_table.hpp"
#include "io/traces/kernel_name_table.hpp"
#include "io/traces/trace_stream.hpp"
#include "model/calibration/fit/failure_fit.hpp"
#include "model/calibration/samples.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct TraceFiles {
    Trace trace;
    std::vector<std::string> notes;  // on what limits the use of the trace
    std::vector<Outage> outages;
    std::vector<Fault> excluded_events;  // of lists of outages: events that are not failures
    std::string outage_source;
    std::vector<GpuRun> gpu_runs;
    std::string gpu_source;
    std::vector<Fault> gpu_faults;
    std::vector<CollectiveRun> collectives;
    std::vector<CollectiveTable> collective_tables;  // of benchmarks that print them by size
    std::string collective_source;
    std::vector<Fault> collective_faults;
};

/// Reads files whose format is detected from their content, not from their names: operation tables,
/// lists of outages, tables of runs per GPU, samples of collectives (separated by commas, bars or tabs),
/// Kineto and Chakra traces (JSON), output of nccl-tests; each may be compressed with gzip. `names`:
/// classes of kernels. `content_limit`: bytes that are read of each, decompressed. Throws InputError
/// with the line for other content.
TraceFiles read_trace_files(const std::vector<std::string>& paths,
                            const KernelNames& names = kernel_names({}),
                            std::uint64_t content_limit = default_content_limit);

}  // namespace prismopt
