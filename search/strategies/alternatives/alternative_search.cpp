#include "search/strategies/alternatives/alternative_search.hpp"

#include "search/components/answers.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace prismopt {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Of the best bound of a cell: points that a sweep returns. Values lie some percent above their bounds, and
/// those of points that may be the best about as much.
constexpr double within = 0.05;
constexpr std::size_t most_kept = 256;
/// Points of the first alternative that are tried on the others.
constexpr std::size_t tried_there = 16;
/// Ranges into which the sweeps of one stage are divided at least, so that each rank gets some.
constexpr std::uint64_t fewest_ranges = 48;
/// Alternatives whose points are drawn at once, by weighted value and by regret each.
constexpr std::size_t chosen_at_once = 4;
/// Points of a cell that are drawn at once: at first, then.
constexpr std::size_t first_points = 2;
constexpr std::size_t further_points = 8;
/// Rungs beyond the last up to which a point is drawn for a limit, if its draws are too few for one.
constexpr int most_closer = 3;

}  // namespace

AlternativeSearch::AlternativeSearch(const Space& space, StudyGoal goal)
    : goal_(std::move(goal)), of_(goal_.alternatives.value()), kept_(most_kept)
{
    const std::size_t labels = space.axes().front().labels.size();
    const std::size_t cells = of_.alternatives * of_.tasks;
    if (of_.tasks == 0 || goal_.objectives != 1 || !goal_.bounded.front() ||
        of_.cell_of_label.size() != labels || of_.weights.size() != of_.tasks) {
        throw std::invalid_argument(
            "a search of alternatives needs one objective with a bound, and a cell for each label");
    }
    block_size_ = space.size() / labels;
    for (std::size_t label = 0; label < labels; ++label) {
        const std::size_t cell = of_.cell_of_label[label];
        blocks_.push_back({cell, cell % of_.tasks, label * block_size_, (label + 1) * block_size_});
    }
    first_ = of_.alternatives / 2;
    cells_.resize(cells);
    tried_.assign(cells, infinite);
}

std::size_t AlternativeSearch::cell_of(std::uint64_t point) const
{
    return blocks_[point / block_size_].cell;
}

std::optional<std::vector<Request>> AlternativeSearch::ask()
{
    if (answered_ < asked_.size()) {
        return std::vector<Request>{};
    }
    asked_.clear();
    answered_ = 0;
    while (stage_ != Stage::finished) {
        const bool again = stage_ == Stage::draws;  // until nothing is left to draw; sweeps are asked once
        if (!std::exchange(begun_, true) || again) {
            asked_ = requests_of_stage();
        }
        if (!asked_.empty()) {
            return asked_;
        }
        stage_ = static_cast<Stage>(static_cast<int>(stage_) + 1);
        begun_ = false;
    }
    return std::nullopt;
}

std::vector<Request> AlternativeSearch::requests_of_stage()
{
    switch (stage_) {
        case Stage::first: return sweeps_of_first();
        case Stage::transfer: return transfers();
        case Stage::others: return sweeps_of_others();
        case Stage::draws: return draws();
        case Stage::finished: break;
    }
    return {};
}

/// No limit excludes a point by itself: all are returned that are near the best of their cell.
void AlternativeSearch::add_sweep(const Block& block, std::uint64_t range_count, NearRequest near, bool again,
                                  std::vector<Request>& sweeps)
{
    near.regions.push_back(of_no_region);
    for (SweepRange subrange : split_space(block.end - block.begin, range_count)) {
        subrange.begin += block.begin;
        subrange.end += block.begin;
        subrange.keep = 1;
        subrange.again = again;
        subrange.limits = {{-infinite}};
        subrange.near = near;
        sweeps.emplace_back(std::move(subrange));
    }
}

std::vector<Request> AlternativeSearch::sweeps_of_first()
{
    const auto of_first = [this](const Block& block) { return is_first(block.cell); };
    const std::uint64_t range_count =
        fewest_ranges / std::max<std::uint64_t>(1, std::ranges::count_if(blocks_, of_first)) + 1;
    std::vector<Request> sweeps;
    for (const Block& block : blocks_) {
        if (is_first(block.cell)) {
            add_sweep(block, range_count, {.within = within, .most = kept_}, false, sweeps);
        }
    }
    return sweeps;
}

