#pragma once

/// What the tuning of continuous knobs finds, beside a closed form and beside a fine grid of the same knobs.

#include <string>

namespace prismopt::bench {

std::string codesign_text();

}  // namespace prismopt::bench
