#pragma once

/// Plans near a given one: on the same number of GPUs, with the same batch, and with the values
/// of at most a few axes changed.
///
/// Values are those of values_to_try(), as far as the trainer runs them. A value and what it forces on other
/// axes (with_values()) count as one change. Plans are ranked by lower bounds (Predictor::bound), so the best
/// of them need draws before one is said to be faster.
///
/// Exact: of each number of changes, the plans with the least bounds among all combinations of these values,
/// of those that are better by `least_gain` than with any of their changes undone; bounds that are looser and
/// cost less exclude the others (Cutoff). Heuristic: after `most_bounds` bounds the remaining combinations
/// are not looked at (NearPlans::complete). Those that combine the changes which shorten the step most come
/// first, whether these fit into memory alone or not.

#include "model/base/parallel.hpp"
#include "model/objective.hpp"
#include "model/plan/plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct Problem;
struct Scenario;

struct NearPlansRequest {
    int most_changes = 2;   // 1 to 3
    std::size_t most = 10;  // plans of each number of changes
    // probability with which plans must fit into memory; nothing: that of the limit
    std::optional<double> fits{};
    double least_gain = 1e-3;          // share of what the study minimises that each change must save
    std::size_t most_bounds = 10'000;  // combinations of several changes that are bounded
};

struct NearPlan {
    ParallelPlan plan;
    int axes = 0;                        // changes, without what they force
    std::vector<std::string> changes{};  // "schedule=interleaved", "v=2": as --design reads them
    NoiseFree bound{};
    double value = 0.0;     // lower bound of what the study minimises first (least_value())
    double fits = 0.0;      // probability that it fits into memory
    bool in_space = false;  // [space] lists the changed values
};

struct NearPlans {
    // the given plan, whether it fits or not; nothing: its structure is infeasible
    std::optional<NearPlan> start{};
    bool start_fits = false;        // with the probability asked for
    std::vector<NearPlan> plans{};  // the least value first
    bool complete = true;
    std::size_t bounds = 0;  // combinations that were bounded
};

/// `pause` is called between bounds; its exceptions pass through.
NearPlans near_plans(
    const ParallelPlan& plan, const Scenario& scenario, const Problem& problem,
    const NearPlansRequest& request = {}, const Pause& pause = [] {});

/// The rules of the trainer that the search is limited to, or of the one that the
/// scenario's software has; empty: none.
std::string trainer_of(const Scenario& scenario);

}  // namespace prismopt