/// The best points of the first alternative, with the labels of each other one.
std::vector<Request> AlternativeSearch::transfers() const
{
    std::vector<std::vector<std::uint64_t>> best;  // [task]: places in a block
    for (std::size_t task = 0; task < of_.tasks; ++task) {
        std::vector<std::uint64_t>& places =
            best.emplace_back(cells_[first_ * of_.tasks + task].open(tried_there));
        for (std::uint64_t& place : places) {
            place %= block_size_;
        }
        std::ranges::sort(places);
        places.erase(std::unique(places.begin(), places.end()), places.end());
    }
    std::vector<Request> sweeps;
    for (const Block& block : blocks_) {
        if (is_first(block.cell)) {
            continue;
        }
        for (const std::uint64_t place : best[block.task]) {
            const std::uint64_t index = block.begin + place;
            add_sweep({block.cell, block.task, index, index + 1}, 1, {.within = within, .most = 1}, true,
                      sweeps);
        }
    }
    return sweeps;
}

std::vector<Request> AlternativeSearch::sweeps_of_others() const
{
    std::vector<Request> sweeps;
    for (const Block& block : blocks_) {
        if (is_first(block.cell)) {
            continue;
        }
        NearRequest near{.within = within, .most = kept_};
        if (std::isfinite(tried_[block.cell])) {
            near.regions.push_back({block.cell, (1.0 + within) * tried_[block.cell]});
        }
        add_sweep(block, fewest_ranges / blocks_.size() + 1, std::move(near), false, sweeps);
    }
    return sweeps;
}

/// Points that a sweep did not return come before others are drawn.
std::vector<Request> AlternativeSearch::draws()
{
    if (!without_limit_.empty()) {
        const std::vector<PointRequest> closer = std::exchange(without_limit_, {});
        return {closer.begin(), closer.end()};
    }
    if (goal_.max_evaluations > 0 && drawn_ >= goal_.max_evaluations) {
        return {};
    }
    const std::set<std::size_t> cells = cells_to_draw();
    std::vector<Request> requests = sweeps_again(cells);
    return requests.empty() ? points_of(cells) : requests;
}

std::vector<Request> AlternativeSearch::sweeps_again(const std::set<std::size_t>& cells)
{
    std::set<std::size_t> hiding;
    std::ranges::copy_if(cells, std::inserter(hiding, hiding.end()), [&](std::size_t cell) {
        return cells_[cell].hides() && cells_[cell].open(1).empty();
    });
    if (hiding.empty()) {
        return {};
    }
    kept_ *= 4;
    for (const std::size_t cell : hiding) {
        cells_[cell].sweep_again();
    }
    std::vector<Request> sweeps;
    for (const Block& block : blocks_) {
        if (!hiding.contains(block.cell)) {
            continue;
        }
        NearRequest near{.within = infinite, .most = kept_};  // up to the limit
        near.regions.push_back({block.cell, cells_[block.cell].high()});
        add_sweep(block, fewest_ranges / (hiding.size() * blocks_.size() / cells_.size() + 1) + 1,
                  std::move(near), true, sweeps);
    }
    return sweeps;
}

/// The limits of a round may fail with a share 6 / (pi^2 round^2) of the error:
/// over all rounds these sum to one.
std::vector<Request> AlternativeSearch::points_of(const std::set<std::size_t>& cells)
{
    std::vector<PointRequest> points;
    for (const std::size_t cell : cells) {
        const std::size_t most = cells_[cell].drawn() == 0 ? first_points : further_points;
        for (const std::uint64_t index : cells_[cell].open(most)) {
            points.push_back({.index = index, .rung = goal_.top_rung});
        }
    }
    if (points.empty()) {
        return {};
    }
    ++rounds_;
    const auto round = static_cast<double>(rounds_);
    const double share = 6.0 / (std::numbers::pi * std::numbers::pi * round * round);
    for (PointRequest& point : points) {
        point.miss = 0.5 * (1.0 - goal_.confidence) * share / static_cast<double>(points.size());
    }
    return {points.begin(), points.end()};
}

