#pragma once

/// Memory of every pipeline stage, with activations from a replay of the
/// schedule. docs/methods/step-graph.md.

#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/program.hpp"
#include "model/step/graph/step_summary.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace prismopt {

/// Parts of a chunk with their costs and counts. The costs belong to the LayerCosts, which must outlive it.
struct ChunkContents {
    struct CountedLayer {
        const LayerCost* cost;
        int count;

        bool operator==(const CountedLayer&) const = default;
    };
    boost::container::small_vector<CountedLayer, 4> counted;

    ChunkContents(const Chunk& chunk, const LayerCosts& costs);

    Parameters parameters() const;
    double sum(double LayerCost::*bytes) const;
    double largest(double LayerCost::*bytes) const;
    ChunkPass pass(PassCost LayerCost::*pass) const;
    /// Returns the pass over its layers only.
    ChunkPass layers(PassCost LayerCost::*pass) const;

private:
    std::size_t kinds_;  // number of parts that are layers
    bool both_ends_;
};

/// What a microbatch leaves in memory on its way through a chunk, in bytes.
struct Activations {
    double saved = 0.0;  // from forward to the gradient of the input
    double held = 0.0;   // from there to the gradient of the weights, where that comes later

    bool operator==(const Activations&) const = default;
};

/// Largest sums of activations over a schedule. Remembers the last few, which many plans have in
/// common: they do not depend on sharding, overlaps and the order of dimensions. All programs of
/// one shape must have equal peaks.
class ActivationPeaks {
public:
    /// Returns the largest sum of what is kept, in bytes by stage. `kept`: [stage * v + chunk].
    const std::vector<double>& of(const Program& program, std::vector<Activations> kept);

private:
    struct Known {
        ScheduleShape shape;
        std::vector<Activations> kept;
        std::vector<double> peaks;  // [stage]
    };
    std::array<Known, 4> known_;
    std::size_t oldest_ = 0;
};

/// What decides how much memory a plan needs, beside the plan and the costs of its layers. Accelerator, stack
/// and optimizer belong to the setting's cluster and workload, which must outlive it.
struct MemoryModel {
    const Accelerator& accelerator;
    const SoftwareStack& stack;
    const OptimizerSettings& optimizer;
    // Beyond which paged states leave, as beyond the accelerator's memory.
    Bytes capacity{std::numeric_limits<double>::infinity()};
};

/// Returns the memory per GPU of each stage, [stage], at the moment of a step when it is most: parameters,
/// gradients and states in the optimizer's number types. ZeRO-1 divides the optimizer states by the GPUs of
/// the sharding group, ZeRO-2 gradients as well, ZeRO-3 parameters as well, except those of the current layer
/// and the next one; states of routed experts are divided by the GPUs that hold the same experts. With local
/// updates, `plan` is that of a building, and the outer optimizer's state counts to the states. `chunks` in
/// network order. Sources: Rajbhandari et al., arXiv 1910.02054, section 3; Megatron-LM's distributed
/// optimizer documentation; what else frameworks hold: MemoryRules. Not modelled: fragmentation beyond
/// Accelerator::memory_reserved and MemoryRules::fragmentation.
std::vector<MemoryUse> memory_by_stage(const Program& program, std::span<const ChunkContents> chunks,
                                       const ParallelPlan& plan, const MemoryModel& model,
                                       ActivationPeaks& known);
inline std::vector<MemoryUse> memory_by_stage(const Program& program, std::span<const ChunkContents> chunks,
                                              const ParallelPlan& plan, const MemoryModel& model)
{
    ActivationPeaks none;
    return memory_by_stage(program, chunks, plan, model, none);
}
/// Returns what each chunk holds when its stage holds most, [stage * v + chunk]. `program`: not shortened.
/// `kept`: as in ActivationPeaks.
std::vector<HeldPasses> held_at_peaks(const Program& program, std::span<const Activations> kept);
/// Returns the memory of a stage whose chunks are all equal to this one.
MemoryUse memory_of_equal_chunks(int stage, const ChunkContents& chunk, const Program& program,
                                 const ParallelPlan& plan, const MemoryModel& model);
/// Returns a lower bound of the memory of a stage that needs no program, with the fewest microbatches that
/// its schedule holds. `chunks`: in network order.
Bytes least_memory_of(int stage, const ScheduleShape& shape, std::span<const Chunk> chunks,
                      const LayerCosts& costs, const ParallelPlan& plan, const MemoryModel& model);
/// Returns the largest memory use; the first of several equal ones.
const MemoryUse& fullest(std::span<const MemoryUse> stages);

}  // namespace prismopt
