#include "search/strategies/exact/exact.hpp"

#include "search/components/answers.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace prismopt {
namespace {

/// Relative difference between a bound and an exact value that rounding may cause.
constexpr double rounding = 1e-12;

ExactOptions checked(ExactOptions options)
{
    const auto fail = [](const std::string& what) { throw std::invalid_argument("exact search: " + what); };
    if (options.goal.objectives < 1) fail("there are no objectives, so nothing can be compared; give at least one");
    if (options.goal.bounded.size() != options.goal.objectives) {
        fail("`bounded` has " + std::to_string(options.goal.bounded.size()) + " entries for " +
             std::to_string(options.goal.objectives) + " objectives; give one per objective");
    }
    if (options.goal.top_rung < 1) fail("top rung " + std::to_string(options.goal.top_rung) + " has no draws; use 1 or more");
    if (options.sweeps.ranges < 1 || options.sweeps.at_once < 1 || options.batches.most < 1) {
        fail("sweeps.ranges, sweeps.at_once and batches.most must be 1 or more");
    }
    if (options.batches.most_of_many < options.batches.most) fail("batches.most_of_many must be at least batches.most");
    if (options.ranges.empty()) options.ranges = split_space(options.space_size, options.sweeps.ranges);
    return options;
}

}  // namespace

bool all_bounded(const StudyGoal& goal)
{
    return std::find(goal.bounded.begin(), goal.bounded.end(), false) == goal.bounded.end();
}

Exact::Exact(ExactOptions options)
    : options_(checked(std::move(options))), points_(options_.goal.objectives), sweeps_(options_), rounds_(options_.goal),
      race_(options_.goal, options_.batches), gaps_(options_)
{
    if (options_.explored != nullptr && all_bounded(options_.goal)) exploration_.emplace(*options_.explored, options_.goal.seed);
}

std::optional<std::vector<Request>> Exact::ask()
{
    std::vector<Request> requests;
    if (told_ == asked_.size() && !sweeps_.running()) {
        if (!choose_requests()) return std::nullopt;
        for (const AskedPoint& point : asked_) requests.emplace_back(point.request);
    }
    sweeps_.add_requests(requests);
    return requests;
}

/// The looks of an open round come first.
bool Exact::choose_requests()
{
    if (request(rounds_.next_look(points_.feasible))) return true;
    while (stage_ != ExactStage::finished) {
        if (take_step(stage_)) return true;
        stage_ = static_cast<ExactStage>(static_cast<int>(stage_) + 1);
    }
    return false;
}

bool Exact::take_step(ExactStage stage)
{
    switch (stage) {
        case ExactStage::exploration: return explore();
        case ExactStage::early_sweep: return points_.feasible.size() == 0 && sweep_for_front();
        case ExactStage::gaps: return narrow_gaps();
        case ExactStage::scouts: return ask_scouts();
        case ExactStage::scouts_round: return open_round_of_scouts();
        case ExactStage::sweep: return sweep_for_front();
        case ExactStage::closer_limits: return tighten() || open_further_round();
        case ExactStage::error: return divide_error();
        case ExactStage::race: return race();
        case ExactStage::finished: break;
    }
    return false;
}

bool Exact::request(std::vector<AskedPoint> points)
{
    asked_ = std::move(points);
    told_ = 0;
    return !asked_.empty();
}

bool Exact::open_round(const std::vector<std::size_t>& places, int closer)
{
    return request(rounds_.open(places, points_.feasible, closer));
}

/// Asks for the next generation. The front, in the end, is among the points that the sweep would return.
bool Exact::explore()
{
    if (!exploration_) return false;
    sweeps_.explore(exploration_->ask());
    if (sweeps_.running()) return true;
    for (const Bound& bound : exploration_->front()) points_.feasible.add(bound.index, bound.objectives);
    points_.feasible.put_in_order();
    exploration_.reset();
    return false;
}

bool Exact::sweep_for_front()
{
    if (!sweeps_.covered()) sweeps_.sweep_for_front(points_);
    return sweeps_.running();
}

/// Limits of the points with the best bounds come first; then a sweep for better points; then limits of the best of these; then more
/// draws for the points that keep a gap open.
bool Exact::narrow_gaps()
{
    if (sweeps_.covered() || options_.goal.max_evaluations > 0) return false;
    const std::size_t of_each = options_.gaps.incumbents / options_.goal.objectives;
    if (rounds_.opened() == 0) return open_round(best_of_each_objective(points_.feasible, options_.goal.objectives, of_each));
    if (!gaps_.swept()) return sweep_for_better();
    if (gap_rounds_ == 0) {
        const std::vector<std::size_t> best = sweeps_.places_of(gaps_.best_of_better(), points_);
        if (open_round(rounds_.without_limits(best))) return true;
    }
    while (gap_rounds_ < options_.gaps.rounds) {
        ++gap_rounds_;
        if (open_round(places_at_gaps(), static_cast<int>(gap_rounds_))) return true;
    }
    return false;
}

