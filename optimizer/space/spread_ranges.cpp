#include "optimizer/space/spread_ranges.hpp"

#include <cmath>
#include <numbers>

namespace prismopt {

namespace {

constexpr std::uint64_t samples = 16'384;          // ranges, if the space is too large to check whole
constexpr std::uint64_t tuples_of_a_sample = 122;  // two million in all

}  // namespace

/// One short range in each of many equal parts of the space. Its offset is a multiple of the golden ratio, so
/// that no axis is in phase with it and the offsets are as even as possible. Long ranges of the innermost
/// axes alone would cover too little of the other axes.
std::vector<SweepRange> spread_ranges(std::uint64_t size, std::uint64_t most_whole)
{
    if (size <= most_whole || size <= samples * tuples_of_a_sample) {
        return {{.begin = 0, .end = size}};
    }
    std::vector<SweepRange> ranges = split_space(size, samples);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        SweepRange& range = ranges[i];
        const double place = std::fmod(static_cast<double>(i) * std::numbers::phi, 1.0);
        range.begin += static_cast<std::uint64_t>(
            place * static_cast<double>(range.end - range.begin - tuples_of_a_sample));
        range.end = range.begin + tuples_of_a_sample;
    }
    return ranges;
}

}  // namespace prismopt
