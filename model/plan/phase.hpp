#pragma once

/// The phases of a training run, and a plan in one of them.

#include "model/plan/plan.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace prismopt {

/// What a phase has instead of the plan's; zero or none: the plan's.
struct PhasePlan {
    int gpus = 0;
    int tp = 0;
    int cp = 0;
    int pp = 0;
    int chunks = 0;
    int microbatch = 0;
    std::optional<Schedule> schedule = std::nullopt;  // with its usual group and chunks, and without post validation
    std::optional<Recompute> recompute = std::nullopt;
};

/// One part of the run. A run has one or more; they share the fleet and the failure history.
struct Phase {
    double tokens = 0.0;   // tokens to train on
    int sequence = 0;      // tokens in a sequence
    int global_batch = 0;  // sequences in an optimizer step
    PhasePlan own{};

    double steps() const { return tokens / (static_cast<double>(sequence) * global_batch); }
};

/// The plan as this phase runs it, without replicas where these do not divide its GPUs. A schedule of its own decides chunks that it leaves
/// open (interleaved: 2, or the plan's), chunks of its own the schedule (1f1b or interleaved); one stage has no pipeline to schedule.
ParallelPlan plan_in_phase(ParallelPlan plan, const Phase& phase);

/// Whether `rule(plan in the phase, phase)` holds in every phase.
template <class Rule>
bool in_every_phase(const ParallelPlan& plan, const std::vector<Phase>& phases, Rule rule)
{
    return std::all_of(phases.begin(), phases.end(), [&](const Phase& phase) { return rule(plan_in_phase(plan, phase), phase); });
}

/// ... in one of them at least.
template <class Rule>
bool in_any_phase(const ParallelPlan& plan, const std::vector<Phase>& phases, Rule rule)
{
    return std::any_of(phases.begin(), phases.end(), [&](const Phase& phase) { return rule(plan_in_phase(plan, phase), phase); });
}

}  // namespace prismopt
