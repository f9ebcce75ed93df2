#pragma once

/// Timelines as files: Chrome's trace event format (Perfetto, chrome://tracing), and a picture.

#include "model/step/timeline.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// "F", "B+W", "all-gather", ...
std::string_view activity_name(Activity activity);
/// "compute", "receive activations", ...
std::string_view stream_name(TimelineStream stream);

/// Trace Event Format (Google, "Trace Event Format", JSON object form): a process per stage, a thread per
/// stream, complete events in microseconds. Overlapping events of a stream go to additional threads.
std::string timeline_json(const std::vector<TimelineEvent>& events);

/// Rows of stages, time to the right; transfers and exchanges are thin lines below compute.
std::string timeline_svg(const std::vector<TimelineEvent>& events);

/// Content of a timeline file by its extension, .json or .svg. Throws InputError for any other.
std::string timeline_text(const std::string& path, const std::vector<TimelineEvent>& events);

}  // namespace prismopt
