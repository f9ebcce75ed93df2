#pragma once

/// What a race costs and what it misses, judged by draws that it has not seen.

#include <string>

namespace prismopt::bench {

std::string racing_text();

}  // namespace prismopt::bench
