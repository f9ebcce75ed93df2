#pragma once

/// Division of layers over chunks by their costs. docs/methods/step-graph.md.

#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/program.hpp"
#include "model/step/compile/memory.hpp"

#include <variant>
#include <vector>

namespace prismopt {

/// Returns the contiguous split that minimises the time of the busiest pipeline stage (all its
/// chunks, forward and backward passes of one microbatch), among the splits that fit into `capacity`.
/// If none fits, ignores memory. Embedding and head are divided with the layers, and each chunk has
/// at least one layer, embedding or head.
///
/// One chunk per stage: optimal up to rounding (1e-7 of a stage). Several chunks per stage: no worse than the
/// splits `layers` and `slots`, but not always optimal.
///
/// Not modelled: transfers between stages, factors of known nodes, and what a stage does once per step
/// (reduction of gradients, update). Infeasible if the network has fewer parts than chunks.
std::variant<std::vector<Chunk>, Infeasible> balanced_layout(const LayerCosts& costs, const Program& program,
                                                             const ParallelPlan& plan,
                                                             const MemoryModel& memory, Bytes capacity);

}  // namespace prismopt
