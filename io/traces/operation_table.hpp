#pragma once

/// Tables of measured operations: one line for each, with step, dp rank, stage, microbatch, kind, start and duration.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Whether a header names an operation table.
bool is_operation_table(const std::vector<std::string>& header);

/// Adds the operations of a table to a trace. Columns (other names in brackets): step, dp [dp_rank], stage [pp_rank], op [kind,
/// name], start_X and dur_X [duration_X] where X is s, ms, us or ns, seq_id [sequence] and mb_id [microbatch] where there are any.
/// Rows whose duration is negative, or longer than a day, are counted and left out. Throws InputError with the line for what is no
/// table of operations.
void read_operation_table(TraceStream& stream, const std::string& path, char separator, Trace& trace);

}  // namespace prismopt
