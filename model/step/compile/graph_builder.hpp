#pragma once

/// Builds the graph of a placed plan's step.

#include "model/distribution/chain_distribution.hpp"
#include "model/network/layer_cost.hpp"
#include "model/plan/coupling.hpp"
#include "model/schedule/program.hpp"
#include "model/step/compile/placed_chunks.hpp"
#include "model/step/compile/placed_plan.hpp"
#include "model/step/compile/plan_compiler.hpp"

#include <memory>

namespace prismopt {

/// Where the groups of a plan lie, as far as one of its replicas uses them. Both belong to the caller of
/// build_graph().
struct PlacesOfReplica {
    const ReplicaKind& replica;
    const GroupPlaces& exchanges;  // of the plan, or of its part in one building
};

/// Returns the graph with the means of all durations. `costs`: some of those that `chunks` were made
/// from; `optimizer`: the network's.
ExecutionGraph build_graph(const PlacedPlan& placed, const PlacesOfReplica& places,
                           std::shared_ptr<const Program> program, const PlacedChunks& chunks,
                           const LayerCosts& costs, const OptimizerSettings& optimizer,
                           const Setting& setting);

/// Returns the barriers inside a replica alone.
inline BarrierWidths inside_replica(const BarrierWidths& widths) { return {widths.tensor, widths.context}; }

/// Adds the mean waiting of the members of a replica for each other to the means of compute. Replicas that
/// wait for each other inside ops wait longer still.
void add_waiting(const PlacedPlan& placed, const PlacedChunks& chunks, ChainDistributions& chains,
                 ExecutionGraph& graph);

/// Composes the distributions of the graph's durations.
void add_distributions(const PlacedPlan& placed, const PlacedChunks& chunks, const Cluster& cluster,
                       ChainDistributions& chains, ExecutionGraph& graph);

/// Adds the differences between microbatches by the lengths of their samples.
/// `factors`: null if they do not differ.
void add_lengths(const PlacedPlan& placed, const PlacedChunks& chunks, const Cluster& cluster,
                 std::shared_ptr<const LengthFactors> factors, ExecutionGraph& graph);

}  // namespace prismopt
