#include "search/strategies/exact/incomplete_ranges.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {
namespace {

/// Ranges that are swept again together, and the number of parts of each.
constexpr std::size_t ranges_again = 64;
constexpr std::uint64_t subranges_of_each = 8;

}  // namespace

void IncompleteRanges::add(const SweepRange& range, std::uint64_t count,
                           std::vector<std::vector<double>> floor)
{
    ranges_.push_back({range.begin, range.end, count, std::move(floor)});
}

void IncompleteRanges::drop_excluded(std::span<const std::vector<double>> limits)
{
    const auto excluded = [limits](const std::vector<double>& low) { return excludes(limits, low); };
    std::erase_if(ranges_, [&](const Incomplete& range) {
        return std::all_of(range.floor.begin(), range.floor.end(), excluded);
    });
}

std::vector<SweepRange> IncompleteRanges::next_ranges(std::uint64_t keep)
{
    const std::size_t chosen = std::min(ranges_.size(), ranges_again);
    std::vector<SweepRange> subranges;
    for (std::size_t i = 0; i < chosen; ++i) {
        const Incomplete& whole = ranges_[i];
        for (SweepRange subrange : split_space(whole.end - whole.begin, subranges_of_each)) {
            subrange.begin += whole.begin;
            subrange.end += whole.begin;
            subrange.again = true;
            subranges.push_back(std::move(subrange));
        }
    }
    ranges_.erase(ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(chosen));
    for (SweepRange& subrange : subranges) {
        subrange.keep = std::max<std::uint64_t>(1, keep / subranges.size());
    }
    return subranges;
}

std::uint64_t IncompleteRanges::points() const
{
    std::uint64_t count = 0;
    for (const Incomplete& range : ranges_) {
        count += range.count;
    }
    return count;
}

void IncompleteRanges::lower_to_least(std::vector<double>& least) const
{
    for (const Incomplete& range : ranges_) {
        for (const std::vector<double>& low : range.floor) {
            for (std::size_t k = 0; k < least.size(); ++k) {
                least[k] = std::min(least[k], low[k]);
            }
        }
    }
}

}  // namespace prismopt
