#include "search/strategies/exact.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace prismopt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Incomplete ranges that are swept again together, and the number of parts of each.
constexpr std::size_t ranges_again = 64;
constexpr std::uint64_t parts_again = 8;

/// Relative difference between a bound and an exact value that rounding may cause.
constexpr double rounding = 1e-12;

void check(const ExactOptions& options)
{
    const auto fail = [](const std::string& what) { throw std::invalid_argument("exact search: " + what); };
    if (options.objectives < 1) fail("there are no objectives, so nothing can be compared; give at least one");
    if (options.bounded.size() != options.objectives) {
        fail("`bounded` has " + std::to_string(options.bounded.size()) + " entries for " + std::to_string(options.objectives) +
             " objectives; give one per objective");
    }
    if (options.top_rung < 1) fail("top rung " + std::to_string(options.top_rung) + " has no draws; use 1 or more");
    if (options.sweep_ranges < 1 || options.batch < 1) fail("sweep_ranges and batch must be 1 or more");
}

void check_answer(std::uint64_t index, std::size_t given, std::size_t objectives)
{
    if (given == objectives) return;
    throw std::runtime_error("exact search: the answer for point " + std::to_string(index) + " has " + std::to_string(given) +
                             " objectives instead of " + std::to_string(objectives) + "; it belongs to another study");
}

[[noreturn]] void refuse_nan(std::uint64_t index, std::size_t objective)
{
    throw std::runtime_error("exact search: objective " + std::to_string(objective) + " of point " + std::to_string(index) +
                             " is not a number, so it cannot be compared; predict this point alone to see why");
}

[[noreturn]] void refuse_order(const std::string& told)
{
    throw std::runtime_error("exact search: the answer for " + told +
                             " does not match the next request; answers must come in the order of the requests");
}

}  // namespace

Exact::Exact(ExactOptions options) : options_(std::move(options)), feasible_(options_.objectives)
{
    check(options_);
    ranges_ = options_.ranges.empty() ? split_space(options_.space_size, options_.sweep_ranges) : options_.ranges;
}

bool Exact::waiting() const { return started_ && (swept_ < ranges_.size() || told_ < asked_.size()); }

std::optional<std::vector<Request>> Exact::ask()
{
    if (waiting()) return std::vector<Request>{};
    if (!started_) {
        started_ = true;
        if (!ranges_.empty()) return std::vector<Request>(ranges_.begin(), ranges_.end());
    }
    std::vector<Request> requests = next_requests();
    if (requests.empty()) return std::nullopt;
    return requests;
}

void Exact::tell(std::span<const Answer> answers)
{
    for (const Answer& answer : answers) {
        std::visit([this](const auto& told) { take(told); }, answer);
    }
}

