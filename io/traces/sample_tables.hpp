#pragma once

/// Tables of repeated measurements: benchmarks per GPU, times of collectives.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/samples.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A table with gpu and perf or time (in ms), time_ms, time_us or seconds; or throughput (tflops, gflops,
/// gb_per_s, tokens_per_s, samples_per_s), whose inverse is used; optionally app [benchmark] and node; and
/// chassis, rack, cabinet or row, without which nodes of one number are one node.
bool is_gpu_table(const std::vector<std::string>& header);
void read_gpu_table(TraceStream& stream, const std::string& path, char separator, std::vector<GpuRun>& runs,
                    std::vector<Fault>& faults);

/// A table with one collective per line: lat_us [time_us] and bytes [size]; all other columns except
/// the number i identify the series.
bool is_collective_table(const std::vector<std::string>& header);
void read_collective_table(TraceStream& stream, const std::string& path, char separator,
                           std::vector<CollectiveRun>& times, std::vector<Fault>& faults);

}  // namespace prismopt
