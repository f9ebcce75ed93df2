#pragma once

/// What rules a plan out before any cost is computed. One rule each; the same for a space's constraints and for a single design.
/// Plans are as they are in the phase (plan_in_phase).

#include "io/scenario.hpp"
#include "model/phase.hpp"
#include "model/plan.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace prismopt {

bool tp_fits_nodes(const ParallelPlan& plan, const Cluster& cluster);

/// Members of a tensor and a context parallel group meet in each layer: both fill nodes evenly.
bool contexts_fit_nodes(const ParallelPlan& plan, const Cluster& cluster);

/// Each GPU has two parts of a sequence, for equal shares of a causal mask.
bool contexts_divide(const ParallelPlan& plan, const Phase& phase);

/// Experts, and the GPUs of a stage, are divided whole.
bool experts_divide(const ParallelPlan& plan, const Workload& workload);

/// Sequences that all replicas compute at once.
std::int64_t sequences_at_once(const ParallelPlan& plan);

bool batch_divides(const ParallelPlan& plan, const Phase& phase);

std::optional<Infeasible> undefined_schedule(const ParallelPlan& plan, const Phase& phase);

std::int64_t chunk_count(const ParallelPlan& plan);

bool chunks_have_layers(const ParallelPlan& plan, const Workload& workload);

/// The optimizer of one stage runs beside another's weight gradients, which only schedules that split the backward leave to the end.
bool can_validate_later(const ParallelPlan& plan);

bool one_microbatch(const ParallelPlan& plan, const Phase& phase);

/// Why a plan, as it is in the first phase, cannot run on this cluster in all phases, before any cost is computed; the constraints of the space.
std::optional<Infeasible> structural_problem(const ParallelPlan& plan, const Scenario& scenario);

}  // namespace prismopt
