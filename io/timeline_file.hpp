#pragma once

/// Timelines as files: Chrome's trace event format (Perfetto, chrome://tracing), and a picture.

#include "model/step/timeline.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Trace Event Format (Google, "Trace Event Format", JSON object form): a process a stage, a thread a stream, complete events in
/// microseconds. Events that overlap on one stream go to threads of their own.
std::string timeline_json(const std::vector<TimelineEvent>& events);

/// Rows of stages, time to the right; transfers and exchanges as thin lines under what is computed.
std::string timeline_svg(const std::vector<TimelineEvent>& events);

/// By the ending of the name, .json or .svg. Throws InputError for another, std::runtime_error where the file cannot be written.
void write_timeline(const std::string& path, const std::vector<TimelineEvent>& events);

}  // namespace prismopt