std::vector<Judged> AlternativeSearch::judge() const
{
    std::vector<Known> known;
    for (const Cell& cell : cells_) {
        known.push_back(cell.least());
    }
    return judged(known, of_);
}

bool AlternativeSearch::settled(std::size_t alternative) const
{
    const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(alternative * of_.tasks);
    return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(of_.tasks),
                       [](const Cell& cell) { return cell.settled(); });
}

void AlternativeSearch::choose_within(std::size_t alternative, std::set<std::size_t>& cells) const
{
    for (std::size_t task = 0; task < of_.tasks; ++task) {
        const std::size_t cell = alternative * of_.tasks + task;
        if (!cells_[cell].settled()) {
            cells.insert(cell);
        }
    }
}

/// The regret that bounds alone suggest: what draws show of some alternatives carries
/// little information about the others.
std::vector<double> AlternativeSearch::regret_of_lows() const
{
    std::vector<Known> lows;
    for (const Cell& cell : cells_) {
        lows.push_back({.value = cell.least().low});
    }
    std::vector<double> regret;
    for (const Judged& of_one : judged(lows, of_)) {
        regret.push_back(of_one.regret.value);
    }
    return regret;
}

std::vector<std::size_t> AlternativeSearch::most_promising(const std::vector<std::size_t>& candidates,
                                                           const std::vector<double>& merit)
{
    std::vector<std::size_t> order = candidates;
    std::ranges::stable_sort(order, {}, [&](std::size_t alternative) { return merit[alternative]; });
    order.resize(std::min(order.size(), chosen_at_once));
    return order;
}

/// Those of the most promising alternatives that another one does not surely dominate; and of each task that
/// with the least bound, by which the regret of all is measured.
std::set<std::size_t> AlternativeSearch::cells_to_draw() const
{
    const std::vector<Judged> all = judge();
    std::vector<std::size_t> candidates;
    std::vector<double> weighted;
    for (std::size_t a = 0; a < all.size(); ++a) {
        weighted.push_back(all[a].weighted.low);
        const auto excludes = [&](const Judged& other) { return surely_dominates(other, all[a]); };
        if (std::isfinite(weighted.back()) && !settled(a) && std::none_of(all.begin(), all.end(), excludes)) {
            candidates.push_back(a);
        }
    }
    std::set<std::size_t> cells;
    for (const std::size_t a : most_promising(candidates, weighted)) {
        choose_within(a, cells);
    }
    for (const std::size_t a : most_promising(candidates, regret_of_lows())) {
        choose_within(a, cells);
    }
    for (std::size_t task = 0; task < of_.tasks; ++task) {
        std::size_t least = task;
        for (std::size_t cell = task; cell < cells_.size(); cell += of_.tasks) {
            if (cells_[cell].least().low < cells_[least].least().low) {
                least = cell;
            }
        }
        if (!cells_[least].settled()) {
            cells.insert(least);
        }
    }
    return cells;
}

void AlternativeSearch::tell(std::span<const Answer> answers)
{
    for (const Answer& answer : answers) {
        if (answered_ == asked_.size()) {
            refuse_answer("no request is open");
        }
        const Request& request = asked_[answered_++];
        if (const auto* range = std::get_if<SweepRange>(&request)) {
            receive(expected(answer, *range), *range);
            continue;
        }
        std::deque<PointRequest> awaited{std::get<PointRequest>(request)};
        receive(expected(answer, awaited), std::get<PointRequest>(request));
    }
}

void AlternativeSearch::receive(const Sweep& sweep, const SweepRange& range)
{
    const std::size_t cell = cell_of(range.begin);
    std::vector<Bound> points;
    for (const NearBound& near : sweep.near) {
        check_objectives(near.bound.index, near.bound.objectives.size(), 1);
        if (std::isnan(near.bound.objectives.front())) {
            refuse_nan(near.bound.index, 0);
        }
        points.push_back(near.bound);
    }
    if (stage_ == Stage::transfer) {
        for (const Bound& point : points) {
            tried_[cell] = std::min(tried_[cell], point.objectives.front());
        }
        return;
    }
    double others = infinite;
    for (const RegionLimit& limit : range.near.regions) {
        if (limit.region == cell) {
            others = limit.most;
        }
    }
    if (!points.empty()) {
        others = std::min(others, (1.0 + range.near.within) * points.front().objectives.front());
    }
    if (points.size() == range.near.most) {
        others = std::min(others, points.back().objectives.front());
    }
    cells_[cell].add(points, others);
    if (range.again) {
        return;
    }
    feasible_ += sweep.feasible.size() + sweep.excluded + sweep.unreturned;
    unchecked_ += sweep.unchecked;
    for (std::size_t k = 0; k < excluded_by_.size(); ++k) {
        excluded_by_[k] += sweep.excluded_by[k];
    }
}

