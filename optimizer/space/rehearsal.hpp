#pragma once

/// What a search will ask for, found by letting the strategy play on bounds and on a few plans that were really drawn.

#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/study_plan.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace prismopt {

/// Of plans spread over the feasible ones: how the objectives lie to their bounds.
struct DrawnSample {
    struct Plan {
        std::vector<double> bound;  // by objective
        std::vector<Estimate> objectives;
    };
    std::vector<Plan> plans;
};
DrawnSample draw_sample(const StudyModel& model, const std::vector<Bound>& feasible, std::uint64_t compared,
                        const std::vector<Rung>& rungs, const Pause& pause);

struct Rehearsal {
    bool ended = false;                                   // false: given up after some seconds
    std::vector<std::uint64_t> plans;                     // that reach rung 1, 2, ...
    double draws = 0.0;                                   // of steps, with those that confirm the front
    std::vector<std::pair<std::uint64_t, double>> drawn;  // raw tuple and its draws, in the order asked for
    std::uint64_t front = 0;
    std::uint64_t looked_at = 0;  // raw tuples
};

/// Sweeps are really made. A plan's values are its bounds times what one of the sample's plans (chosen by the plan's index) shows.
Rehearsal rehearse(const StudyModel& model, StudyPlan plan, const DrawnSample& sample, const Pause& pause);

/// Core-seconds of one step draw, measured on some of the plans that the rehearsal drew, each picked as often as it was drawn: their mean
/// is that of all draws.
std::vector<double> draw_costs(const StudyModel& model, const Rehearsal& rehearsal, const Pause& pause);

}  // namespace prismopt