bool Exact::sweep_for_better()
{
    if (points_.limits.newest() == 0) return false;
    sweeps_.seek_better(gaps_.begin_sweep(points_.limits));
    return sweeps_.running();
}

/// For each objective whose gap is larger than sought: the owner of the least upper limit, and the points that keep the gap open.
std::vector<std::size_t> Exact::places_at_gaps()
{
    std::set<std::size_t> places;
    const std::vector<Gap> gaps = gaps_.gaps(points_, sweeps_, rounds_, race_);
    for (std::size_t k = 0; k < gaps.size(); ++k) {
        if (!gaps_.open(gaps[k])) continue;
        places.insert(points_.limits.owner_of_least(k));
        const std::vector<std::size_t> more = sweeps_.places_of(gaps_.at_gap(k, gaps[k], rounds_), points_);
        places.insert(more.begin(), more.end());
    }
    return {places.begin(), places.end()};
}

bool Exact::ask_scouts()
{
    if (!scouts_.empty()) return false;
    const IncumbentOptions& of = options_.incumbents;
    std::uint64_t most = sweeps_.covered() ? of.scouts : of.most_scouts;
    if (options_.goal.max_evaluations > 0) most = std::min(most, options_.goal.max_evaluations);
    std::vector<AskedPoint> scouts;
    for (const std::size_t place : best_by_bounds(points_, most)) {
        const PointRequest request{.index = points_.feasible.index(place), .rung = 1, .source = {Purpose::scout}};
        scouts.push_back({request, place});
    }
    return request(std::move(scouts));
}

bool Exact::open_round_of_scouts()
{
    const std::vector<std::size_t> best = best_scouts(scouts_);
    scouts_.clear();
    return open_round(rounds_.without_limits(best));
}

bool Exact::tighten()
{
    sweeps_.tighten(points_);
    return sweeps_.running();
}

/// If many points remain: a round for the best of them by their bounds, which are closer to the truth than few draws; then one with
/// four times the draws for the owners of limits that have many of them.
bool Exact::open_further_round()
{
    if (options_.goal.max_evaluations > 0) return false;
    while (further_rounds_ < options_.incumbents.further_rounds) {
        ++further_rounds_;
        if (points_.exclude() <= options_.incumbents.scouts) return false;
        if (further_rounds_ == 1) {
            const std::vector<std::size_t> best = first_layer(points_.feasible, options_.incumbents.most_scouts);
            if (open_round(rounds_.without_limits(best))) return true;
        } else {
            std::vector<std::span<const double>> remaining;
            for (const std::size_t place : points_.feasible.remaining()) remaining.push_back(points_.feasible.bound(place));
            if (open_round(owners_of_many(points_.limits, remaining), 1)) return true;
        }
    }
    return false;
}

/// Counts the points that may be drawn, before any of them is. Points that the sweep did not return all count.
bool Exact::divide_error()
{
    const std::size_t known = points_.exclude();
    race_.divide_error(known, sweeps_.drop_excluded(points_.limits).points(), points_.feasible);
    return false;
}

/// The best candidates so far come first, because their limits exclude the most; then new points; then the remaining candidates.
bool Exact::race()
{
    return request(race_.leaders(points_)) ||                                             //
           open_round(rounds_.without_limits(race_.leaders_worth_limits(points_)), 1) ||  //
           request(race_.new_candidates(points_)) ||                                      //
           request(race_.rivals(points_)) ||                                              //
           look_again();
}

bool Exact::look_again()
{
    if (race_.may_draw_more()) sweeps_.look_again(points_);
    return sweeps_.running();
}

void Exact::tell(std::span<const Answer> answers)
{
    for (const Answer& answer : answers) {
        std::visit([this](const auto& told) { take(told); }, answer);
    }
}

void Exact::take(const Sweep& sweep)
{
    const std::vector<Bound> bounds = sweeps_.checked(sweep);
    switch (sweeps_.purpose()) {
        case SweepPurpose::exploration:
            sweeps_.take_explored(bounds);
            exploration_->tell(bounds);
            break;
        case SweepPurpose::better: gaps_.take(bounds, sweep.floor); break;
        case SweepPurpose::front:
        case SweepPurpose::tighter:
        case SweepPurpose::left_out: sweeps_.take(sweep, bounds, points_); break;
    }
    sweeps_.finish_answer(points_);
    if (sweeps_.purpose() == SweepPurpose::better && !sweeps_.running()) gaps_.end_sweep();
}

