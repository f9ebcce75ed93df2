#pragma once

/// Events of JSON traces, read one by one, so that memory grows with what the caller keeps only.

#include "io/traces/trace_stream.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace prismopt {

constexpr std::int64_t no_correlation = -1;

/// What an event is an element of: the list `traceEvents` (Chrome's trace events: Kineto, JAX), the list
/// `nodes` (Chakra), or a document of its own (Chakra's converter).
enum class JsonList { trace_events, nodes, documents };

/// An event, or a node. Members that it does not have are empty.
struct JsonEvent {
    JsonList list = JsonList::trace_events;
    std::string name;
    std::string phase;     // "X": an event with a duration; "M": the name of a process or thread
    std::string category;  // "cat"; of nodes "type"
    std::string process;   // "pid"
    std::string thread;    // "tid"
    std::string label;     // of a process or thread
    std::string stream;
    std::string grid;        // "4x2x1"
    std::string collective;  // "Collective name"
    std::string elements;    // of a message
    std::string group_size;
    std::string group;  // description of the process group
    std::string hlo_category;
    std::optional<double> collective_type;  // Chakra's comm_type
    std::optional<bool> on_cpu;             // Chakra's is_cpu_op
    bool linked = false;                    // has the times of Chakra's linker
    std::int64_t correlation = no_correlation;
    double start_us = std::nan("");
    double duration_us = std::nan("");
};

/// The rank that a trace states, and the lists that it has.
struct JsonTraceHead {
    std::optional<int> rank;
    bool has_list = false;
};

/// Calls `event` for each event. A file holds one document or, from Chakra's converter, one per node. Throws
/// InputError with the place where the text is no JSON.
JsonTraceHead read_json_events(TraceStream& stream, const std::string& path,
                               const std::function<void(JsonEvent&)>& event);

}  // namespace prismopt
