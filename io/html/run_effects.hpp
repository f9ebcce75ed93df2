#pragma once

/// Effects of failures, checkpoints and spare nodes on the training time of a plan: data of the HTML report.

#include "model/base/estimate.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace prismopt {

/// The run of a plan with one thing changed.
struct RunFigures {
    Estimate training_p99;  // seconds
    double training_p50_s = 0.0;
    double cost_usd = 0.0;  // at p99
    double energy_j = 0.0;
};

struct RunCurvePoint {
    double at = 0.0;  // seconds between checkpoints, or spare nodes
    RunFigures run;
};

struct RunEffect {
    std::string kind;  // "failures", "restarts", "checkpoints", "spares", "jitter"
    std::string name;
    RunFigures run;
};

/// Another way to go on after failures, and the failure rates at which it costs as much as the plan's own.
struct BreakEven {
    std::string other;       // "a restart at each failure"
    double factor = 0.0;     // on today's rates; NaN: at none that was looked at
    bool less_above = true;  // the other costs less above it; without a factor: at all rates
};

struct RunEffects {
    std::size_t position = 0;  // in shown_plans()
    std::uint64_t draws = 0;   // steps
    RunFigures plan;
    double between_failures_s = std::numeric_limits<double>::infinity();
    // between checkpoints; infinite: no checkpoints
    double interval_s = std::numeric_limits<double>::infinity();
    double young_s = 0.0;
    double optimal_s = 0.0;
    int spare_nodes = -1;  // -1: always enough
    std::vector<RunCurvePoint> interval;
    std::vector<RunCurvePoint> spares;
    std::string spares_note;  // why there is no such curve
    std::vector<RunEffect> effects;
    std::vector<BreakEven> break_even;
};

}  // namespace prismopt