void Exact::take(const Evaluation& evaluation)
{
    check(evaluation);
    const std::size_t whose = asked_[told_].whose;
    switch (evaluation.source.purpose) {
        case Purpose::scout: {
            Scout& scout = scouts_.emplace_back(Scout{whose, {}});
            for (const Estimate& estimate : evaluation.objectives) scout.value.push_back(estimate.value);
            break;
        }
        case Purpose::limits:
            note_violation(whose, evaluation);
            rounds_.take(whose, evaluation, points_.limits);
            break;
        default: note_violation(race_.place(whose), evaluation); race_.take(whose, evaluation, points_.feasible);
    }
    ++told_;
}

void Exact::check(const Evaluation& evaluation) const
{
    const PointRequest* request = told_ < asked_.size() ? &asked_[told_].request : nullptr;
    if (request == nullptr || evaluation.index != request->index || evaluation.rung != request->rung ||
        evaluation.source != request->source) {
        refuse_answer("it is of point " + std::to_string(evaluation.index) + " at rung " + std::to_string(evaluation.rung));
    }
    check_objectives(evaluation.index, evaluation.objectives.size(), options_.goal.objectives);
    for (std::size_t k = 0; k < options_.goal.objectives; ++k) {
        const Estimate& estimate = evaluation.objectives[k];
        for (const double number : {estimate.value, estimate.simultaneous_low, estimate.simultaneous_high}) {
            if (std::isnan(number)) refuse_nan(evaluation.index, k);
        }
    }
}

void Exact::note_violation(std::size_t place, const Evaluation& evaluation)
{
    for (std::size_t k = 0; k < options_.goal.objectives; ++k) {
        const double least = points_.feasible.bound(place)[k];
        const double high = evaluation.objectives[k].simultaneous_high;
        if (std::isinf(least) || high >= least - rounding * std::abs(least)) continue;
        const double relative = (least - high) / std::max(std::abs(least), std::abs(high));
        if (violation_ && violation_->relative >= relative) continue;
        violation_ = Violation{evaluation.index, k, least, high, relative};
    }
}

Outcome Exact::outcome() const
{
    const SweepTally& tally = sweeps_.tally();
    const std::uint64_t excluded = sweeps_.excluded(points_.feasible);
    const std::optional<SweepProgress> sweep = sweeps_.progress();
    Outcome outcome{.confidence = options_.goal.confidence,
                    .text = {},
                    .pruned = excluded,
                    .evaluated = race_.settled(),
                    .open = tally.feasible - std::min(tally.feasible, excluded + race_.settled()),
                    .unchecked = tally.unchecked,
                    .excluded_by = tally.excluded_by,
                    .sweep = sweep,
                    .gaps = gaps_.gaps(points_, sweeps_, rounds_, race_)};
    const bool complete = !sweeps_.open() && outcome.open == 0;
    outcome.proved = complete && !violation_;

    std::ostringstream text;
    if (complete && tally.feasible == 0) {
        text << "no feasible point";
    } else {
        if (!complete) {
            text << "incomplete: ";
            if (sweep && sweep->purpose == SweepPurpose::better) {
                text << grouped(sweep->done) << " of " << grouped(sweep->total)
                     << " parts of the space checked for better plans than those drawn, ";
            }
            if (!sweeps_.covered()) {
                text << grouped(sweep && sweep->purpose == SweepPurpose::front ? sweep->done : 0) << " of "
                     << grouped(options_.ranges.size()) << " parts of the space checked, ";
            } else if (sweep && sweep->purpose == SweepPurpose::left_out) {
                text << grouped(sweep->total - sweep->done) << " parts to check again, ";
            }
        } else {
            text << (violation_ ? "complete but not proved: " : "proved complete: ");
        }
        if (tally.unchecked > 0) {
            text << grouped(tally.unchecked)
                 << " combinations excluded before it was known whether they are feasible; of the others ";
        }
        text << grouped(tally.feasible) << " feasible plans, " << grouped(excluded) << " excluded by their lower bounds, "
             << grouped(race_.settled()) << " evaluated";
        if (!complete) text << ", " << grouped(outcome.open) << " open";
        if (race_.settled() < race_.drawn())
            text << " (" << grouped(race_.drawn() - race_.settled()) << " of them partly evaluated)";
        text << " (confidence " << 100.0 * options_.goal.confidence << " %)";
    }
    if (!complete && !race_.may_draw_more()) {
        text << "; stopped at the limit of " << grouped(options_.goal.max_evaluations) << " evaluations";
    }
    if (violation_) {
        text << "; bound violated: point " << violation_->index << ", objective " << violation_->objective
             << ": upper confidence limit " << violation_->high << " lies " << 100.0 * violation_->relative
             << " % below the lower bound " << violation_->bound << ", so points may have been excluded by mistake";
    }
    outcome.text = text.str();
    return outcome;
}

std::vector<std::uint64_t> Exact::front() const { return race_.front(points_.feasible); }

}  // namespace prismopt
