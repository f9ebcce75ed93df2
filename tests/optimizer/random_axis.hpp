#pragma once

/// Axes of random spaces.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace prismopt {

/// A line of [space] with some of these values, at least one.
inline std::string some_of(std::mt19937& random, const std::string& axis, std::vector<std::string> values)
{
    std::shuffle(values.begin(), values.end(), random);
    values.resize(1 + random() % values.size());
    return fmt::format("{} = [{}]\n", axis, fmt::join(values, ", "));
}

}  // namespace prismopt
