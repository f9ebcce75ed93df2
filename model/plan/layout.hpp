#pragma once

/// Layers of pipeline chunks. docs/methods/step-graph.md.

#include "model/plan/infeasible.hpp"
#include "model/plan/plan.hpp"

#include <span>
#include <variant>
#include <vector>

namespace prismopt {

/// A contiguous part of the network: one chunk of one stage.
struct Chunk {
    int first_layer = 0;
    int layers = 0;
    bool embedding = false;
    bool head = false;

    bool operator==(const Chunk&) const = default;
};

/// Returns all chunks in network order, for every split except `balanced`, which depends on costs
/// (balanced_layout.hpp). network_chunk_of() maps a stage's chunk to them.
///
/// The remainder of an uneven division goes to the chunks in the middle, so that those with
/// embedding and loss head are not the longest. Infeasible if a chunk would be empty, or if none of
/// the `given` layouts has as many chunks.
std::variant<std::vector<Chunk>, Infeasible> layout(int layers, const ParallelPlan& plan,
                                                    std::span<const std::vector<Chunk>> given = {});

/// Returns chunks with these numbers of units. Embedding, head and each layer are one unit.
std::vector<Chunk> chunks_of_units(std::span<const int> units);

/// Returns the given layout with as many chunks, or nullptr. One chunk needs no layout.
const std::vector<Chunk>* given_layout(std::size_t chunks, std::span<const std::vector<Chunk>> given);

}  // namespace prismopt
