#pragma once

/// Traces of frameworks in JSON, read event by event: a gigabyte takes little more memory than its kernels do.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>

namespace prismopt {

/// Adds the operations of a trace. Two formats are told by their lists:
/// - `traceEvents`, Kineto's (torch.profiler): events of category "kernel" on a GPU's streams; steps by the ProfilerStep# ranges, the
///   rank by `distributedInfo`. Signature: name, grid, stream; of collectives name, elements, group size and, where the process group
///   has a description, whose group it is. The list of events alone, without a document around it, is taken too.
/// - `nodes`, Chakra's execution traces: nodes with a duration. Signature: name, and the communication's size.
/// One file is one rank; files without a rank count up. Throws InputError with the place for what is no such trace.
void read_json_trace(TraceStream& stream, const std::string& path, Trace& trace);

}  // namespace prismopt
