#include "model/step/compile/activation_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace prismopt {

namespace {

/// Bytes that a chunk keeps, by what keeps them.
using KeptBytes = std::map<std::string, double>;

void add_kept(const StageOf& at, const Chunk& chunk, const CostsByBlock& costs, double LayerCost::*bytes,
              double times, KeptBytes& sum)
{
    const LayerCosts& own = costs.of(at.stage);
    for (const LayersOfChunk& layers : layers_of(chunk, own)) {
        const double all = times * layers.count * layers.in(own).*bytes;
        if (layers.kind < 0) {
            sum[layers.kind == LayersOfChunk::head ? "logits" : "embedding"] += all;
            continue;
        }
        if (costs.recomputed[layers.kind]) {
            sum["inputs of layers"] += all;
            continue;
        }
        double of_blocks = 0.0;
        for (std::size_t b = 0; b < costs.blocks.size(); ++b) {
            of_blocks += costs.names[b][layers.kind].empty()
                             ? 0.0
                             : times * layers.count * layers.in(costs.blocks[b]).*bytes;
        }
        // What a block alone keeps, another may keep for it in the whole layer.
        const double share = of_blocks > all ? all / of_blocks : 1.0;
        for (std::size_t b = 0; b < costs.blocks.size(); ++b) {
            const std::string& name = costs.names[b][layers.kind];
            sum[name] +=
                name.empty() ? 0.0 : share * times * layers.count * layers.in(costs.blocks[b]).*bytes;
        }
        sum["between blocks"] += all - share * of_blocks;
    }
}

}  // namespace

KeptByChunks kept_by_chunks(const ExecutionGraph& graph, std::span<const Chunk> chunks,
                            const CostsByBlock& costs)
{
    KeptByChunks result;
    for (int stage_chunk = 0; stage_chunk < graph.stages() * graph.chunks(); ++stage_chunk) {
        const StageOf at{graph, chunks, stage_chunk / graph.chunks()};
        const ChunkContents made_of(at.chunk(stage_chunk), costs.of(at.stage));
        result.kept.push_back({made_of.sum(&LayerCost::saved_bytes), made_of.sum(&LayerCost::held_bytes)});
    }
    result.held = held_at_peaks(*graph.program, result.kept);
    return result;
}

std::vector<BlockBytes> activations_of(const StageOf& at, const CostsByBlock& costs,
                                       const KeptByChunks& chunks, bool pairs)
{
    int largest = at.first();
    KeptBytes sum;
    for (int stage_chunk = at.first(); stage_chunk < at.first() + at.graph.chunks(); ++stage_chunk) {
        add_kept(at, at.chunk(stage_chunk), costs, &LayerCost::saved_bytes, chunks.held[stage_chunk].saved,
                 sum);
        add_kept(at, at.chunk(stage_chunk), costs, &LayerCost::held_bytes, chunks.held[stage_chunk].held,
                 sum);
        if (chunks.kept[stage_chunk].saved > chunks.kept[largest].saved) {
            largest = stage_chunk;
        }
    }
    if (pairs) {
        add_kept(at, at.chunk(largest), costs, &LayerCost::saved_bytes, 1.0, sum);
    }
    double all = 0.0;
    for (const auto& [block, bytes] : sum) {
        all += bytes;
    }
    constexpr double rounding = 1e-9;
    std::vector<BlockBytes> sorted;
    for (const auto& [block, bytes] : sum) {
        if (std::abs(bytes) > rounding * all) {
            sorted.push_back({block, bytes});
        }
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const BlockBytes& a, const BlockBytes& b) { return a.bytes > b.bytes; });
    return sorted;
}

std::string largest_temporaries(const StageOf& at, const CostsByBlock& costs)
{
    double most = 0.0;
    std::string of;
    for (int stage_chunk = at.first(); stage_chunk < at.first() + at.graph.chunks(); ++stage_chunk) {
        for (const LayersOfChunk& made_of : layers_of(at.chunk(stage_chunk), costs.of(at.stage))) {
            const double bytes = made_of.in(costs.of(at.stage)).workspace_bytes;
            if (bytes > most) {
                most = bytes;
                of = made_of.kind < 0 ? end_name(made_of.kind) : costs.kinds[made_of.kind];
            }
        }
    }
    return of;
}

}  // namespace prismopt
