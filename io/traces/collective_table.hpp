#pragma once

/// Times of collectives by size, as benchmarks print them.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/samples.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// What one command of a benchmark printed.
struct CollectiveTable {
    struct Row {
        std::string kind;  // type and operation
        std::string size;  // as printed, bytes
        double seconds = 0.0;
        std::uint32_t line = 0;
    };
    std::string benchmark = "nccl-tests";
    std::string program{};  // "all_reduce"; empty: the output does not name it
    int ranks = 0;          // 0: the output does not list them
    int hosts = 0;
    int iterations = 1;  // of which a time is the mean
    double bus = 0.0;    // bus over algorithm bandwidth; 0: none printed
    // sizes are those of one member's share (OSU's gathers and all-to-alls), not of the whole message
    bool per_member = false;
    bool single_rank = false;  // of one rank, whose collectives are copies in its memory
    std::vector<Row> rows{};
};

/// Whether a text begins as the output of nccl-tests or of the OSU benchmarks, with
/// labels of launchers or without.
bool is_collective_output(std::string_view beginning);
/// Reads it. Throws InputError with the line.
std::vector<CollectiveTable> read_collective_tables(TraceStream& stream, const std::string& path,
                                                    std::vector<Fault>& faults);

/// Adds the rows of tables as samples; those of a single rank are faults. Times are comparable within
/// a series: program, if the output names it, operation, type, ranks, and the ratio of bus to
/// algorithm bandwidth, which distinguishes collectives if nothing else does (2 (n - 1) / n for an
/// all-reduce, (n - 1) / n for its halves). Each time is a mean over iterations, so only several
/// outputs of one command show a spread.
void add_collective_runs(const std::vector<CollectiveTable>& tables, std::vector<CollectiveRun>& times,
                         std::vector<Fault>& faults);

}  // namespace prismopt
