#pragma once

#include <string>
#include <vector>

namespace prismopt {

/// Text table whose columns are as wide as their widest cell; column `left` is left-aligned, the others right-aligned.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left);

}  // namespace prismopt
