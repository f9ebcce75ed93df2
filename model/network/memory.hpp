#pragma once

/// Memory of every pipeline stage, with activations as the schedule really holds them.

#include "model/hardware/hardware.hpp"
#include "model/plan.hpp"
#include "model/prediction.hpp"
#include "model/step/program.hpp"
#include "model/network/layer_cost.hpp"
#include "model/network/layout.hpp"

#include <span>

namespace prismopt {

/// Parameters of a chunk on one tensor parallel member.
struct ChunkParameters {
    double all = 0.0;
    double expert = 0.0;  // of routed experts

    double dense() const { return all - expert; }
};
ChunkParameters chunk_parameters(const Chunk& chunk, const LayerCosts& costs);

/// Use of the fullest stage. Mixed precision as in Megatron-LM: 2 bytes a parameter, 4 bytes a gradient (32-bit sums), 12
/// bytes of optimizer state (master copy and two moments). ZeRO-1 divides the optimizer state by the GPUs of the sharding group,
/// ZeRO-2 gradients as well, ZeRO-3 parameters as well, but for the layer in work and the next one; states of routed experts by
/// the GPUs that hold the same experts.
/// Sources: Rajbhandari et al., arXiv 1910.02054, section 3; Megatron-LM's distributed optimizer documentation.
/// Offloaded state is in the host's memory, which is taken to be large enough.
/// `chunks` in network order, as layout() gives them. Leaves out: fragmentation beyond Accelerator::memory_reserved.
MemoryUse memory_use(const Program& program, std::span<const Chunk> chunks, const LayerCosts& costs, const ParallelPlan& plan,
                     const Accelerator& accelerator);

}  // namespace prismopt
