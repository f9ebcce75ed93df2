#pragma once

/// Sweeps of an exact search: which ranges are swept next and for what, and what is known of
/// points that no sweep returned.

#include "search/near_bounds.hpp"
#include "search/strategies/exact/incomplete_ranges.hpp"
#include "search/strategies/exact/options.hpp"
#include "search/strategies/exact/points.hpp"
#include "search/strategies/exact/range_sweep.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

/// What the sweep for the front counted.
struct SweepTally {
    std::uint64_t feasible = 0;
    std::uint64_t excluded = 0;  // by its limits; without ranges that were swept again
    // raw tuples that were excluded before it was known whether they are feasible
    std::uint64_t unchecked = 0;
    // points explored before that limits excluded before the sweep, which counts them as well
    std::uint64_t excluded_known = 0;
    // points explored before that the sweep has not returned: they may be among `excluded`
    std::uint64_t missing_known = 0;
    CountByBound excluded_by = {};
};

/// Makes one sweep at a time, for one of the purposes. Points that are returned go to their component: those
/// of an exploration and of a sweep for better points are not kept here.
class Sweeps {
public:
    /// The options must outlive the sweeps.
    explicit Sweeps(const ExactOptions& options);

    // The sweep in progress.
    bool running() const { return current_.running(); }
    SweepPurpose purpose() const { return current_.purpose; }
    std::optional<SweepProgress> progress() const;
    /// Progress of the sweep for the front, until it is done.
    std::optional<SweepProgress> uncovered() const;
    void add_requests(std::vector<Request>& requests)
    {
        current_.add_requests(options_.sweeps.at_once, requests);
    }

    // What is swept next. Each may end at once, if there is nothing to sweep.
    /// Single points, for good bounds.
    void explore(const std::vector<std::uint64_t>& points);
    /// The whole space, for points that are better than this one in some objective.
    void seek_better(const std::vector<double>& than);
    /// The whole space, but for what the limits exclude.
    void sweep_for_front(Points& points);
    /// Remaining points whose bounds come from a sweep without limits, for tighter ones.
    void tighten(Points& points);
    /// Parts of incomplete ranges, unless the limits exclude all of their points.
    void sweep_again(Points& points);

    // Answers: checked, taken, counted.
    /// The bounds of the answer to the next range, minus infinity for objectives without one. Throws
    /// std::runtime_error if it is another range, or if a bound is not a number.
    std::vector<Bound> checked(const Sweep& sweep) const;
    void receive_explored(std::span<const Bound> bounds);
    void receive(const Sweep& sweep, std::span<const Bound> bounds, Points& points);
    /// Counts the answer; ends the sweep after the last one.
    void finish_answer(Points& points);

    /// Whether the space was swept for the front.
    bool covered() const { return covered_; }
    /// Whether points remain that no sweep returned and no limit excludes.
    bool open() const { return !covered_ || running() || !incomplete_ranges_.empty(); }
    /// Ranges with points that no sweep returned, after those that the limits exclude are dropped.
    const IncompleteRanges& drop_excluded(const Limits& limits);
    const IncompleteRanges& incomplete_ranges() const { return incomplete_ranges_; }
    /// Number of feasible points that their lower bounds exclude.
    std::uint64_t excluded(const BoundLayers& feasible) const;
    const SweepTally& tally() const { return tally_; }

private:
    void begin(RangeSweep sweep, Points& points);
    void end(Points& points);
    void count(const Sweep& sweep, std::uint64_t known_returned);
    void receive_front(const Sweep& sweep, std::span<const Bound> bounds, Points& points);
    void note_known(const BoundLayers& feasible);
    void narrow_near();
    std::vector<double> usable(std::vector<double> bound) const;
    std::vector<std::vector<double>> usable(const Limits& limits) const;

    const ExactOptions& options_;
    RangeSweep current_;
    bool covered_ = false;
    SweepTally tally_;
    IncompleteRanges incomplete_ranges_;  // with points that no limit excludes so far
    std::vector<std::uint64_t> known_;    // during a sweep: the points returned before, ascending
    std::vector<Bound> tightened_;        // by the sweep in progress
    NearBounds near_;  // of explored points, then of the first ranges of the sweep for the front
};

}  // namespace prismopt
