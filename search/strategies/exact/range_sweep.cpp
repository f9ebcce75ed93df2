#include "search/strategies/exact/range_sweep.hpp"

#include "search/components/answers.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace prismopt {

void RangeSweep::add_requests(std::size_t at_once, std::vector<Request>& requests)
{
    const std::size_t ready = in_first_wave() ? wave : ranges.size();
    const std::size_t end = std::min(answered + at_once, ready);
    for (; requested < end; ++requested) {
        auto& range = std::get<SweepRange>(requests.emplace_back(ranges[requested]));
        range.limits = limits;
        range.near = near;
    }
}

void RangeSweep::expect(const SweepRange& range) const
{
    if (running() && range.begin == ranges[answered].begin && range.end == ranges[answered].end) {
        return;
    }
    refuse_answer("it is of tuples " + std::to_string(range.begin) + " to " + std::to_string(range.end));
}

RangeSweep sweep_of_points(SweepPurpose purpose, const std::vector<std::uint64_t>& points)
{
    RangeSweep sweep{.purpose = purpose};
    for (const std::uint64_t index : points) {
        sweep.ranges.push_back({.begin = index, .end = index + 1, .again = true});
    }
    return sweep;
}

}  // namespace prismopt
