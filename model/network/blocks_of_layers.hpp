#pragma once

/// Layers taken apart into their blocks, to say which block time and memory belong to.

#include "model/network/network.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A network whose layers have one of their blocks only.
struct BlockOfLayers {
    Network network;
    std::vector<std::string> names;  // [kind of layer]: of the block; empty: the kind has fewer blocks
};

/// Returns a network for each place of a block in a layer, with the same kinds and layers as network_of().
/// Layers of a captured network are one block each, of the name of their kind.
std::vector<BlockOfLayers> blocks_of_layers(const Workload& workload);

}  // namespace prismopt
