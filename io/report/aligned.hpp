#pragma once

#include <string>
#include <vector>

namespace prismopt {

/// Columns as wide as their widest cell; the one at `left` is aligned to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left);

}  // namespace prismopt
