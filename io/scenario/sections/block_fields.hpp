#pragma once

/// The kinds of blocks that layers are described by, as sections of a scenario: made from the keys that each kind declares.

#include "io/toml/fields.hpp"
#include "model/network/blocks.hpp"

#include <vector>

namespace prismopt {

/// Shapes of an element of `blocks`: one for each kind.
std::vector<ValueShape> block_shapes();

/// Throws InputError, which names the block and the key.
BlockDescription read_block(const Value& value, double hidden);

}  // namespace prismopt