void AlternativeSearch::receive(const Evaluation& evaluation, const PointRequest& request)
{
    check_estimates(evaluation, 1);
    const bool limited = std::isfinite(evaluation.objectives.front().simultaneous_high);
    if (!limited && request.rung < goal_.top_rung + most_closer) {
        const DrawSource others{Purpose::limits, static_cast<int>(rounds_)};
        without_limit_.push_back(
            {.index = request.index, .rung = request.rung + 1, .source = others, .miss = request.miss});
    }
    Cell& cell = cells_[cell_of(evaluation.index)];
    note_violation(evaluation, cell.bound(evaluation.index));
    if (request.rung > goal_.top_rung) {
        cell.limit(evaluation);
        return;
    }
    cell.draw(evaluation);
    ++drawn_;
}

void AlternativeSearch::note_violation(const Evaluation& evaluation, double bound)
{
    constexpr double rounding = 1e-12;  // of a bound
    const double high = evaluation.objectives.front().simultaneous_high;
    if (high >= bound - rounding * std::abs(bound)) {
        return;
    }
    const double relative = (bound - high) / std::max(std::abs(bound), std::abs(high));
    if (!violation_ || violation_->relative < relative) {
        violation_ = BoundViolation{evaluation.index, 0, bound, high, relative};
    }
}

Outcome AlternativeSearch::outcome() const
{
    Outcome outcome;
    outcome.method = SearchMethod::exact;
    outcome.confidence = goal_.confidence;
    outcome.feasible = feasible_;
    outcome.drawn = drawn_;
    outcome.evaluated = drawn_;
    outcome.unchecked = unchecked_;
    outcome.excluded_by = excluded_by_;
    const bool sweeps = stage_ < Stage::draws;
    if (sweeps) {
        outcome.sweep = SweepProgress{SweepPurpose::front, answered_, asked_.size()};
    }
    if (sweeps) {
        outcome.uncovered = outcome.sweep;
    }
    std::uint64_t open = 0;
    if (stage_ == Stage::draws) {
        for (const std::size_t cell : cells_to_draw()) {
            open += cells_[cell].open(most_kept).size();
        }
    }
    outcome.open = sweeps ? feasible_ - std::min(feasible_, drawn_) : open;
    outcome.pruned = feasible_ - std::min(feasible_, drawn_ + outcome.open);
    outcome.violation = violation_;
    outcome.complete = stage_ == Stage::finished && cells_to_draw().empty();
    outcome.proved = outcome.complete && !violation_;
    if (stage_ == Stage::finished && !outcome.complete) {
        outcome.end = SearchEnd::most_drawn;
    }
    if (sweeps) {
        return outcome;
    }
    Gap gap{infinite, infinite};
    for (const Judged& of_one : judge()) {
        gap.limit = std::min(gap.limit, of_one.weighted.high);
        gap.bound = std::min(gap.bound, of_one.weighted.low);
    }
    if (std::isfinite(gap.limit)) {
        outcome.gaps = {gap};
    }
    for (const Cell& cell : cells_) {
        outcome.cells.push_back(cell.outcome());
    }
    return outcome;
}

std::vector<std::uint64_t> AlternativeSearch::front() const
{
    std::vector<std::uint64_t> best;
    for (std::size_t a = 0; a < of_.alternatives; ++a) {
        for (std::size_t task = 0; settled(a) && task < of_.tasks; ++task) {
            const CellOutcome outcome = cells_[a * of_.tasks + task].outcome();
            if (std::isfinite(outcome.least.value)) {
                best.push_back(outcome.point);
            }
        }
    }
    std::ranges::sort(best);
    return best;
}

}  // namespace prismopt