void Exact::take(const Sweep& sweep)
{
    if (!started_ || swept_ == ranges_.size() || sweep.range.begin != ranges_[swept_].begin ||
        sweep.range.end != ranges_[swept_].end) {
        refuse_order("sweep range " + std::to_string(sweep.range.begin) + " to " + std::to_string(sweep.range.end));
    }
    for (const Bound& feasible : sweep.feasible) {
        if (std::binary_search(known_.begin(), known_.end(), feasible.index)) continue;
        check_answer(feasible.index, feasible.objectives.size(), options_.objectives);
        std::vector<double> least = feasible.objectives;
        for (std::size_t k = 0; k < options_.objectives; ++k) {
            if (!options_.bounded[k]) least[k] = -infinity;
            if (std::isnan(least[k])) refuse_nan(feasible.index, k);
        }
        feasible_.add(feasible.index, least);
    }
    if (!ranges_[swept_].again) feasible_count_ += sweep.feasible.size() + sweep.excluded + sweep.left_out;
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

/// Queues parts of incomplete ranges for another sweep, unless limits exclude all of their points or no more points may be drawn.
void Exact::look_again()
{
    if (options_.max_evaluations > 0 && evaluated_ >= options_.max_evaluations) return;
    const bool bounded = std::find(options_.bounded.begin(), options_.bounded.end(), false) == options_.bounded.end();
    const std::vector<std::vector<double>> limits = bounded ? limits_.sorted() : std::vector<std::vector<double>>{};
    std::erase_if(withheld_, [&](const Sweep& sweep) {
        return std::all_of(sweep.floor.begin(), sweep.floor.end(), [&](const std::vector<double>& low) {
            return std::any_of(limits.begin(), limits.end(), [&](const auto& high) { return dominates(high, low); });
        });
    });
    const std::size_t first = ranges_.size();
    const std::size_t chosen = std::min(withheld_.size(), ranges_again);
    for (std::size_t w = 0; w < chosen; ++w) {
        const SweepRange whole = withheld_[w].range;
        for (SweepRange part : split_space(whole.end - whole.begin, parts_again)) {
            part.begin += whole.begin;
            part.end += whole.begin;
            part.again = true;
            part.limits = limits;
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

void Exact::take(const Evaluation& evaluation)
{
    Candidate* candidate = told_ < asked_.size() ? &candidates_[asked_[told_]] : nullptr;
    if (candidate == nullptr || evaluation.index != feasible_.index(candidate->place) || evaluation.rung != candidate->rung + 1) {
        refuse_order("point " + std::to_string(evaluation.index) + " at rung " + std::to_string(evaluation.rung));
    }
    check_answer(evaluation.index, evaluation.objectives.size(), options_.objectives);
    std::vector<double> value;
    std::vector<double> low;
    std::vector<double> high;
    for (std::size_t k = 0; k < options_.objectives; ++k) {
        const Estimate& estimate = evaluation.objectives[k];
        for (const double number : {estimate.value, estimate.simultaneous_low, estimate.simultaneous_high}) {
            if (std::isnan(number)) refuse_nan(evaluation.index, k);
        }
        value.push_back(estimate.value);
        high.push_back(estimate.simultaneous_high);
        // A bound that is violated must not raise the lower limit above what was seen.
        low.push_back(
            std::min(std::max(estimate.simultaneous_low, feasible_.bound(candidate->place)[k]), estimate.simultaneous_high));
    }
    if (candidate->rung == 0) ++evaluated_;
    candidate->rung = evaluation.rung;
    candidate->tested = 0;
    candidate->settled = candidate->rung >= options_.top_rung;
    if (candidate->settled) ++settled_;
    candidate->value = std::move(value);
    candidate->low = std::move(low);
    note_violation(*candidate, high);
    limits_.add(candidate->place, high);
    note_leader(asked_[told_]);
    ++told_;
}

void Exact::note_violation(const Candidate& candidate, std::span<const double> high)
{
    for (std::size_t k = 0; k < options_.objectives; ++k) {
        const double least = feasible_.bound(candidate.place)[k];
        if (std::isinf(least) || high[k] >= least - rounding * std::abs(least)) continue;
        const double relative = (least - high[k]) / std::max(std::abs(least), std::abs(high[k]));
        if (violation_ && violation_->relative >= relative) continue;
        violation_ = Violation{feasible_.index(candidate.place), k, least, high[k], relative};
    }
}

void Exact::note_leader(std::size_t candidate)
{
    const std::vector<double>& value = candidates_[candidate].value;
    std::erase(leaders_, candidate);
    for (const std::size_t leader : leaders_) {
        if (dominates(candidates_[leader].value, value)) return;
    }
    std::erase_if(leaders_, [&](std::size_t leader) { return dominates(value, candidates_[leader].value); });
    leaders_.push_back(candidate);
}

/// Whether a candidate is settled, possibly by limits that are newer than its last test.
bool Exact::settled(std::size_t c)
{
    Candidate& candidate = candidates_[c];
    if (candidate.settled) return true;
    candidate.settled = limits_.rule_out(candidate.place, candidate.low, candidate.tested);
    candidate.tested = limits_.newest();
    if (candidate.settled) ++settled_;
    return candidate.settled;
}

std::vector<std::size_t> Exact::unsettled_leaders()
{
    std::vector<std::size_t> chosen;
    for (const std::size_t leader : leaders_) {
        if (chosen.size() < options_.batch && !settled(leader)) chosen.push_back(leader);
    }
    return chosen;
}

/// The next candidates, in the order of their first requests: by fronts of the lower bounds, so promising ones come early.
std::vector<std::size_t> Exact::rivals()
{
    std::vector<std::size_t> chosen;
    while (chosen.empty()) {
        if (rivals_done_ == racing_.size()) {
            std::erase_if(racing_, [this](std::size_t c) { return settled(c); });
            rivals_done_ = 0;
            if (racing_.empty()) break;
        }
        while (chosen.size() < options_.batch && rivals_done_ < racing_.size()) {
            const std::size_t rival = racing_[rivals_done_++];
            if (!settled(rival)) chosen.push_back(rival);
        }
    }
    return chosen;
}

std::vector<std::size_t> Exact::first_looks()
{
    std::vector<std::size_t> chosen;
    std::size_t most = options_.batch;
    if (options_.max_evaluations > 0) most = std::min<std::uint64_t>(most, options_.max_evaluations - evaluated_);
    if (most == 0) return chosen;
    while (chosen.size() < std::min(options_.fewest, most)) {
        const std::vector<std::size_t> places = feasible_.take(most - chosen.size(), limits_);
        if (places.empty()) break;
        for (const std::size_t place : places) {
            chosen.push_back(candidates_.size());
            candidates_.push_back({.place = place, .value = {}, .low = {}});
        }
    }
    racing_.insert(racing_.end(), chosen.begin(), chosen.end());
    return chosen;
}

/// The best candidates so far come first, because their limits exclude the most; then new points; then the remaining candidates.
std::vector<Request> Exact::next_requests()
{
    told_ = 0;
    asked_ = unsettled_leaders();
    if (asked_.empty()) asked_ = first_looks();
    if (asked_.empty()) asked_ = rivals();
    if (asked_.empty()) look_again();
    std::vector<Request> requests(ranges_.begin() + static_cast<std::ptrdiff_t>(swept_), ranges_.end());
    for (const std::size_t c : asked_) {
        requests.emplace_back(PointRequest{feasible_.index(candidates_[c].place), candidates_[c].rung + 1});
    }
    return requests;
}

Outcome Exact::outcome() const
{
    const std::uint64_t feasible = feasible_count_;
    const bool swept = started_ && swept_ == ranges_.size();
    const std::uint64_t excluded = feasible_.excluded() + (open_ranges() ? 0 : not_kept());
    Outcome outcome{.confidence = options_.confidence,
                    .text = {},
                    .pruned = excluded,
                    .evaluated = settled_,
                    .open = feasible - excluded - settled_};
    const bool complete = swept && outcome.open == 0;
    outcome.proved = complete && !violation_;

    std::ostringstream text;
    if (complete && feasible == 0) {
        text << "no feasible point";
    } else {
        if (!complete) {
            text << "incomplete: ";
            if (!swept) text << grouped(swept_) << " of " << grouped(ranges_.size()) << " parts of the space checked, ";
        } else {
            text << (violation_ ? "complete but not proved: " : "proved complete: ");
        }
        text << grouped(feasible) << " feasible plans, " << grouped(excluded) << " excluded by their lower bounds, "
             << grouped(settled_) << " evaluated";
        if (!complete) text << ", " << grouped(outcome.open) << " open";
        if (settled_ < evaluated_) text << " (" << grouped(evaluated_ - settled_) << " of them partly evaluated)";
        text << " (confidence " << 100.0 * options_.confidence << " %)";
    }
    if (!complete && options_.max_evaluations > 0 && evaluated_ >= options_.max_evaluations) {
        text << "; stopped at the limit of " << grouped(options_.max_evaluations) << " evaluations";
    }
    if (violation_) {
        text << "; bound violated: point " << violation_->index << ", objective " << violation_->objective
             << ": upper confidence limit " << violation_->high << " lies " << 100.0 * violation_->relative
             << " % below the lower bound " << violation_->bound << ", so points may have been excluded by mistake";
    }
    outcome.text = text.str();
    return outcome;
}

std::vector<std::uint64_t> Exact::front() const
{
    std::vector<std::uint64_t> indices;
    std::vector<std::vector<double>> values;
    for (const Candidate& candidate : candidates_) {
        if (candidate.rung < options_.top_rung) continue;
        indices.push_back(feasible_.index(candidate.place));
        values.push_back(candidate.value);
    }
    std::vector<std::uint64_t> front;
    for (const std::size_t position : non_dominated(values)) front.push_back(indices[position]);
    std::sort(front.begin(), front.end());
    return front;
}

}  // namespace prismopt
