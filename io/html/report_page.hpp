#pragma once

/// Results as one HTML page that needs nothing else: its style, its program, the charting library and the data are inside.

#include "io/html/run_study.hpp"
#include "io/results/compare.hpp"
#include "io/results/results.hpp"
#include "model/step/graph/timeline.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// One step at mean times.
struct StepTimeline {
    std::vector<TimelineEvent> events;  // empty: not known
    int stages = 0;
    double step_s = 0.0;
};

/// A study, and what its results file does not hold.
struct ReportedStudy {
    Results results;
    std::string name;                     // in legends and titles
    std::string file;                     // where the results were read from
    std::vector<StepTimeline> timelines;  // of the front's points, in order; or none
    std::string timeline_note;            // why some are missing
    /// What `sensitivity --json` wrote of a point of the front, and that point; empty: nothing.
    std::string sensitivity = {};
    std::uint64_t sensitivity_point = 0;
    std::vector<RunStudy> runs = {};  // of some points of the front
};

/// How well the model reproduces measured runs. Relative errors; NaN where there is nothing to compare.
struct ModelCheck {
    struct Source {
        std::string name;
        std::size_t runs = 0;
        double mean_absolute = 0.0;
        double median_absolute = 0.0;
        double bias = 0.0;
        double worst = 0.0;
        double rank_correlation = 0.0;
    };
    struct Run {
        std::string name;
        double measured_s = 0.0;
        double predicted_s = 0.0;
    };
    std::string compared;  // what with what, in words
    std::vector<Source> sources;
    std::vector<Run> runs;
};

/// A page stays below this, and so opens and travels easily: plans off the front are thinned out, and timelines left out, where
/// they would not fit.
inline constexpr std::size_t most_page_bytes = 3'000'000;

/// `program`: name, version and commit of what writes the page. All studies have the same objectives; `comparison` is of them.
std::string report_page(const std::vector<ReportedStudy>& studies, const ModelCheck& check, const std::string& program,
                        const Comparison& comparison = {});

}  // namespace prismopt
