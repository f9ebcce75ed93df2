#pragma once

/// Sections of a scenario for the kinds of blocks, made from the keys that each kind declares.

#include "io/toml/fields.hpp"
#include "model/network/blocks.hpp"

#include <vector>

namespace prismopt {

/// Shapes of an element of `blocks`: one per kind.
std::vector<ValueShape> block_shapes();

/// Throws InputError with the block and the key.
BlockDescription read_block(const Value& value, double hidden);

}  // namespace prismopt
