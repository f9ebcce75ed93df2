#pragma once

/// Tables of Nsight Systems, as `nsys stats --format csv` writes them.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// The report cuda_gpu_trace: "Start (ns)", "Duration (ns)", "GrdX", ..., "Device", "Strm", "Name".
bool is_nsys_trace(const std::vector<std::string>& header);
/// Adds its kernels to a trace; copies and fills of memory are no kernels. The report marks no steps: all is
/// one. Each device is a worker. Source: NVIDIA Nsight Systems User Guide, "Report Scripts", cuda_gpu_trace.
void read_nsys_trace(TraceStream& stream, const std::string& path, char separator, const KernelNames& names,
                     Trace& trace);

/// The report cuda_gpu_kern_sum: "Total Time (ns)", "Instances", ..., "Name".
bool is_nsys_summary(const std::vector<std::string>& header);

}  // namespace prismopt
