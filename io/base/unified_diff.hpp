#pragma once

#include <string>

namespace prismopt {

/// The difference of two texts as `diff -u` writes it and `patch` reads it; empty if they are equal.
std::string unified_diff(const std::string& before, const std::string& after, const std::string& name_before,
                         const std::string& name_after);

}  // namespace prismopt
