#include "optimizer/space/spread_ranges.hpp"

#include <cmath>
#include <numbers>

namespace prismopt {

namespace {

constexpr std::uint64_t samples = 16'384;          // ranges of a space that is too large
constexpr std::uint64_t tuples_of_a_sample = 122;  // two million in all

}  // namespace

/// One range in each of equal parts, at places that no axis can be in step with (multiples of the golden ratio, whose fractions
/// are as even as can be). Whole ranges of the innermost axes only say little of the others.
std::vector<SweepRange> spread_ranges(std::uint64_t size, std::uint64_t most_whole)
{
    if (size <= most_whole || size <= samples * tuples_of_a_sample) {
        return {{.begin = 0, .end = size}};
    }
    std::vector<SweepRange> ranges = split_space(size, samples);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        SweepRange& range = ranges[i];
        const double place = std::fmod(static_cast<double>(i) * std::numbers::phi, 1.0);
        range.begin += static_cast<std::uint64_t>(place * static_cast<double>(range.end - range.begin - tuples_of_a_sample));
        range.end = range.begin + tuples_of_a_sample;
    }
    return ranges;
}

}  // namespace prismopt
