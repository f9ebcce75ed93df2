#pragma once

/// Other values of a single axis: what makes an infeasible plan feasible, and what a space omits that
/// might make the best plan faster.

#include <string>
#include <vector>

namespace prismopt {

struct ParallelPlan;
struct Problem;
struct Scenario;

/// A feasible plan that differs from an infeasible one by one value.
struct SingleChange {
    std::string design;         // "recompute=full"; never empty
    bool in_space = true;       // [space] lists the value
    double step_s = 0.0;        // lower bound of the mean, of the first phase
    double training_s = 0.0;    // lower bound of the mean
    double memory_bytes = 0.0;  // of the fullest GPU
    // lower bound of the objective that the study minimises first, of those that depend on time
    double least_value = 0.0;
};

/// Changes of one axis on the same number of GPUs, and other numbers of GPUs of the space, by the lower bound
/// of what the study minimises, the least first. Only values that the space lists are tried; if none of them
/// helps, usual values of the axes that change memory.
std::vector<SingleChange> single_changes(const ParallelPlan& plan, const Scenario& scenario,
                                         const Problem& problem);

/// An axis that the space holds at one value, although the plan could have another.
struct HeldLever {
    std::string axis;
    // "expert_overlap=microbatches"; empty: no other value shortens the step by 1 % or more
    std::string best{};
    double saved = 0.0;  // share of the mean step that it saves, by lower bounds of both steps
};

/// Levers of the software, and degrees that any software has; those first that save most. A trainer that the
/// search is limited to must run what is proposed.
std::vector<HeldLever> held_levers(const ParallelPlan& plan, const Scenario& scenario,
                                   const Problem& problem);

}  // namespace prismopt
