#include "search/strategies/exact/exact.hpp"

#include "model/base/powers.hpp"
#include "search/archive.hpp"
#include "search/components/answers.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace prismopt {
namespace {

/// Looks at the limits of a round: each has four times the draws of the one before.
constexpr int most_looks = 4;

/// Points that remain near a limit from which a closer one is worth its four times as many draws, which cost as much as drawing four
/// of them: it is half as far from the value, so about half of them remain.
constexpr std::size_t worth_a_limit = 10;
/// A leader gets limits of its own if the nearest upper limit is at least this many times as far from its values as its lower limits:
/// closer ones save too few draws.
constexpr double worth_lowering = 4.0;

double pow4(double x) { return square(square(x)); }

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
    if (options.sweep_ranges < 1 || options.ranges_at_once < 1 || options.batch < 1) {
        fail("sweep_ranges, ranges_at_once and batch must be 1 or more");
    }
    if (options.batch_of_many < options.batch) fail("batch_of_many must be at least batch");
}

}  // namespace

Exact::Exact(ExactOptions options) : options_(std::move(options)), near_(options_.near_objective), feasible_(options_.objectives)
{
    check(options_);
    if (options_.ranges.empty()) options_.ranges = split_space(options_.space_size, options_.sweep_ranges);
    const bool bounded = std::find(options_.bounded.begin(), options_.bounded.end(), false) == options_.bounded.end();
    if (options_.explored != nullptr && bounded) exploration_.emplace(*options_.explored, options_.seed);
}

std::optional<std::vector<Request>> Exact::ask()
{
    std::vector<Request> requests;
    if (told_ == asked_.size() && !sweep_.running()) {
        choose_requests();
        if (asked_.empty() && !sweep_.running()) return std::nullopt;
        requests.assign(asked_.begin(), asked_.end());
    }
    const std::size_t ready = sweep_.answered < sweep_.wave ? sweep_.wave : sweep_.ranges.size();
    const std::size_t end = std::min(sweep_.answered + options_.ranges_at_once, ready);
    for (; sweep_.requested < end; ++sweep_.requested) {
        auto& range = std::get<SweepRange>(requests.emplace_back(sweep_.ranges[sweep_.requested]));
        range.limits = sweep_.limits;
        range.near = sweep_.near;
    }
    return requests;
}

void Exact::tell(std::span<const Answer> answers)
{
    for (const Answer& answer : answers) {
        std::visit([this](const auto& told) { take(told); }, answer);
    }
}

void Exact::take(const Evaluation& evaluation)
{
    const PointRequest* request = told_ < asked_.size() ? &asked_[told_] : nullptr;
    if (request == nullptr || evaluation.index != request->index || evaluation.rung != request->rung ||
        evaluation.source != request->source) {
        refuse_answer("it is of point " + std::to_string(evaluation.index) + " at rung " + std::to_string(evaluation.rung));
    }
    check_objectives(evaluation.index, evaluation.objectives.size(), options_.objectives);
    for (std::size_t k = 0; k < options_.objectives; ++k) {
        const Estimate& estimate = evaluation.objectives[k];
        for (const double number : {estimate.value, estimate.simultaneous_low, estimate.simultaneous_high}) {
            if (std::isnan(number)) refuse_nan(evaluation.index, k);
        }
    }
    if (evaluation.source.purpose == Purpose::limits) {
        take_limits(evaluation);
    } else if (evaluation.source.purpose == Purpose::scout) {
        Scout& scout = scouts_.emplace_back();
        scout.place = whom_[told_];
        for (const Estimate& estimate : evaluation.objectives) scout.value.push_back(estimate.value);
    } else {
        Candidate& candidate = candidates_[whom_[told_]];
        std::vector<double> value;
        std::vector<double> low;
        std::vector<double> high;
        for (std::size_t k = 0; k < options_.objectives; ++k) {
            const Estimate& estimate = evaluation.objectives[k];
            value.push_back(estimate.value);
            high.push_back(estimate.simultaneous_high);
            // A bound that is violated must not raise the lower limit above what was seen.
            low.push_back(
                std::min(std::max(estimate.simultaneous_low, feasible_.bound(candidate.place)[k]), estimate.simultaneous_high));
        }
        if (candidate.rung == 0) ++evaluated_;
        candidate.rung = evaluation.rung;
        candidate.tested = 0;
        candidate.settled = candidate.rung >= options_.top_rung;
        if (candidate.settled) ++settled_;
        candidate.value = std::move(value);
        candidate.low = std::move(low);
        note_violation(candidate.place, high);
        note_leader(whom_[told_]);
    }
    ++told_;
}

