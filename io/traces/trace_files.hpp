#pragma once

/// Measurements of a job or cluster in whatever format they come.

#include "model/calibration/fit/failure_fit.hpp"
#include "model/calibration/fit/samples.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct TraceFiles {
    Trace trace;
    std::vector<Outage> outages;
    std::string outage_source;
    std::vector<GpuRun> gpu_runs;
    std::string gpu_source;
    std::vector<Fault> gpu_faults;
    std::vector<CollectiveRun> collectives;
    std::string collective_source;
    std::vector<Fault> collective_faults;
};

/// Reads each file by what it holds, not by its name: operation tables, lists of outages, tables of runs by GPU, samples of
/// collectives (CSV, bars or tabs), Kineto and Chakra traces (JSON), output of nccl-tests; gzip of each. Throws InputError with the
/// line for what is none of them.
TraceFiles read_trace_files(const std::vector<std::string>& paths);

}  // namespace prismopt
