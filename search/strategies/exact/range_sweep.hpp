#pragma once

/// A sweep in progress: ranges that are requested and answered in order.

#include "search/strategy.hpp"

#include <cstddef>
#include <vector>

namespace prismopt {

/// Ranges that are swept for one purpose, with one list of limits. The answers to the ranges of the first
/// wave come before any other range is requested.
struct RangeSweep {
    SweepPurpose purpose = SweepPurpose::exploration;
    std::vector<SweepRange> ranges = {};  // in order; without their limits
    std::vector<std::vector<double>> limits = {};
    NearRequest near = {};
    std::size_t wave = 0;       // number of the first ranges whose answers the others wait for
    std::size_t requested = 0;  // ranges
    std::size_t answered = 0;   // ranges

    bool running() const { return answered < ranges.size(); }
    bool in_first_wave() const { return answered < wave; }

    /// Adds the requests that may be made now: at most `at_once` ranges beyond the oldest without an answer.
    void add_requests(std::size_t at_once, std::vector<Request>& requests);
    /// Throws std::runtime_error unless the next answer is to be of this range.
    void expect(const SweepRange& range) const;
};

/// A sweep of single points.
RangeSweep sweep_of_points(SweepPurpose purpose, const std::vector<std::uint64_t>& points);

}  // namespace prismopt
