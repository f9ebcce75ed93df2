#pragma once

/// Tables of measured operations: one line per operation, with step, dp rank, stage,
/// microbatch, kind, start and duration.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Whether a header is that of an operation table.
bool is_operation_table(const std::vector<std::string>& header);

/// Adds the operations of a table to a trace. Columns (other names in brackets): step, dp [dp_rank], stage
/// [pp_rank], op [kind, name], start_X and dur_X [duration_X] where X is s, ms, us or ns, and optionally
/// seq_id [sequence] and mb_id [microbatch]. Rows with a negative duration, or one longer than a day, are
/// counted and excluded. Throws InputError with the line for an invalid table.
void read_operation_table(TraceStream& stream, const std::string& path, char separator,
                          const KernelNames& names, Trace& trace);

}  // namespace prismopt
