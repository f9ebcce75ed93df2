#pragma once

/// Machines by the networks that they are to serve, from the outcome of a search of alternatives.

#include "io/results/results.hpp"
#include "optimizer/study/study_model.hpp"
#include "search/strategy.hpp"

#include <span>

namespace prismopt {

/// The machines of a study as alternatives, its networks as tasks. The study has [[workloads]].
AlternativeGoal alternatives_of(const StudyModel& model);

/// Fills in the table. `front`: confirmed plans, whose values replace those of the search; empty: none is
/// confirmed. No machines if the search has not bounded all of them.
MachineTable machine_table(const StudyModel& model, const Outcome& outcome,
                           std::span<const FrontPoint> front);

/// Sorts confirmed plans by machine, the best first, and network, and flags those of
/// machines that are not on the front.
void put_in_order(const StudyModel& model, const MachineTable& table, std::vector<FrontPoint>& front);

}  // namespace prismopt
