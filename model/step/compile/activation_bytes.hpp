#pragma once

/// Activations of a stage at its peak, by what keeps them.

#include "model/step/compile/breakdown.hpp"
#include "model/step/compile/costs_by_block.hpp"
#include "model/step/compile/memory.hpp"

#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// What the chunks of all stages keep, and how many microbatches of each are held when its stage
/// holds most; [stage * v + chunk].
struct KeptByChunks {
    std::vector<Activations> kept;
    std::vector<HeldPasses> held;
};
KeptByChunks kept_by_chunks(const ExecutionGraph& graph, std::span<const Chunk> chunks,
                            const CostsByBlock& costs);

/// `pairs`: one microbatch more is in flight, beside another.
std::vector<BlockBytes> activations_of(const StageOf& at, const CostsByBlock& costs,
                                       const KeptByChunks& chunks, bool pairs);
/// The kind of layer, or the end of the network, with the largest temporaries.
std::string largest_temporaries(const StageOf& at, const CostsByBlock& costs);

}  // namespace prismopt
