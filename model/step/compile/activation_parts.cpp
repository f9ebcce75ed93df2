#include "model/step/compile/activation_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace prismopt {

namespace {

/// Bytes that a chunk keeps, by what keeps them.
using KeptBytes = std::map<std::string, double>;

void add_kept(const StageOf& at, const Chunk& chunk, const CostsByBlock& costs, double PartCost::*bytes,
              double times, KeptBytes& sum)
{
    const LayerCosts& own = costs.of(at.stage);
    for (const PartOfChunk& part : parts_of(chunk, own)) {
        const double all = times * part.count * part.in(own).*bytes;
        if (part.kind < 0) {
            sum[part.kind == PartOfChunk::head ? "logits" : "embedding"] += all;
            continue;
        }
        if (costs.recomputed[part.kind]) {
            sum["inputs of layers"] += all;
            continue;
        }
        double of_blocks = 0.0;
        for (std::size_t b = 0; b < costs.blocks.size(); ++b) {
            of_blocks += costs.names[b][part.kind].empty()
                             ? 0.0
                             : times * part.count * part.in(costs.blocks[b]).*bytes;
        }
        // What a block alone keeps, another may keep for it in the whole layer.
        const double share = of_blocks > all ? all / of_blocks : 1.0;
        for (std::size_t b = 0; b < costs.blocks.size(); ++b) {
            const std::string& name = costs.names[b][part.kind];
            sum[name] += name.empty() ? 0.0 : share * times * part.count * part.in(costs.blocks[b]).*bytes;
        }
        sum["between blocks"] += all - share * of_blocks;
    }
}

}  // namespace

KeptByChunks kept_by_chunks(const ExecutionGraph& graph, std::span<const Chunk> chunks,
                            const CostsByBlock& costs)
{
    KeptByChunks result;
    for (int part = 0; part < graph.stages() * graph.chunks(); ++part) {
        const StageOf at{graph, chunks, part / graph.chunks()};
        const ChunkParts made_of(at.chunk(part), costs.of(at.stage));
        result.kept.push_back({made_of.sum(&PartCost::saved_bytes), made_of.sum(&PartCost::held_bytes)});
    }
    result.held = held_at_peaks(*graph.program, result.kept);
    return result;
}

std::vector<BlockBytes> activations_of(const StageOf& at, const CostsByBlock& costs,
                                       const KeptByChunks& chunks, bool pairs)
{
    int largest = at.first();
    KeptBytes sum;
    for (int part = at.first(); part < at.first() + at.graph.chunks(); ++part) {
        add_kept(at, at.chunk(part), costs, &PartCost::saved_bytes, chunks.held[part].saved, sum);
        add_kept(at, at.chunk(part), costs, &PartCost::held_bytes, chunks.held[part].held, sum);
        largest = chunks.kept[part].saved > chunks.kept[largest].saved ? part : largest;
    }
    if (pairs) {
        add_kept(at, at.chunk(largest), costs, &PartCost::saved_bytes, 1.0, sum);
    }
    double all = 0.0;
    for (const auto& [block, bytes] : sum) {
        all += bytes;
    }
    constexpr double rounding = 1e-9;
    std::vector<BlockBytes> parts;
    for (const auto& [block, bytes] : sum) {
        if (std::abs(bytes) > rounding * all) {
            parts.push_back({block, bytes});
        }
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const BlockBytes& a, const BlockBytes& b) { return a.bytes > b.bytes; });
    return parts;
}

std::string largest_temporaries(const StageOf& at, const CostsByBlock& costs)
{
    double most = 0.0;
    std::string of;
    for (int part = at.first(); part < at.first() + at.graph.chunks(); ++part) {
        for (const PartOfChunk& made_of : parts_of(at.chunk(part), costs.of(at.stage))) {
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
