#pragma once

/// Which layers a pipeline chunk holds.

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

/// All chunks in the order of the network; part_of_network() says which of them a chunk of a stage is. Of every split but
/// `balanced`, which goes by costs (balanced_layout.hpp).
///
/// What does not divide evenly goes to the chunks in the middle, so that those with embedding and loss head are not the
/// longest. Infeasible when a chunk would be empty, or none of the `given` layouts has as many chunks.
std::variant<std::vector<Chunk>, Infeasible> layout(int layers, const ParallelPlan& plan,
                                                    std::span<const std::vector<Chunk>> given = {});

/// Chunks of so many units each, the network's embedding, layers and head being one each.
std::vector<Chunk> chunks_of_units(std::span<const int> units);

/// The given layout with as many chunks; nullptr: there is none. One chunk needs none.
const std::vector<Chunk>* given_layout(std::size_t chunks, std::span<const std::vector<Chunk>> given);

}  // namespace prismopt
