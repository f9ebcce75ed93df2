#include "search/strategies/exact/sweeps.hpp"

#include "search/components/answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace prismopt {
namespace {

/// Every eighth range of the sweep for the front belongs to the sample that comes first.
constexpr std::size_t sample_stride = 8;

}  // namespace

Sweeps::Sweeps(const ExactOptions& options)
    : options_(options), near_({.objective = options.goal.near_objective})
{
}

std::optional<SweepProgress> Sweeps::progress() const
{
    if (!running()) {
        return std::nullopt;
    }
    return SweepProgress{current_.purpose, current_.answered, current_.ranges.size()};
}

std::optional<SweepProgress> Sweeps::uncovered() const
{
    if (covered_) {
        return std::nullopt;
    }
    const bool begun = current_.purpose == SweepPurpose::front;
    return SweepProgress{SweepPurpose::front, begun ? current_.answered : 0, options_.ranges.size()};
}

void Sweeps::begin(RangeSweep sweep, Points& points)
{
    current_ = std::move(sweep);
    if (!running()) {
        end(points);
    }
}

void Sweeps::end(Points& points)
{
    switch (current_.purpose) {
        case SweepPurpose::exploration:
        case SweepPurpose::better: break;
        case SweepPurpose::front: covered_ = true; [[fallthrough]];
        case SweepPurpose::incomplete:
            points.feasible.put_in_order();
            known_.clear();
            break;
        case SweepPurpose::tighter: {
            std::vector<std::uint64_t> looked_at;
            for (const SweepRange& range : current_.ranges) {
                looked_at.push_back(range.begin);
            }
            points.feasible.tighten(looked_at, tightened_);
            tightened_.clear();
            break;
        }
    }
}

void Sweeps::explore(const std::vector<std::uint64_t>& points)
{
    current_ = sweep_of_points(SweepPurpose::exploration, points);
}

void Sweeps::seek_better(const std::vector<double>& than)
{
    current_ = RangeSweep{.purpose = SweepPurpose::better, .ranges = options_.ranges, .limits = {than}};
    for (SweepRange& range : current_.ranges) {
        range.keep = std::max<std::uint64_t>(1, options_.gaps.kept / current_.ranges.size());
        range.again = true;
    }
}

/// Points near the best of their region cost more than others: a sample of the ranges comes
/// first, after which fewer are near.
void Sweeps::sweep_for_front(Points& points)
{
    points.exclude();
    note_known(points.feasible);
    tally_.excluded_known = points.feasible.excluded();
    tally_.missing_known = known_.size() - tally_.excluded_known;
    const std::size_t objective = options_.goal.near_objective;
    RangeSweep sweep{
        .purpose = SweepPurpose::front, .ranges = options_.ranges, .limits = points.limits.sorted()};
    sweep.near = {.objective = objective, .regions = near_.limits()};
    if (sweep.near.regions.empty() && options_.goal.region && options_.goal.limited > 0) {
        // What is not allowed is excluded even if nothing was explored.
        sweep.near.regions.push_back(of_no_region);
    }
    near_ = NearBounds(sweep.near);
    if (!sweep.near.regions.empty()) {
        std::vector<SweepRange> others;
        sweep.ranges.clear();
        for (std::size_t i = 0; i < options_.ranges.size(); ++i) {
            std::vector<SweepRange>& group = i % sample_stride == 0 ? sweep.ranges : others;
            group.push_back(options_.ranges[i]);
        }
        sweep.wave = sweep.ranges.size();
        sweep.ranges.insert(sweep.ranges.end(), others.begin(), others.end());
    }
    begin(std::move(sweep), points);
}

void Sweeps::tighten(Points& points)
{
    if (!all_bounded(options_.goal) || points.limits.newest() == 0) {
        return;
    }
    points.exclude();
    std::vector<std::uint64_t> loose;
    for (const std::size_t place : points.feasible.remaining()) {
        const std::uint64_t index = points.feasible.index(place);
        if (!points.tight.contains(index)) {
            loose.push_back(index);
        }
    }
    if (loose.empty()) {
        return;
    }
    std::sort(loose.begin(), loose.end());
    current_ = sweep_of_points(SweepPurpose::tighter, loose);
    current_.limits = points.limits.sorted();
}

void Sweeps::sweep_again(Points& points)
{
    drop_excluded(points.limits);
    if (incomplete_ranges_.empty()) {
        return;
    }
    note_known(points.feasible);
    current_ = RangeSweep{.purpose = SweepPurpose::incomplete,
                          .ranges = incomplete_ranges_.next_ranges(options_.sweeps.kept_again),
                          .limits = usable(points.limits)};
}