void Exact::take_limits(const Evaluation& evaluation)
{
    const std::size_t place = whom_[told_];
    std::vector<double> high;
    for (const Estimate& estimate : evaluation.objectives) high.push_back(estimate.simultaneous_high);
    note_violation(place, high);
    std::vector<double>& low = low_.try_emplace(evaluation.index, options_.objectives, -infinity).first->second;
    for (std::size_t k = 0; k < options_.objectives; ++k) low[k] = std::max(low[k], evaluation.objectives[k].simultaneous_low);
    if (std::all_of(high.begin(), high.end(), [](double limit) { return std::isfinite(limit); })) {
        std::erase(incumbents_, place);
        limits_.add(place, high);
    }
}

void Exact::note_violation(std::size_t place, std::span<const double> high)
{
    for (std::size_t k = 0; k < options_.objectives; ++k) {
        const double least = feasible_.bound(place)[k];
        if (std::isinf(least) || high[k] >= least - rounding * std::abs(least)) continue;
        const double relative = (least - high[k]) / std::max(std::abs(least), std::abs(high[k]));
        if (violation_ && violation_->relative >= relative) continue;
        violation_ = Violation{feasible_.index(place), k, least, high[k], relative};
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
    const std::size_t most = std::clamp(racing_.size(), options_.batch, options_.batch_of_many);
    while (chosen.empty()) {
        if (rivals_done_ == racing_.size()) {
            std::erase_if(racing_, [this](std::size_t c) { return settled(c); });
            rivals_done_ = 0;
            if (racing_.empty()) break;
        }
        while (chosen.size() < most && rivals_done_ < racing_.size()) {
            const std::size_t rival = racing_[rivals_done_++];
            if (!settled(rival)) chosen.push_back(rival);
        }
    }
    return chosen;
}

/// New candidates, best first: a batch, later as many as there are already, so that at most half of them came too early and plans
/// of one program are drawn together.
std::vector<std::size_t> Exact::first_looks()
{
    std::vector<std::size_t> chosen;
    const bool many = candidates_.size() > options_.batch;
    std::size_t most = std::clamp(candidates_.size(), options_.batch, options_.batch_of_many);
    std::size_t fewest = many ? most : options_.fewest;
    if (options_.max_evaluations > 0) most = std::min<std::uint64_t>(most, options_.max_evaluations - evaluated_);
    fewest = std::min(fewest, most);
    while (chosen.size() < fewest) {
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

/// Asks for scouts; then opens the round of those that no other dominates by value.
void Exact::compare_scouts()
{
    if (!scouted_) return ask_scouts();
    std::vector<std::vector<double>> values;
    for (const Scout& scout : scouts_) values.push_back(scout.value);
    std::vector<std::size_t> places;
    for (const std::size_t position : non_dominated(values)) places.push_back(scouts_[position].place);
    scouts_.clear();
    std::erase_if(places, [this](std::size_t place) { return with_limits_.contains(place); });
    open_round(places);
}

/// The best points by their bounds, drawn once to choose the next incumbents: so many, or the front of an exploration.
void Exact::ask_scouts()
{
    scouted_ = true;
    std::uint64_t most = swept_whole_ ? options_.scouts : options_.most_scouts;
    if (options_.max_evaluations > 0) most = std::min(most, options_.max_evaluations);
    BoundLayers layers = feasible_;
    std::vector<std::size_t> places = layers.take(feasible_.size(), limits_);
    const std::size_t first_layer = std::min<std::size_t>(places.size(), most);
    for (std::size_t i = 0; i < first_layer; ++i) {
        places[i] = places[i * places.size() / first_layer];  // spread over a longer one
    }
    places.resize(first_layer);
    while (places.size() < most) {
        const std::vector<std::size_t> more = layers.take(most - places.size(), limits_);
        if (more.empty()) break;
        places.insert(places.end(), more.begin(), more.end());
    }
    for (const std::size_t place : places) {
        asked_.push_back({.index = feasible_.index(place), .rung = 1, .source = {Purpose::scout}});
        whom_.push_back(place);
    }
}

/// If many points remain: a round for the best of them by their bounds, which are closer to the truth than few draws; then one with
/// four times the draws for the owners of limits that have many of them.
void Exact::open_further_round()
{
    while (!busy() && further_rounds_ < options_.further_rounds && options_.max_evaluations == 0) {
        ++further_rounds_;
        if (feasible_.exclude(limits_) <= options_.scouts) return;
        if (further_rounds_ == 1) {
            BoundLayers layers = feasible_;
            std::vector<std::size_t> places = layers.take(options_.most_scouts, {});
            std::erase_if(places, [this](std::size_t place) { return with_limits_.contains(place); });
            open_round(places);
        } else {
            std::vector<std::span<const double>> remaining;
            for (const std::size_t place : feasible_.remaining()) remaining.push_back(feasible_.bound(place));
            open_round(owners_of_many(limits_, remaining), 1);
        }
    }
}

/// The owners of those limits that many of the points are nearest to.
std::vector<std::size_t> Exact::owners_of_many(const Limits& limits, std::span<const std::span<const double>> points)
{
    std::map<std::size_t, std::size_t> count;
    for (const std::span<const double> point : points) {
        if (limits.newest() == 0) break;
        const Limits::Nearest nearest = limits.nearest(point);
        if (std::isfinite(nearest.excess)) ++count[nearest.owner];
    }
    std::vector<std::size_t> owners;
    for (const auto& [owner, near] : count) {
        if (near >= worth_a_limit) owners.push_back(owner);
    }
    return owners;
}

/// Fixes the incumbents of the next round of limits, if there are any, and asks for their draws: at `closer` rungs above the last.
void Exact::open_round(const std::vector<std::size_t>& places, int closer)
{
    if (places.empty()) return;
    ++round_;
    look_ = 0;
    closer_ = closer;
    of_round_ = places.size();
    incumbents_ = places;
    with_limits_.insert(places.begin(), places.end());
    ask_limits();
}

/// Look k of round j may fail with a share 36 / (pi^4 j^2 k^2) of the half of the error that rounds have: over all rounds and looks
/// these sum to one. Each objective has an upper and a lower limit.
void Exact::ask_limits()
{
    if (incumbents_.empty() || look_ == most_looks) return;
    ++look_;
    const double looks = square(static_cast<double>(look_) * round_) * pow4(std::numbers::pi) / 36.0;
    const double miss = 0.5 * (1.0 - options_.confidence) / looks / static_cast<double>(2 * of_round_ * options_.objectives);
    for (const std::size_t place : incumbents_) {
        asked_.push_back({.index = feasible_.index(place),
                          .rung = options_.top_rung - 1 + look_ + closer_,
                          .source = {Purpose::limits, round_},
                          .miss = miss});
        whom_.push_back(place);
    }
}

/// Counts the points that may be drawn, before any of them is: their lower limits share half of the error. Points that the sweep
/// did not return all count.
void Exact::open_challenge()
{
    challenged_ = true;
    first_challengers_ = feasible_.size();
    const std::size_t known = std::max<std::size_t>(1, feasible_.exclude(limits_));
    drop_excluded_ranges();
    std::uint64_t withheld = 0;
    for (const LeftOut& part : withheld_) withheld += part.count;
    const auto limits_of_each = static_cast<double>(static_cast<std::size_t>(options_.top_rung) * options_.objectives);
    const double half = 0.5 * (1.0 - options_.confidence) / limits_of_each;
    miss_ = (withheld > 0 ? 0.5 : 1.0) * half / static_cast<double>(known);
    miss_withheld_ = 0.5 * half / static_cast<double>(std::max<std::uint64_t>(1, withheld));
}

/// Opens a round for leaders at the last rung that were incumbents in no round yet, where many unsettled candidates are near: unless
/// some limit is nearly as low as their own would be.
void Exact::open_round_of_leaders()
{
    Limits values;
    std::set<std::size_t> lower;
    for (const std::size_t leader : leaders_) {
        const Candidate& candidate = candidates_[leader];
        if (candidate.rung < options_.top_rung) continue;
        values.add(candidate.place, candidate.value);
        Limits own;
        own.add(candidate.place, candidate.value);
        if (own.newest() == 0) continue;  // not finite
        const double worth = worth_lowering * own.nearest(candidate.low).excess;
        if (limits_.newest() == 0 || limits_.nearest(candidate.value).excess > worth) lower.insert(candidate.place);
    }
    std::vector<std::span<const double>> unsettled;
    for (const std::size_t c : racing_) {
        if (!settled(c)) unsettled.emplace_back(candidates_[c].low);
    }
    std::vector<std::size_t> places = owners_of_many(values, unsettled);
    std::erase_if(places, [&](std::size_t place) { return !lower.contains(place) || with_limits_.contains(place); });
    open_round(places, 1);
}

void Exact::ask(const std::vector<std::size_t>& candidates)
{
    for (const std::size_t c : candidates) {
        const double miss = candidates_[c].place < first_challengers_ ? miss_ : miss_withheld_;
        asked_.push_back({.index = feasible_.index(candidates_[c].place), .rung = candidates_[c].rung + 1, .miss = miss});
        whom_.push_back(c);
    }
}

/// Takes the first step that asks for something: incumbents and their limits, before the sweep if the space was explored; then the
/// best candidates so far, because their limits exclude the most; then new points; then the remaining candidates.
void Exact::choose_requests()
{
    told_ = 0;
    asked_.clear();
    whom_.clear();
    if (exploration_) explore();
    if (!busy() && feasible_.size() == 0 && !swept_whole_) sweep_whole();
    if (!busy()) ask_limits();
    if (!busy() && !swept_whole_) seek_better();
    if (!busy()) compare_scouts();
    if (!busy() && !swept_whole_) sweep_whole();
    if (!busy() && !challenged_) tighten();
    if (!busy() && !challenged_) open_further_round();
    if (!busy() && !challenged_) open_challenge();
    if (!busy()) ask(unsettled_leaders());
    if (!busy()) open_round_of_leaders();
    if (!busy()) ask(first_looks());
    if (!busy()) ask(rivals());
    if (!busy()) look_again();
}

Outcome Exact::outcome() const
{
    const std::uint64_t feasible = feasible_count_;
    // After the sweep, known points that it did not return are looked at once more, and may be counted then.
    const std::uint64_t counted_later = swept_whole_ ? std::min(excluded_in_sweep_, known_not_returned_) : 0;
    const std::uint64_t not_returned = open_ranges() ? excluded_in_sweep_ - counted_later : not_kept();
    const std::uint64_t excluded = feasible_.excluded() - counted_again_ + not_returned;
    Outcome outcome{.confidence = options_.confidence,
                    .text = {},
                    .pruned = excluded,
                    .evaluated = settled_,
                    .open = feasible - std::min(feasible, excluded + settled_),
                    .unchecked = unchecked_,
                    .excluded_by = excluded_by_,
                    .sweep = {},
                    .gaps = gaps()};
    if (sweep_.running()) outcome.sweep = {sweep_.purpose, sweep_.answered, sweep_.ranges.size()};
    const bool complete = !open_ranges() && outcome.open == 0;
    outcome.proved = complete && !violation_;

    std::ostringstream text;
    if (complete && feasible == 0) {
        text << "no feasible point";
    } else {
        if (!complete) {
            text << "incomplete: ";
            if (sweep_.running() && sweep_.purpose == SweepPurpose::better) {
                text << grouped(sweep_.answered) << " of " << grouped(sweep_.ranges.size())
                     << " parts of the space checked for better plans than those drawn, ";
            }
            if (!swept_whole_) {
                text << grouped(sweep_.purpose == SweepPurpose::front ? sweep_.answered : 0) << " of "
                     << grouped(options_.ranges.size()) << " parts of the space checked, ";
            } else if (sweep_.running() && sweep_.purpose == SweepPurpose::left_out) {
                text << grouped(sweep_.ranges.size() - sweep_.answered) << " parts to check again, ";
            }
        } else {
            text << (violation_ ? "complete but not proved: " : "proved complete: ");
        }
        if (unchecked_ > 0) {
            text << grouped(unchecked_) << " combinations excluded before it was known whether they are feasible; of the others ";
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
