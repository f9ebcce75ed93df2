#pragma once

/// What rules a plan out before any cost is computed. One rule each; the same for a space's constraints and for a single design.

#include "io/scenario.hpp"
#include "model/plan.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace prismopt {

bool tp_fits_nodes(const ParallelPlan& plan, const Cluster& cluster);

/// Tensor parallel GPUs hold whole attention heads, and key and value heads whole or as whole copies.
bool tp_divides_heads(const ParallelPlan& plan, const Workload& workload);

/// Members of a tensor and a context parallel group meet in each layer: both fill nodes evenly.
bool contexts_fit_nodes(const ParallelPlan& plan, const Cluster& cluster);

/// Each GPU has two parts of a sequence, for equal shares of a causal mask.
bool contexts_divide(const ParallelPlan& plan, const std::vector<Phase>& phases);

/// Experts, and the GPUs of a stage, are divided whole.
bool experts_divide(const ParallelPlan& plan, const Workload& workload);

/// Sequences that all replicas compute at once.
std::int64_t sequences_at_once(const ParallelPlan& plan);

bool batch_divides(const ParallelPlan& plan, const std::vector<Phase>& phases);

/// Of the first phase for which the schedule is not defined.
std::optional<Infeasible> undefined_schedule(const ParallelPlan& plan, const std::vector<Phase>& phases);

std::int64_t chunk_count(const ParallelPlan& plan);

bool chunks_have_layers(const ParallelPlan& plan, const Workload& workload);

/// The optimizer of one stage runs beside another's weight gradients, which only schedules that split the backward leave to the end.
bool can_validate_later(const ParallelPlan& plan);

bool one_microbatch(const ParallelPlan& plan, const std::vector<Phase>& phases);

/// Why a plan cannot run on this cluster and these phases, before any cost is computed; the constraints of the space.
std::optional<Infeasible> structural_problem(const ParallelPlan& plan, const Scenario& scenario);

}  // namespace prismopt
