#pragma once

/// Layers divided over chunks by what they cost.

#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/program.hpp"

#include <variant>
#include <vector>

namespace prismopt {

/// The contiguous split with the shortest busiest pipeline stage, by the time that all its chunks take for the forward and
/// backward passes of one microbatch, among those whose stages fit into `capacity`; the embedding and the head are divided with the
/// layers, and each chunk has one of these at least. Where none fits: the one with the shortest busiest stage.
///
/// One chunk a stage: exact, but for rounding (1e-7 of a stage). Of several such splits the one whose stages are most alike
/// (least sum of squares), and of these the one with the shorter stages at the ends. Several chunks a stage: the split with the
/// shortest busiest chunk, and those that `layers` and `slots` give, are improved by moving single layers from the busiest stage
/// to other chunks; the best is no worse than any of these, and need not be the best of all.
///
/// Leaves out: transfers between stages, factors of known nodes, and what a stage does once a step (reduction of its gradients,
/// update). Infeasible where the network has fewer parts than there are chunks.
std::variant<std::vector<Chunk>, Infeasible> balanced_layout(const LayerCosts& costs, const Program& program,
                                                             const ParallelPlan& plan, const Accelerator& accelerator,
                                                             const OptimizerSettings& optimizer, Bytes capacity);

}  // namespace prismopt
