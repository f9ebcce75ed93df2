#pragma once

/// Depth of nesting of a TOML text. Parsers and trees of TOML recurse for each level, so that a text
/// is measured before it is parsed.

#include <string_view>

namespace prismopt {

/// Levels that are read: those of dotted keys (a.b.c = 1), of headings ([a.b.c]),
/// arrays and inline tables together.
inline constexpr int most_levels = 64;

struct KeyNesting {
    int levels = 0;
    int line = 1;  // where they are reached
};

/// The deepest place of a text; counting stops beyond `most_levels`.
KeyNesting deepest_key(std::string_view text);

}  // namespace prismopt
