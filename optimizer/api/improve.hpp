#pragma once

/// Better plans for a job that runs today: the best within a few changes of its plan, and the best of all.

#include "model/base/parallel.hpp"
#include "optimizer/api/job_changes.hpp"
#include "optimizer/api/plans.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct ImproveRequest {
    double measured_step_s = 0.0;        // mean step of today's plan; 0: not measured
    double measured_memory_bytes = 0.0;  // its peak on one GPU; 0: not measured
    int most_changes = 3;                // 1 to 3
    int most = 3;                        // plans of each number of changes
    double precision = 0.01;             // of the mean of measured steps
};

/// Throws InputError for what nothing can be found for; improve() does, too.
void refuse_wrong(const ImproveRequest& request);

/// A plan beside today's. Shares and probabilities are from 0 to 1; intervals hold 90 % and
/// include the error of the model.
struct ImprovedPlan {
    ParallelPlan plan;
    std::string design;        // as --design reads it
    int axes = 0;              // changes, without what they force; of the best of all: axes that differ
    bool best_of_all = false;  // no plan of the scenario's space, nor one near its best, is better
    std::vector<std::string> changes;  // "recompute=full"
    double step_s = 0.0;               // mean, given what was measured
    double gain = 0.0;                 // share of today's step that it saves: median, and interval
    double gain_low = 0.0;
    double gain_high = 0.0;
    double chance_faster = 0.0;
    double memory_bytes = 0.0;  // peak, given what was measured
    double fits = 0.0;          // probability, given what was measured
    std::string reason;         // what takes less time or memory
    std::size_t steps_to_measure = 0;
};

struct Improvement {
    ImprovedPlan today;  // its gain is zero; step and peak are the measured ones, if there are any
    // of today's plan, before it was measured
    double predicted_step_s = 0.0;
    double predicted_low_s = 0.0;  // 95 % prediction interval; 0: its step was not measured
    double predicted_high_s = 0.0;
    double predicted_memory_bytes = 0.0;
    bool measured = false;         // its step
    bool measured_memory = false;  // its peak
    double limit = 0.0;            // probability with which plans must fit
    // by the number of changes, those that gain most first; the best of all last
    std::vector<ImprovedPlan> plans;
    bool complete = true;  // all combinations of the values tried were bounded
    std::string software;  // that runs the plans, by whose rules values were tried; empty: any
    double precision = 0.0;
};

/// Plans on the same number of GPUs, with the same global batch. Those with the least lower bounds are drawn,
/// with the same random numbers as today's plan. Today's plan need not fit into memory. Throws InfeasiblePlan
/// if its structure is infeasible, and InputError for measurements that can only be mistakes.
Improvement improve(
    const ChosenPlan& today, const ImproveRequest& request = {}, const Pause& pause = [] {});

/// The best plan of `improvement` that changes at most so many axes; nothing: none.
const ImprovedPlan* best_within(const Improvement& improvement, int axes);

std::string improvement_text(const Improvement& of);
/// The changes of a job's files by the best plans of each number of changes, and by the best
/// of all. `changes`: of each plan.
std::string job_changes_text(const Improvement& of, const std::vector<JobChange>& changes);
/// One JSON object; results/README.md lists the keys. `changes`: of each plan, or empty.
std::string improvement_json(const Improvement& of, const std::vector<JobChange>& changes = {});

}  // namespace prismopt
