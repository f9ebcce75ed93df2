#pragma once

/// Phases of a training run, and the form that a plan takes in each of them.

#include "model/plan/plan.hpp"
#include "model/plan/sample_lengths.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace prismopt {

/// Overrides of the plan in one phase. Zero or empty: the plan's own value.
struct PhasePlan {
    int gpus = 0;
    int tp = 0;
    int cp = 0;
    int pp = 0;
    int chunks = 0;
    int microbatch = 0;
    // with its default group and chunks, and without post-validation
    std::optional<Schedule> schedule = std::nullopt;
    std::optional<Recompute> recompute = std::nullopt;
};

/// One phase of a run. The phases of a run share the fleet and the failure history.
struct Phase {
    double tokens = 0.0;   // tokens to train on
    int sequence = 0;      // tokens per sequence
    int global_batch = 0;  // sequences per optimizer step
    PhasePlan own{};
    std::shared_ptr<const SampleLengths> lengths = nullptr;  // null: all samples fill their sequences
    double filled = 1.0;  // share of a sequence's tokens that are trained on

    /// Tokens of a sequence that are trained on.
    double tokens_of_sequence() const { return sequence * filled; }
    double tokens_of_step() const { return tokens_of_sequence() * global_batch; }
    double steps() const { return tokens / tokens_of_step(); }
};

/// Returns the tokens of all phases.
double tokens_of(const std::vector<Phase>& phases);
/// Returns the steps of all phases.
double steps_of(const std::vector<Phase>& phases);

/// Returns the phase with so many times the tokens, in whole steps; as it is if the factor is one.
Phase longer(Phase phase, double factor);

/// Returns the plan in this phase, with dp = 0 if a replica does not divide its GPUs. If the phase gives only
/// a schedule, it determines the chunks (interleaved: 2, or those of the plan); if it gives only chunks, they
/// determine the schedule (1f1b or interleaved). With one stage there is no pipeline to schedule.
ParallelPlan plan_in_phase(ParallelPlan plan, const Phase& phase);

/// Returns whether `rule(plan in the phase, phase)` holds in every phase.
template <class Rule>
bool in_every_phase(const ParallelPlan& plan, const std::vector<Phase>& phases, Rule rule)
{
    return std::all_of(phases.begin(), phases.end(),
                       [&](const Phase& phase) { return rule(plan_in_phase(plan, phase), phase); });
}

/// Returns whether `rule(plan in the phase, phase)` holds in at least one phase.
template <class Rule>
bool in_any_phase(const ParallelPlan& plan, const std::vector<Phase>& phases, Rule rule)
{
    return std::any_of(phases.begin(), phases.end(),
                       [&](const Phase& phase) { return rule(plan_in_phase(plan, phase), phase); });
}

}  // namespace prismopt
