#pragma once

/// Estimate of the requests of a search: the strategy runs on lower bounds and on a
/// small sample of evaluated plans.

#include "model/base/parallel.hpp"
#include "optimizer/study/study_model.hpp"
#include "optimizer/study/study_plan.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace prismopt {

/// Sample of feasible plans, with their lower bounds and evaluated objectives.
struct DrawnSample {
    struct Plan {
        std::vector<double> bound;  // by objective
        std::vector<Estimate> objectives;
    };
    std::vector<Plan> plans;
    double summary_s = 0.0;  // processor time per step draw of turning draws into objectives
};
/// Draws some of the plans, for at most some seconds after the first one.
DrawnSample draw_sample(const StudyModel& model, const std::vector<Bound>& feasible,
                        const std::vector<Rung>& rungs, const Pause& pause);

struct Rehearsal {
    bool ended = false;                // false: stopped after some seconds
    std::vector<std::uint64_t> plans;  // number of plans that reach rung 1, 2, ...
    double draws = 0.0;                // step draws, including those that confirm the front
    // raw tuple and its draws, in the order of the requests
    std::vector<std::pair<std::uint64_t, double>> drawn;
    std::uint64_t front = 0;
    std::uint64_t looked_at = 0;  // raw tuples
};

/// Runs the strategy with real sweeps. The objectives of a plan are its lower bounds times the ratio of
/// objectives to bounds of one plan of the sample, chosen by the index of the plan.
Rehearsal rehearse(const StudyModel& model, StudyPlan plan, const DrawnSample& sample, const Pause& pause);

/// Processor times, measured on a sample of the plans of the rehearsal. Plans are picked in proportion to
/// their draws, so the means are those over all draws.
struct DrawCosts {
    std::vector<double> alone_s;  // per step draw of a plan that is drawn alone
    // per step draw of plans that are drawn together, if the rehearsal has any
    std::vector<double> together_s;
    double model_interval_s = 0.0;  // per plan of the front
};
DrawCosts draw_costs(const StudyModel& model, const Rehearsal& rehearsal, const Pause& pause);

}  // namespace prismopt