void Sweeps::note_known(const BoundLayers& feasible)
{
    for (std::size_t place = 0; place < feasible.size(); ++place) {
        known_.push_back(feasible.index(place));
    }
    std::sort(known_.begin(), known_.end());
}

std::vector<double> Sweeps::usable(std::vector<double> bound) const
{
    for (std::size_t k = 0; k < bound.size(); ++k) {
        if (!options_.goal.bounded[k]) {
            bound[k] = -std::numeric_limits<double>::infinity();
        }
    }
    return bound;
}

/// Without a bound in each objective, limits exclude no range.
std::vector<std::vector<double>> Sweeps::usable(const Limits& limits) const
{
    if (!all_bounded(options_.goal)) {
        return {};
    }
    return limits.sorted();
}

std::vector<Bound> Sweeps::checked(const Sweep& sweep) const
{
    current_.expect(sweep.range);
    std::vector<Bound> bounds;
    bounds.reserve(sweep.feasible.size());
    for (const Bound& feasible : sweep.feasible) {
        check_objectives(feasible.index, feasible.objectives.size(), options_.goal.objectives);
        const std::vector<double>& least =
            bounds.emplace_back(Bound{feasible.index, usable(feasible.objectives)}).objectives;
        for (std::size_t k = 0; k < least.size(); ++k) {
            if (std::isnan(least[k])) {
                refuse_nan(feasible.index, k);
            }
        }
    }
    return bounds;
}

void Sweeps::receive_explored(std::span<const Bound> bounds)
{
    if (!options_.goal.region) {
        return;
    }
    for (const Bound& bound : bounds) {
        near_.add({options_.goal.region(bound.index), bound});
    }
}

void Sweeps::receive(const Sweep& sweep, std::span<const Bound> bounds, Points& points)
{
    if (current_.purpose != SweepPurpose::tighter) {
        return receive_front(sweep, bounds, points);
    }
    for (const Bound& bound : bounds) {
        tightened_.push_back(bound);
        points.tight.insert(bound.index);
    }
}

void Sweeps::receive_front(const Sweep& sweep, std::span<const Bound> bounds, Points& points)
{
    std::uint64_t known_returned = 0;
    for (const Bound& bound : bounds) {
        if (std::binary_search(known_.begin(), known_.end(), bound.index)) {
            ++known_returned;
            continue;
        }
        if (!current_.limits.empty()) {
            points.tight.insert(bound.index);
        }
        points.feasible.add(bound.index, bound.objectives);
    }
    if (current_.in_first_wave()) {
        for (const NearBound& point : sweep.near) {
            near_.add(point);
        }
    }
    if (current_.purpose == SweepPurpose::front) {
        count(sweep, known_returned);
    }
    if (sweep.unreturned == 0) {
        return;
    }
    std::vector<std::vector<double>> floor;
    for (const std::vector<double>& low : sweep.floor) {
        floor.push_back(usable(low));
    }
    incomplete_ranges_.add(sweep.range, sweep.unreturned, std::move(floor));
}

void Sweeps::count(const Sweep& sweep, std::uint64_t known_returned)
{
    tally_.feasible += sweep.feasible.size() + sweep.excluded + sweep.unreturned;
    tally_.excluded += sweep.excluded;
    tally_.missing_known -= known_returned;
    tally_.unchecked += sweep.unchecked;
    for (std::size_t bound = 0; bound < bound_kinds; ++bound) {
        tally_.excluded_by[bound] += sweep.excluded_by[bound];
    }
}

void Sweeps::finish_answer(Points& points)
{
    ++current_.answered;
    if (current_.answered == current_.wave) {
        narrow_near();
    }
    if (!running()) {
        end(points);
    }
}

/// After the first ranges: fewer points of the others are near the best of their region.
void Sweeps::narrow_near()
{
    const double share = static_cast<double>(current_.wave) / static_cast<double>(current_.ranges.size());
    current_.near.regions = near_.limits(share);
    near_ = NearBounds({.objective = options_.goal.near_objective});
}

const IncompleteRanges& Sweeps::drop_excluded(const Limits& limits)
{
    incomplete_ranges_.drop_excluded(usable(limits));
    return incomplete_ranges_;
}

std::uint64_t Sweeps::excluded(const BoundLayers& feasible) const
{
    const std::uint64_t of_returned = feasible.excluded() - tally_.excluded_known;
    if (!open()) {
        const std::uint64_t not_returned = tally_.feasible + tally_.excluded_known - feasible.size();
        return of_returned + not_returned;
    }
    // After the sweep, known points that it did not return are looked at once more, and may be counted then.
    const std::uint64_t counted_later = covered_ ? std::min(tally_.excluded, tally_.missing_known) : 0;
    return of_returned + tally_.excluded - counted_later;
}

}  // namespace prismopt
