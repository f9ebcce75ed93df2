#pragma once

/// Sections of a scenario for the kinds of blocks, made from the keys that each kind declares.

#include "io/toml/fields.hpp"
#include "model/network/blocks.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Shapes of an element of `blocks`: one per kind.
std::vector<ValueShape> block_shapes();

/// Names of the kinds of blocks that are branches of the residual stream.
std::vector<std::string> branching_blocks();

/// Reads a block of a layer; throws InputError with the block and the key.
BlockDescription read_block(const Value& value, double hidden, const std::string& layer);

}  // namespace prismopt
