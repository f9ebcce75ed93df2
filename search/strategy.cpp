#include "search/strategy.hpp"

#include <algorithm>

namespace prismopt {
namespace {

/// Number of ranges of a sweep: enough for several ranks, more for large spaces so that
/// ranges stay small, and a limit.
constexpr std::uint64_t fewest_ranges = 256;
constexpr std::uint64_t most_in_range = 1 << 20;
constexpr std::uint64_t most_ranges = 1 << 14;

}  // namespace

std::vector<SweepRange> split_space(std::uint64_t size, std::uint64_t range_count)
{
    range_count = std::min(size, range_count);
    std::vector<SweepRange> ranges;
    std::uint64_t begin = 0;
    for (std::uint64_t range_index = 0; range_index < range_count; ++range_index) {
        const std::uint64_t end = begin + size / range_count + (range_index < size % range_count ? 1 : 0);
        ranges.push_back({.begin = begin, .end = end});
        begin = end;
    }
    return ranges;
}

std::vector<SweepRange> ranges_of(const StudyGoal& goal, std::uint64_t size)
{
    const std::vector<SweepRange> space_parts = split_space(size, goal.space_parts);
    if (goal.space_part > space_parts.size()) {
        return {};
    }
    const SweepRange own = space_parts[goal.space_part - 1];
    const std::uint64_t tuples = own.end - own.begin;
    std::vector<SweepRange> within =
        split_space(tuples, std::clamp(tuples / most_in_range, fewest_ranges, most_ranges));
    for (SweepRange& range : within) {
        range.begin += own.begin;
        range.end += own.begin;
        range.keep = most_kept_bounds / within.size();
    }
    return within;
}

std::string grouped(std::uint64_t count)
{
    std::string digits = std::to_string(count);
    for (std::size_t place = digits.size(); place > 3; place -= 3) {
        digits.insert(place - 3, 1, ',');
    }
    return digits;
}

}  // namespace prismopt
