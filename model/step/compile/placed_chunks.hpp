#pragma once

/// Costs of the chunks of every stage, and the messages between them.

#include "model/network/layer_cost.hpp"
#include "model/plan/layout.hpp"
#include "model/schedule/schedule.hpp"
#include "model/step/compile/memory.hpp"

#include <boost/container/static_vector.hpp>

#include <span>
#include <vector>

namespace prismopt {

/// Kinds of pass over a chunk that take time.
inline constexpr std::size_t most_passes = 5;

/// Costs of a kind of pass.
PassCost LayerCost::*cost_of(Pass pass);

/// The network's chunks where a schedule places them. Chunks are indexed by stage * v + chunk of the stage.
class PlacedChunks {
public:
    /// `chunks`: in network order; `costs`: [stage], or one of all stages. All
    /// arguments must outlive the object.
    PlacedChunks(const ScheduleShape& shape, std::span<const Chunk> chunks,
                 std::span<const LayerCosts* const> costs);

    int count() const { return shape_->stages * shape_->chunks; }
    StageChunk position(int index) const { return {index / shape_->chunks, index % shape_->chunks}; }
    const Chunk& chunk(int index) const { return chunks_[network_chunk_of(*shape_, position(index))]; }
    const ChunkContents& made_of(int index) const
    {
        return by_stage_.empty() ? made_of_[network_chunk_of(*shape_, position(index))] : by_stage_[index];
    }
    /// In network order, with the costs of the first stage.
    std::span<const ChunkContents> made_of() const { return made_of_; }

    ChunkPass pass(int index, Pass kind) const;
    /// The pass over the chunk's layers, without embedding and head.
    ChunkPass layers_of(int index, Pass kind) const;
    /// Calls visit(kinds, costs) with those of a program's first `passes` kinds of pass that take time,
    /// forward and backward first. The time of paired passes is all in the backward one.
    template <class Visit>
    void with_passes(int index, int passes, Visit&& visit) const
    {
        boost::container::static_vector<Pass, most_passes> kinds;
        boost::container::static_vector<ChunkPass, most_passes> costs;
        for (const Pass kind : {Pass::forward, Pass::backward, Pass::input_gradient, Pass::weight_gradient}) {
            if (static_cast<int>(kind) < passes) {
                kinds.push_back(kind);
                costs.push_back(pass(index, kind));
            }
        }
        const bool pairs = static_cast<int>(Pass::paired_backward) < passes;
        const int other = pairs ? index + (position(index).chunk == 0 ? 1 : -1) : index;
        const ChunkPass beside = pairs ? pass(other, Pass::paired_forward) : ChunkPass{};
        if (pairs) {
            kinds.push_back(Pass::paired_backward);
            costs.push_back(pass(index, Pass::paired_backward));
            costs.back().beside = &beside;
        }
        visit(std::span<const Pass>(kinds.data(), kinds.size()),
              std::span<const ChunkPass>(costs.data(), costs.size()));
    }

    /// Returns the stage of the chunk before (-1) or after (1); at the ends of the network the chunk's own.
    int stage_next_to(int index, int step) const;
    /// Returns the bytes that a tensor-parallel member receives from the chunk before
    /// (-1: the chunk's input) or after (1: the gradient of that chunk's input). Zero between chunks of one
    /// stage, and where no gradient is needed.
    double received_bytes(int index, int step) const;
    /// Returns the bytes that it sends there.
    double sent_bytes(int index, int step) const;

private:
    const ScheduleShape* shape_;
    std::span<const Chunk> chunks_;
    std::vector<ChunkContents> made_of_;   // in network order
    std::vector<ChunkContents> by_stage_;  // by index, if the costs of stages differ
};

}  // namespace prismopt
