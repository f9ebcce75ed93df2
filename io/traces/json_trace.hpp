#pragma once

/// Traces of frameworks in JSON.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>

namespace prismopt {

/// Adds the operations of a trace. The program that wrote it is detected from its events:
/// - Kineto (torch.profiler): events of category "kernel"; steps by the ProfilerStep# range that a kernel's
///   launch lies in, the rank by `distributedInfo`. Signature: name, grid, stream; for collectives name,
///   elements, group size and, if the process group has a description, the kind of group. Source:
///   pytorch/kineto, libkineto/src/output_json.cpp.
/// - JAX: events on the tracks "XLA Ops" of a TPU, or "Stream #..." of a GPU; steps by its track "Steps".
///   Each device is a worker. Source: openxla/xprof, the trace viewer's JSON (docs.jax.dev, profiling).
/// - Chakra: nodes with a duration that ran on a GPU, of the linker (exclusive_dur), of the converter to
///   JSON (durationMicros), or with duration_micros. Source: mlcommons/chakra, src/trace_link,
///   src/converter, schema/protobuf/et_def.proto.
/// Otherwise one file is one rank; files without a rank are numbered in order. Throws InputError with the
/// place if the file is no such trace.
/// Returns a note for the user: how many kernels have no launch in the trace, and so may be in a
/// step after theirs; empty for none.
std::string read_json_trace(TraceStream& stream, const std::string& path, const KernelNames& names,
                            Trace& trace);

}  // namespace prismopt
