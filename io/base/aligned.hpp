#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace prismopt {

/// Text table whose columns are as wide as their widest cell; column `left` is
/// left-aligned, the others right-aligned.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left);
/// The same with several left-aligned columns.
std::string aligned(const std::vector<std::vector<std::string>>& rows,
                    std::initializer_list<std::size_t> left);

}  // namespace prismopt
