#include "model/step/compile/placed_chunks.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

PassCost LayerCost::*cost_of(Pass pass)
{
    constexpr std::array costs{&LayerCost::forward,        &LayerCost::backward,
                               &LayerCost::input_gradient, &LayerCost::weight_gradient,
                               &LayerCost::paired_forward, &LayerCost::paired_backward};
    return costs[static_cast<std::size_t>(pass)];
}

PlacedChunks::PlacedChunks(const ScheduleShape& shape, std::span<const Chunk> chunks,
                           std::span<const LayerCosts* const> costs)
    : shape_(&shape), chunks_(chunks)
{
    made_of_.reserve(chunks.size());
    for (const Chunk& chunk : chunks) {
        made_of_.emplace_back(chunk, *costs.front());
    }
    if (std::any_of(costs.begin(), costs.end(),
                    [&](const LayerCosts* other) { return other != costs.front(); })) {
        for (int index = 0; index < count(); ++index) {
            by_stage_.emplace_back(this->chunk(index), *costs[position(index).stage]);
        }
    }
}

ChunkPass PlacedChunks::pass(int index, Pass kind) const { return made_of(index).pass(cost_of(kind)); }

ChunkPass PlacedChunks::layers_of(int index, Pass kind) const { return made_of(index).layers(cost_of(kind)); }

int PlacedChunks::stage_next_to(int index, int step) const
{
    const auto next = neighbour(*shape_, position(index), step);
    return next ? next->stage : position(index).stage;
}

double PlacedChunks::received_bytes(int index, int step) const
{
    const auto next = neighbour(*shape_, position(index), step);
    if (!next || next->stage == position(index).stage) {
        return 0.0;
    }
    const StageChunk reader = step < 0 ? position(index) : *next;
    const LayerCost& first = *made_of_[network_chunk_of(*shape_, reader)].counted.front().cost;
    return step < 0 || first.needs_gradient ? first.input_bytes : 0.0;
}

double PlacedChunks::sent_bytes(int index, int step) const
{
    const auto next = neighbour(*shape_, position(index), step);
    return next ? received_bytes(next->stage * shape_->chunks + next->chunk, -step) : 0.0;
}

}  // namespace prismopt
