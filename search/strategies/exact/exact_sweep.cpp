/// Sweeps of an exact search: what they return, and what is swept next.

#include "search/archive.hpp"
#include "search/components/answers.hpp"
#include "search/strategies/exact/exact.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace prismopt {
namespace {

/// Incomplete ranges that are swept again together, and the number of parts of each.
constexpr std::size_t ranges_again = 64;
constexpr std::uint64_t parts_again = 8;

/// Every eighth range of the sweep for the front belongs to the sample that comes first.
constexpr std::size_t sample_stride = 8;

}  // namespace

void Exact::take(const Sweep& sweep)
{
    const SweepRange* range = sweep_.running() ? &sweep_.ranges[sweep_.answered] : nullptr;
    if (range == nullptr || sweep.range.begin != range->begin || sweep.range.end != range->end) {
        refuse_answer("it is of tuples " + std::to_string(sweep.range.begin) + " to " + std::to_string(sweep.range.end));
    }
    switch (sweep_.purpose) {
        case SweepPurpose::exploration: take_explored(sweep); break;
        case SweepPurpose::better: take_better(sweep); break;
        case SweepPurpose::front:
        case SweepPurpose::left_out: take_bounds(sweep); break;
        case SweepPurpose::tighter: take_tightened(sweep); break;
    }
    ++sweep_.answered;
    if (sweep_.answered == sweep_.wave) narrow_near();
    if (!sweep_.running()) end_sweep();
}

void Exact::begin_sweep(CurrentSweep sweep)
{
    sweep_ = std::move(sweep);
    if (!sweep_.running()) end_sweep();
}

void Exact::end_sweep()
{
    switch (sweep_.purpose) {
        case SweepPurpose::exploration: break;
        case SweepPurpose::better: better_.swept = true; break;
        case SweepPurpose::front: swept_whole_ = true; [[fallthrough]];
        case SweepPurpose::left_out:
            feasible_.put_in_order();
            known_.clear();
            break;
        case SweepPurpose::tighter:
            feasible_.tighten(to_tighten_, tightened_);
            to_tighten_.clear();
            tightened_.clear();
            break;
    }
}

void Exact::take_explored(const Sweep& sweep)
{
    for (const Bound& feasible : sweep.feasible) {
        checked_bounds(feasible);
        if (options_.region) near_.add({options_.region(feasible.index), feasible});
    }
    exploration_->tell(sweep.feasible);
}

void Exact::take_bounds(const Sweep& sweep)
{
    std::uint64_t known_returned = 0;
    for (const Bound& feasible : sweep.feasible) {
        if (std::binary_search(known_.begin(), known_.end(), feasible.index)) {
            ++known_returned;
            continue;
        }
        if (!sweep_.limits.empty()) tight_.insert(feasible.index);
        feasible_.add(feasible.index, checked_bounds(feasible));
    }
    if (sweep_.answered < sweep_.wave) {
        for (const NearBound& point : sweep.near) near_.add(point);
    }
    if (sweep_.purpose == SweepPurpose::front) {
        feasible_count_ += sweep.feasible.size() + sweep.excluded + sweep.left_out;
        excluded_in_sweep_ += sweep.excluded;
        known_not_returned_ -= known_returned;
        unchecked_ += sweep.unchecked;
        std::transform(excluded_by_.begin(), excluded_by_.end(), sweep.excluded_by.begin(), excluded_by_.begin(), std::plus<>());
    }
    if (sweep.left_out > 0) {
        LeftOut& part = withheld_.emplace_back(LeftOut{sweep.range.begin, sweep.range.end, sweep.left_out, sweep.floor});
        for (std::vector<double>& low : part.floor) {
            for (std::size_t k = 0; k < options_.objectives; ++k) low[k] = options_.bounded[k] ? low[k] : -infinity;
        }
    }
}

void Exact::take_tightened(const Sweep& sweep)
{
    for (const Bound& feasible : sweep.feasible) {
        tightened_.push_back({feasible.index, checked_bounds(feasible)});
        tight_.insert(feasible.index);
    }
}

/// The bounds of the objectives that have valid ones; minus infinity for others.
std::vector<double> Exact::checked_bounds(const Bound& feasible) const
{
    check_objectives(feasible.index, feasible.objectives.size(), options_.objectives);
    std::vector<double> least = feasible.objectives;
    for (std::size_t k = 0; k < options_.objectives; ++k) {
        if (!options_.bounded[k]) least[k] = -infinity;
        if (std::isnan(least[k])) refuse_nan(feasible.index, k);
    }
    return least;
}

