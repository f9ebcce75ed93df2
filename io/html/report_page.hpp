#pragma once

/// Results as one self-contained HTML page: style, program, charting library and data are inside.

#include "io/compare/compare.hpp"
#include "io/html/run_effects.hpp"
#include "io/results/results.hpp"
#include "model/step/timeline.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// One step at mean times.
struct StepTimeline {
    std::vector<TimelineEvent> events;  // empty: unknown
    int stages = 0;
    double step_s = 0.0;
};

/// A study, with data that its results file does not contain.
struct ReportedStudy {
    Results results;
    std::string name;                     // in legends and titles
    std::string file;                     // where the results were read from
    std::vector<StepTimeline> timelines;  // of the plans of shown_plans(), in order; or none
    std::string timeline_note;            // why some are missing
    std::string placement{};              // notes on where the process groups of plans lie; empty: none
    std::string levers{};  // axes that the space holds at one value, with what others would save; empty: none
    std::string host{};    // note on what waiting for the host costs the first plan; empty: none
    /// Output of `sensitivity --json` for a point of the front, and that point; empty: none.
    std::string sensitivity = {};
    std::uint64_t sensitivity_point = 0;
    std::vector<RunEffects> runs = {};  // of some points of the front
};

/// Upper limit of the size of a page: plans off the front are subsampled, and
/// timelines omitted, to stay below it.
inline constexpr std::size_t most_page_bytes = 3'000'000;

/// `program`: name, version and commit of this program. All studies have the same
/// objectives; `comparison` compares them.
std::string report_page(const std::vector<ReportedStudy>& studies, const std::string& program,
                        const Comparison& comparison = {});

}  // namespace prismopt
