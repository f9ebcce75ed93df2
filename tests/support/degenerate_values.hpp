#pragma once

/// Measured durations as coarse clocks and odd tools write them: few distinct values, none but one, as
/// small or as large as a double is.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace prismopt {

struct DegenerateValues {
    std::string kind;
    std::vector<double> values;  // positive
};

inline const std::vector<std::string>& degenerate_kinds()
{
    static const std::vector<std::string> kinds{"constant",       "all but one",        "two values",
                                                "few values",     "whole microseconds", "nearly equal",
                                                "subnormal",      "smallest",           "largest",
                                                "all magnitudes", "rising in steps",    "powers of two",
                                                "one far out"};
    return kinds;
}

/// A function of (kind, seed) alone. 1 to `most` values.
inline DegenerateValues degenerate_values(const std::string& kind, std::uint64_t seed, int most = 3000)
{
    std::mt19937_64 generator(seed);
    const auto uniform = [&] { return std::ldexp(static_cast<double>(generator() >> 11U), -53); };
    const auto below = [&](int n) { return static_cast<int>(generator() % static_cast<std::uint64_t>(n)); };
    constexpr double least = std::numeric_limits<double>::denorm_min();
    const double unit = std::pow(10.0, -6.0 + 6.0 * uniform());
    const int count = 1 + (below(2) == 0 ? below(60) : below(most));
    const double other = unit * (1.0 + std::pow(10.0, -8.0 + 10.0 * uniform()));
    const int levels = 2 + below(5);
    const int place = below(count);
    DegenerateValues result{kind, std::vector<double>(static_cast<std::size_t>(count), unit)};
    for (int i = 0; i < count; ++i) {
        double& value = result.values[static_cast<std::size_t>(i)];
        if (kind == "all but one") {
            value = i == place ? other : unit;
        } else if (kind == "two values") {
            value = below(2) == 0 ? unit : other;
        } else if (kind == "few values") {
            value = unit * (1.0 + below(levels));
        } else if (kind == "whole microseconds") {
            value =
                1e-6 * std::max(1.0, std::round(10.0 * levels * (1.0 + 0.1 * uniform() + 0.1 * uniform())));
        } else if (kind == "nearly equal") {
            value = unit * (1.0 + below(levels) * std::numeric_limits<double>::epsilon());
        } else if (kind == "subnormal") {
            value = least * (1.0 + below(1000 * levels));
        } else if (kind == "smallest") {
            value = std::numeric_limits<double>::min() * (0.5 + uniform());
        } else if (kind == "largest") {
            value = 1e300 * (1.0 + uniform());
        } else if (kind == "all magnitudes") {
            value = std::pow(10.0, -300.0 + 600.0 * uniform());
        } else if (kind == "rising in steps") {
            value = unit * (1.0 + i * levels / count);
        } else if (kind == "powers of two") {
            value = std::ldexp(unit, below(10 * levels));
        } else if (kind == "one far out") {
            value = i == place ? 1e12 * unit : unit * (1.0 + 0.1 * uniform());
        }
    }
    return result;
}

}  // namespace prismopt
