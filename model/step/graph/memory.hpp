#pragma once

/// Memory of every pipeline stage, with activations as the schedule really holds them.

#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/program.hpp"
#include "model/step/graph/step_summary.hpp"

#include <span>

namespace prismopt {

/// What a chunk holds of the parts that costs are of, and how often.
struct ChunkParts {
    struct Part {
        const PartCost* cost;
        int count;
    };
    boost::container::small_vector<Part, 4> parts;

    ChunkParts(const Chunk& chunk, const LayerCosts& costs);

    Parameters parameters() const;
    double sum(double PartCost::*bytes) const;
    double largest(double PartCost::*bytes) const;
    ChunkPass pass(PassCost PartCost::*pass) const;
    /// Of its layers alone.
    ChunkPass layers(PassCost PartCost::*pass) const;

private:
    std::size_t kinds_;  // of the parts, those that are layers
    bool both_ends_;
};

/// [stage]: use of its GPUs: 2 bytes a parameter, gradients and states as the optimizer holds them. ZeRO-1 divides the optimizer state by the GPUs of the sharding group,
/// ZeRO-2 gradients as well, ZeRO-3 parameters as well, but for the layer in work and the next one; states of routed experts by
/// the GPUs that hold the same experts.
/// Sources: Rajbhandari et al., arXiv 1910.02054, section 3; Megatron-LM's distributed optimizer documentation.
/// Offloaded state is in the host's memory, which is taken to be large enough.
/// `chunks` in network order. Leaves out: fragmentation beyond Accelerator::memory_reserved.
std::vector<MemoryUse> memory_by_stage(const Program& program, std::span<const ChunkParts> chunks, const ParallelPlan& plan,
                                       const Accelerator& accelerator, const OptimizerSettings& optimizer);
/// Of a stage all whose chunks are like this one.
MemoryUse memory_of_alike(int stage, const ChunkParts& chunk, const Program& program, const ParallelPlan& plan,
                          const Accelerator& accelerator, const OptimizerSettings& optimizer);
/// The fullest stage's, the first of several.
const MemoryUse& fullest(std::span<const MemoryUse> stages);

}  // namespace prismopt
