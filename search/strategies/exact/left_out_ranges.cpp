#include "search/strategies/exact/left_out_ranges.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {
namespace {

/// Ranges that are swept again together, and the number of parts of each.
constexpr std::size_t ranges_again = 64;
constexpr std::uint64_t parts_again = 8;

}  // namespace

void LeftOutRanges::add(const SweepRange& range, std::uint64_t count, std::vector<std::vector<double>> floor)
{
    ranges_.push_back({range.begin, range.end, count, std::move(floor)});
}

void LeftOutRanges::drop_excluded(std::span<const std::vector<double>> limits)
{
    const auto excluded = [limits](const std::vector<double>& low) { return excludes(limits, low); };
    std::erase_if(ranges_, [&](const LeftOut& range) {
        return std::all_of(range.floor.begin(), range.floor.end(), excluded);
    });
}

std::vector<SweepRange> LeftOutRanges::take_parts(std::uint64_t keep)
{
    const std::size_t chosen = std::min(ranges_.size(), ranges_again);
    std::vector<SweepRange> parts;
    for (std::size_t i = 0; i < chosen; ++i) {
        const LeftOut& whole = ranges_[i];
        for (SweepRange part : split_space(whole.end - whole.begin, parts_again)) {
            part.begin += whole.begin;
            part.end += whole.begin;
            part.again = true;
            parts.push_back(std::move(part));
        }
    }
    ranges_.erase(ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(chosen));
    for (SweepRange& part : parts) part.keep = std::max<std::uint64_t>(1, keep / parts.size());
    return parts;
}

std::uint64_t LeftOutRanges::points() const
{
    std::uint64_t count = 0;
    for (const LeftOut& range : ranges_) count += range.count;
    return count;
}

void LeftOutRanges::lower_to_least(std::vector<double>& least) const
{
    for (const LeftOut& range : ranges_) {
        for (const std::vector<double>& low : range.floor) {
            for (std::size_t k = 0; k < least.size(); ++k) least[k] = std::min(least[k], low[k]);
        }
    }
}

}  // namespace prismopt
