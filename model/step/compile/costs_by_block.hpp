#pragma once

/// What a breakdown is made from: costs of layers, whole and block by block, and the chunks of a stage.

#include "model/network/layer_cost.hpp"
#include "model/plan/group_places.hpp"
#include "model/plan/layout.hpp"
#include "model/step/compile/placed_chunks.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/execution_graph.hpp"

#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// A part of a chunk: a kind of layer, by its place in LayerCosts::kinds, or an end of the network.
struct LayersOfChunk {
    static constexpr int embedding = -1;
    static constexpr int head = -2;
    int kind = 0;
    int count = 0;

    const LayerCost& in(const LayerCosts& costs) const
    {
        if (kind == embedding) {
            return costs.embedding;
        }
        return kind == head ? costs.head : costs.kinds[kind];
    }
};

std::vector<LayersOfChunk> layers_of(const Chunk& chunk, const LayerCosts& costs);
/// "embedding", "head".
std::string end_name(int kind);

/// Costs of layers, whole and block by block: all with the same kinds.
struct CostsByBlock {
    std::vector<LayerCosts> whole;                // [stage], or one for all
    std::vector<LayerCosts> blocks;               // [place of a block in its layer]
    std::vector<std::vector<std::string>> names;  // [place][kind in LayerCosts]
    std::vector<std::string> kinds;               // [kind in LayerCosts]: names of kinds of layers
    std::vector<bool> recomputed;                 // [kind in LayerCosts]: as a whole

    const LayerCosts& of(int stage) const { return whole[whole.size() > 1 ? stage : 0]; }
};
/// Returns the costs of a plan whose groups lie as those of this kind of replica.
CostsByBlock costs_by_block(const ParallelPlan& plan, const GroupPlaces& places, const ReplicaKind& replica,
                            const Setting& setting);

/// The chunks of one stage. The graph and `chunks`, those of all stages, must outlive it.
struct StageOf {
    const ExecutionGraph& graph;
    std::span<const Chunk> chunks;
    int stage = 0;

    int first() const { return stage * graph.chunks(); }
    const Chunk& chunk(int stage_chunk) const
    {
        return chunks[network_chunk_of(graph.program->shape, {stage, stage_chunk - first()})];
    }
};

/// Calls visit(times, chunk, pass) for the passes of a stage that take time. In a pair the
/// backward pass takes the time of both.
template <class Visit>
void for_passes(const StageOf& at, Visit&& visit)
{
    const int last = at.first() + at.graph.chunks();
    for (int stage_chunk = at.first(); stage_chunk < last; ++stage_chunk) {
        for (int p = 0; p < at.graph.passes(); ++p) {
            const auto pass = static_cast<Pass>(p);
            const double times = at.graph.program->op_count[at.graph.distribution_at(stage_chunk, pass)];
            if (times == 0.0 || pass == Pass::paired_forward) {
                continue;
            }
            visit(times, at.chunk(stage_chunk), cost_of(pass));
            if (pass == Pass::paired_backward) {
                const int other = stage_chunk == at.first() ? stage_chunk + 1 : stage_chunk - 1;
                visit(times, at.chunk(other), cost_of(Pass::paired_forward));
            }
        }
    }
}

}  // namespace prismopt
