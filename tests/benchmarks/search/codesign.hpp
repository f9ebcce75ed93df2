#pragma once

/// What the tuning of continuous hardware parameters finds, beside a closed form and beside a fine grid
/// of the same hardware parameters.

#include <string>

namespace prismopt::bench {

std::string codesign_text();

}  // namespace prismopt::bench
