/// Sweeps of an exact search: what they return, and what is swept next.

#include "search/archive.hpp"
#include "search/components/answers.hpp"
#include "search/strategies/exact.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace prismopt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Incomplete ranges that are swept again together, and the number of parts of each.
constexpr std::size_t ranges_again = 64;
constexpr std::uint64_t parts_again = 8;

}  // namespace

void Exact::take(const Sweep& sweep)
{
    if (swept_ == ranges_.size() || sweep.range.begin != ranges_[swept_].begin || sweep.range.end != ranges_[swept_].end) {
        refuse_answer("it is of tuples " + std::to_string(sweep.range.begin) + " to " + std::to_string(sweep.range.end));
    }
    if (!first_range_) {
        take_explored(sweep);
        return;
    }
    if (!to_tighten_.empty()) {
        take_tightened(sweep);
        return;
    }
    std::uint64_t known_returned = 0;
    for (const Bound& feasible : sweep.feasible) {
        if (!limits_of_ranges_.empty()) tight_.insert(feasible.index);
        if (std::binary_search(known_.begin(), known_.end(), feasible.index)) {
            ++known_returned;
            continue;
        }
        check_objectives(feasible.index, feasible.objectives.size(), options_.objectives);
        std::vector<double> least = feasible.objectives;
        for (std::size_t k = 0; k < options_.objectives; ++k) {
            if (!options_.bounded[k]) least[k] = -infinity;
            if (std::isnan(least[k])) refuse_nan(feasible.index, k);
        }
        feasible_.add(feasible.index, least);
    }
    if (!ranges_[swept_].again) {
        feasible_count_ += sweep.feasible.size() + sweep.excluded + sweep.left_out;
        excluded_in_sweep_ += sweep.excluded;
        known_not_returned_ -= known_returned;
        unchecked_ += sweep.unchecked;
        std::transform(excluded_by_.begin(), excluded_by_.end(), sweep.excluded_by.begin(), excluded_by_.begin(), std::plus<>());
    }
    if (sweep.left_out > 0) {
        withheld_.push_back({.range = {.begin = sweep.range.begin, .end = sweep.range.end},
                             .feasible = {},
                             .rejected = {},
                             .left_out = sweep.left_out,
                             .floor = sweep.floor});
        for (std::vector<double>& low : withheld_.back().floor) {
            for (std::size_t k = 0; k < options_.objectives; ++k) low[k] = options_.bounded[k] ? low[k] : -infinity;
        }
    }
    if (++swept_ == ranges_.size()) {
        feasible_.put_in_order();
        known_.clear();
    }
}

void Exact::take_explored(const Sweep& sweep)
{
    for (const Bound& feasible : sweep.feasible) {
        check_bounds(feasible);
        if (options_.region) {
            const double bound = feasible.objectives[options_.near_objective];
            double& best = best_of_region_.try_emplace(options_.region(feasible.index), bound).first->second;
            best = std::min(best, bound);
        }
    }
    explorer_->tell(sweep.feasible);
    ++swept_;
}

void Exact::take_tightened(const Sweep& sweep)
{
    for (const Bound& feasible : sweep.feasible) {
        check_bounds(feasible);
        tightened_.push_back(feasible);
        tight_.insert(feasible.index);
    }
    if (++swept_ == ranges_.size()) {
        feasible_.tighten(to_tighten_, tightened_);
        to_tighten_.clear();
        tightened_.clear();
    }
}

void Exact::check_bounds(const Bound& feasible) const
{
    check_objectives(feasible.index, feasible.objectives.size(), options_.objectives);
    for (std::size_t k = 0; k < options_.objectives; ++k) {
        if (std::isnan(feasible.objectives[k])) refuse_nan(feasible.index, k);
    }
}

/// Asks for the next generation of the exploration. Its front, in the end, is among the points that the sweep would return.
void Exact::explore()
{
    for (const std::uint64_t index : explorer_->ask()) ranges_.push_back({.begin = index, .end = index + 1, .again = true});
    if (swept_ < ranges_.size()) return;
    for (const Bound& bound : explorer_->front()) feasible_.add(bound.index, bound.objectives);
    feasible_.put_in_order();
    explorer_.reset();
}

/// Asks for the whole space, but for what the limits exclude.
void Exact::sweep()
{
    first_range_ = ranges_.size();
    feasible_.exclude(limits_);
    counted_again_ = feasible_.excluded();
    limits_of_ranges_ = limits_.sorted();
    near_of_ranges_.objective = options_.near_objective;
    for (const auto& [region, bound] : best_of_region_) near_of_ranges_.best.push_back({region, bound});
    ranges_.insert(ranges_.end(), options_.ranges.begin(), options_.ranges.end());
    for (std::size_t place = 0; place < feasible_.size(); ++place) known_.push_back(feasible_.index(place));
    std::sort(known_.begin(), known_.end());
    known_not_returned_ = known_.size();
}

/// Asks for tighter bounds of the points that the limits do not exclude and whose bounds come from a sweep without limits. False:
/// there are none.
bool Exact::tighten()
{
    const bool bounded = std::find(options_.bounded.begin(), options_.bounded.end(), false) == options_.bounded.end();
    if (!bounded || limits_.newest() == 0) return false;
    feasible_.exclude(limits_);
    for (const std::uint64_t index : feasible_.remaining()) {
        if (!tight_.contains(index)) to_tighten_.push_back(index);
    }
    std::sort(to_tighten_.begin(), to_tighten_.end());
    limits_of_ranges_ = limits_.sorted();
    near_of_ranges_ = {};
    for (const std::uint64_t index : to_tighten_) ranges_.push_back({.begin = index, .end = index + 1, .again = true});
    return !to_tighten_.empty();
}

/// Drops incomplete ranges all of whose points the limits exclude; returns these limits.
std::vector<std::vector<double>> Exact::drop_excluded_ranges()
{
    const bool bounded = std::find(options_.bounded.begin(), options_.bounded.end(), false) == options_.bounded.end();
    std::vector<std::vector<double>> limits = bounded ? limits_.sorted() : std::vector<std::vector<double>>{};
    std::erase_if(withheld_, [&](const Sweep& sweep) {
        return std::all_of(sweep.floor.begin(), sweep.floor.end(),
                           [&](const std::vector<double>& low) { return excludes(limits, low); });
    });
    return limits;
}

/// Queues parts of incomplete ranges for another sweep, unless limits exclude all of their points or no more points may be drawn.
void Exact::look_again()
{
    if (options_.max_evaluations > 0 && evaluated_ >= options_.max_evaluations) return;
    limits_of_ranges_ = drop_excluded_ranges();
    near_of_ranges_ = {};
    const std::size_t first = ranges_.size();
    const std::size_t chosen = std::min(withheld_.size(), ranges_again);
    for (std::size_t w = 0; w < chosen; ++w) {
        const SweepRange whole = withheld_[w].range;
        for (SweepRange part : split_space(whole.end - whole.begin, parts_again)) {
            part.begin += whole.begin;
            part.end += whole.begin;
            part.again = true;
            ranges_.push_back(std::move(part));
        }
    }
    withheld_.erase(withheld_.begin(), withheld_.begin() + static_cast<std::ptrdiff_t>(chosen));
    for (std::size_t r = first; r < ranges_.size(); ++r) {
        ranges_[r].keep = std::max<std::uint64_t>(1, options_.kept_again / (ranges_.size() - first));
    }
    for (std::size_t place = 0; place < feasible_.size() && chosen > 0; ++place) known_.push_back(feasible_.index(place));
    std::sort(known_.begin(), known_.end());
}

}  // namespace prismopt
