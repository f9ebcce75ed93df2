#pragma once

/// Which layers a pipeline chunk holds.

#include "model/plan.hpp"

#include <variant>
#include <vector>

namespace prismopt {

/// A contiguous part of the network: one chunk of one stage.
struct Chunk {
    int first_layer = 0;
    int layers = 0;
    bool embedding = false;
    bool head = false;
};

/// All chunks in the order of the network; part_of_network() says which of them a chunk of a stage is.
///
/// What does not divide evenly goes to the chunks in the middle, so that those with embedding and loss head are not the
/// longest. Infeasible when a chunk would be empty.
std::variant<std::vector<Chunk>, Infeasible> layout(int layers, const ParallelPlan& plan);

}  // namespace prismopt
