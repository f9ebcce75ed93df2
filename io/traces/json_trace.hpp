#pragma once

/// Reads JSON traces of frameworks event by event, so that memory grows with the number of kernels only.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>

namespace prismopt {

/// Adds the operations of a trace. Two formats are detected by their lists:
/// - `traceEvents`, Kineto's (torch.profiler): events of category "kernel" on a GPU's streams; steps by the ProfilerStep# range that a
///   kernel's launch lies in, the rank by `distributedInfo`. Signature: name, grid, stream; for collectives name, elements, group size and, if the process
///   group has a description, the kind of group. The list of events alone, without an enclosing document, is accepted, too.
/// - `nodes`, Chakra's execution traces: nodes with a duration. Signature: name and communication size.
/// One file is one rank; files without a rank are numbered in order. Throws InputError with the place if the file is no such
/// trace.
void read_json_trace(TraceStream& stream, const std::string& path, const KernelNames& names, Trace& trace);

}  // namespace prismopt
