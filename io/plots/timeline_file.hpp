#pragma once

/// Timelines as files: Chrome's trace event format (Perfetto, chrome://tracing), and a picture.

#include "model/step/graph/timeline.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Trace Event Format (Google, "Trace Event Format", JSON object form): a process a stage, a thread a stream, complete events in
/// microseconds. Events that overlap on one stream go to threads of their own.
std::string timeline_json(const std::vector<TimelineEvent>& events);

/// Rows of stages, time to the right; transfers and exchanges as thin lines under what is computed.
std::string timeline_svg(const std::vector<TimelineEvent>& events);

/// What a file of this name holds, by its ending: .json or .svg. Throws InputError for another.
std::string timeline_text(const std::string& path, const std::vector<TimelineEvent>& events);

}  // namespace prismopt