/// Asks for the next generation of the exploration. Its front, in the end, is among the points that the sweep would return.
void Exact::explore()
{
    CurrentSweep generation{.purpose = SweepPurpose::exploration};
    for (const std::uint64_t index : exploration_->ask()) {
        generation.ranges.push_back({.begin = index, .end = index + 1, .again = true});
    }
    if (!generation.ranges.empty()) return begin_sweep(std::move(generation));
    for (const Bound& bound : exploration_->front()) feasible_.add(bound.index, bound.objectives);
    feasible_.put_in_order();
    exploration_.reset();
}

/// Asks for the whole space, but for what the limits exclude. Points near the best of their region cost more than others: a sample
/// of the ranges comes first, after which fewer are near.
void Exact::sweep_whole()
{
    feasible_.exclude(limits_);
    counted_again_ = feasible_.excluded();
    for (std::size_t place = 0; place < feasible_.size(); ++place) known_.push_back(feasible_.index(place));
    std::sort(known_.begin(), known_.end());
    known_not_returned_ = known_.size() - counted_again_;
    CurrentSweep sweep{.purpose = SweepPurpose::front, .ranges = options_.ranges, .limits = limits_.sorted()};
    sweep.near = {options_.near_objective, near_.limits()};
    near_ = NearBounds(options_.near_objective, sweep.near.regions);
    if (!sweep.near.regions.empty()) {
        std::vector<SweepRange> others;
        sweep.ranges.clear();
        for (std::size_t i = 0; i < options_.ranges.size(); ++i) {
            (i % sample_stride == 0 ? sweep.ranges : others).push_back(options_.ranges[i]);
        }
        sweep.wave = sweep.ranges.size();
        sweep.ranges.insert(sweep.ranges.end(), others.begin(), others.end());
    }
    begin_sweep(std::move(sweep));
}

/// After the first ranges: fewer points of the others are near the best of their region.
void Exact::narrow_near()
{
    sweep_.near.regions = near_.limits(static_cast<double>(sweep_.wave) / static_cast<double>(sweep_.ranges.size()));
    near_ = NearBounds(options_.near_objective);
}

/// Asks for tighter bounds of the points that the limits do not exclude and whose bounds come from a sweep without limits.
void Exact::tighten()
{
    const bool bounded = std::find(options_.bounded.begin(), options_.bounded.end(), false) == options_.bounded.end();
    if (!bounded || limits_.newest() == 0) return;
    feasible_.exclude(limits_);
    for (const std::size_t place : feasible_.remaining()) {
        if (!tight_.contains(feasible_.index(place))) to_tighten_.push_back(feasible_.index(place));
    }
    std::sort(to_tighten_.begin(), to_tighten_.end());
    if (to_tighten_.empty()) return;
    CurrentSweep sweep{.purpose = SweepPurpose::tighter, .limits = limits_.sorted()};
    for (const std::uint64_t index : to_tighten_) sweep.ranges.push_back({.begin = index, .end = index + 1, .again = true});
    begin_sweep(std::move(sweep));
}

/// Drops incomplete ranges all of whose points the limits exclude; returns these limits.
std::vector<std::vector<double>> Exact::drop_excluded_ranges()
{
    const bool bounded = std::find(options_.bounded.begin(), options_.bounded.end(), false) == options_.bounded.end();
    std::vector<std::vector<double>> limits = bounded ? limits_.sorted() : std::vector<std::vector<double>>{};
    std::erase_if(withheld_, [&](const LeftOut& part) {
        return std::all_of(part.floor.begin(), part.floor.end(),
                           [&](const std::vector<double>& low) { return excludes(limits, low); });
    });
    return limits;
}

/// Queues parts of incomplete ranges for another sweep, unless limits exclude all of their points or no more points may be drawn.
void Exact::look_again()
{
    if (options_.max_evaluations > 0 && evaluated_ >= options_.max_evaluations) return;
    CurrentSweep sweep{.purpose = SweepPurpose::left_out, .limits = drop_excluded_ranges()};
    const std::size_t chosen = std::min(withheld_.size(), ranges_again);
    for (std::size_t w = 0; w < chosen; ++w) {
        const LeftOut& whole = withheld_[w];
        for (SweepRange part : split_space(whole.end - whole.begin, parts_again)) {
            part.begin += whole.begin;
            part.end += whole.begin;
            part.again = true;
            sweep.ranges.push_back(std::move(part));
        }
    }
    withheld_.erase(withheld_.begin(), withheld_.begin() + static_cast<std::ptrdiff_t>(chosen));
    for (SweepRange& range : sweep.ranges) range.keep = std::max<std::uint64_t>(1, options_.kept_again / sweep.ranges.size());
    if (chosen > 0) {
        for (std::size_t place = 0; place < feasible_.size(); ++place) known_.push_back(feasible_.index(place));
        std::sort(known_.begin(), known_.end());
    }
    begin_sweep(std::move(sweep));
}

}  // namespace prismopt
