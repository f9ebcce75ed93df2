#pragma once

/// Output of nccl-tests.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/fit/samples.hpp"
#include "model/hardware/kernel_class.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

bool is_nccl_output(std::string_view beginning);

/// What one command of nccl-tests printed.
struct NcclTable {
    struct Row {
        std::string kind;  // type and operation
        std::string size;  // as printed, bytes
        double seconds = 0.0;
        std::uint32_t line = 0;
    };
    std::string program{};  // "all_reduce"; empty: the output does not name it
    int ranks = 0;          // 0: the output does not list them
    int hosts = 0;
    int iterations = 1;  // of which a time is the mean
    double bus = 0.0;    // bus over algorithm bandwidth; 0: none printed
    std::vector<Row> rows{};
};

/// Reads out-of-place times by the header of each output: `# size count type redop root time algbw busbw ...`; root is optional.
/// Throws InputError with the line.
std::vector<NcclTable> read_nccl_tables(TraceStream& stream, const std::string& path, std::vector<Fault>& faults);

/// The same as samples. Times are comparable within a series: program, if the output names it, operation, type, ranks, and the
/// ratio of bus to algorithm bandwidth, which distinguishes collectives if nothing else does (2 (n - 1) / n for an all-reduce,
/// (n - 1) / n for its halves). Each time is a mean over iterations, so only several outputs of one command show a spread.
void read_nccl_output(TraceStream& stream, const std::string& path, std::vector<CollectiveRun>& times,
                      std::vector<Fault>& faults);

}  // namespace prismopt
