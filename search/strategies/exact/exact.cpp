#include "search/strategies/exact/exact.hpp"

#include "search/components/answers.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace prismopt {

Exact::Exact(ExactOptions options)
    : options_(checked(std::move(options))), points_(options_.goal.objectives), sweeps_(options_),
      rounds_(options_.goal), race_(options_.goal, options_.batches), gaps_(options_)
{
    if (options_.explored != nullptr && all_bounded(options_.goal)) {
        exploration_.emplace(*options_.explored, options_.goal.seed);
    }
}

std::optional<std::vector<Request>> Exact::ask()
{
    std::vector<Request> requests;
    if (answered_ == asked_.size() && !sweeps_.running()) {
        if (!choose_requests()) {
            return std::nullopt;
        }
        for (const AskedPoint& point : asked_) {
            requests.emplace_back(point.request);
        }
    }
    sweeps_.add_requests(requests);
    return requests;
}

/// The looks of an open round come first.
bool Exact::choose_requests()
{
    if (request(rounds_.next_check(points_.feasible))) {
        return true;
    }
    while (stage_ != ExactStage::finished) {
        if (try_stage(stage_)) {
            return true;
        }
        stage_ = static_cast<ExactStage>(static_cast<int>(stage_) + 1);
    }
    return false;
}

bool Exact::try_stage(ExactStage stage)
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
    answered_ = 0;
    return !asked_.empty();
}

bool Exact::open_round(const std::vector<std::size_t>& places, int closer)
{
    return request(rounds_.open(places, points_.feasible, closer));
}

/// Asks for the next generation. The front, in the end, is among the points that the sweep would return.
bool Exact::explore()
{
    if (!exploration_) {
        return false;
    }
    sweeps_.explore(exploration_->ask());
    if (sweeps_.running()) {
        return true;
    }
    for (const Bound& bound : exploration_->front()) {
        points_.feasible.add(bound.index, bound.objectives);
    }
    points_.feasible.put_in_order();
    exploration_.reset();
    return false;
}

bool Exact::sweep_for_front()
{
    if (!sweeps_.covered()) {
        sweeps_.sweep_for_front(points_);
    }
    return sweeps_.running();
}

/// Limits of the points with the best bounds come first; then a sweep for better points; then limits of the
/// best among them; then more draws for the points that keep a gap open.
bool Exact::narrow_gaps()
{
    if (sweeps_.covered() || options_.goal.max_evaluations > 0) {
        return false;
    }
    const std::size_t of_each = options_.gaps.incumbents / options_.goal.objectives;
    if (rounds_.opened() == 0) {
        return open_round(best_of_each_objective(points_.feasible, options_.goal.objectives, of_each));
    }
    if (!gaps_.swept()) {
        return sweep_for_better();
    }
    const NextRound next = gaps_.next_round(points_, sweeps_, rounds_, race_);
    return open_round(next.places, next.closer);
}

bool Exact::sweep_for_better()
{
    if (points_.limits.newest() == 0) {
        return false;
    }
    sweeps_.seek_better(gaps_.begin_sweep(points_.limits));
    return sweeps_.running();
}

bool Exact::ask_scouts()
{
    if (!scouts_.empty()) {
        return false;
    }
    const IncumbentOptions& of = options_.incumbents;
    std::uint64_t most = sweeps_.covered() ? of.scouts : of.most_scouts;
    if (options_.goal.max_evaluations > 0) {
        most = std::min(most, options_.goal.max_evaluations);
    }
    return request(scout_requests(points_, most));
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

/// If many points remain: a round for the best of them by their bounds, which are closer to the truth than
/// few draws; then one with four times the draws for the owners of limits that have many of them.
bool Exact::open_further_round()
{
    if (options_.goal.max_evaluations > 0) {
        return false;
    }
    while (further_rounds_ < options_.incumbents.further_rounds) {
        ++further_rounds_;
        if (points_.exclude() <= options_.incumbents.scouts) {
            return false;
        }
        const bool first = further_rounds_ == 1;
        std::vector<std::size_t> places;
        if (first) {
            places = rounds_.without_limits(first_layer(points_.feasible, options_.incumbents.most_scouts));
        } else {
            places = owners_of_many(points_);
        }
        if (open_round(places, first ? 0 : 1)) {
            return true;
        }
    }
    return false;
}

/// Counts the points that may be drawn, before any of them is. Points that the
/// sweep did not return all count.
bool Exact::divide_error()
{
    const std::size_t known = points_.exclude();
    race_.divide_error(known, sweeps_.drop_excluded(points_.limits).points(), points_.feasible);
    return false;
}

/// The best candidates so far come first, because their limits exclude the most; then new points;
/// then the remaining candidates.
bool Exact::race()
{
    if (request(race_.leaders(points_))) {
        return true;
    }
    const std::vector<std::size_t> leaders = race_.leaders_worth_limits(points_);
    if (open_round(rounds_.without_limits(leaders), 1)) {
        return true;
    }
    return request(race_.new_candidates(points_)) || request(race_.rivals(points_)) || sweep_again();
}

bool Exact::sweep_again()
{
    if (race_.may_draw_more()) {
        sweeps_.sweep_again(points_);
    }
    return sweeps_.running();
}

void Exact::tell(std::span<const Answer> answers)
{
    for (const Answer& answer : answers) {
        std::visit([this](const auto& answered) { receive(answered); }, answer);
    }
}

void Exact::receive(const Sweep& sweep)
{
    const std::vector<Bound> bounds = sweeps_.checked(sweep);
    switch (sweeps_.purpose()) {
        case SweepPurpose::exploration:
            sweeps_.receive_explored(bounds);
            exploration_->tell(bounds);
            break;
        case SweepPurpose::better: gaps_.receive(bounds, sweep.floor); break;
        case SweepPurpose::front:
        case SweepPurpose::tighter:
        case SweepPurpose::incomplete: sweeps_.receive(sweep, bounds, points_); break;
    }
    sweeps_.finish_answer(points_);
    if (sweeps_.purpose() == SweepPurpose::better && !sweeps_.running()) {
        gaps_.end_sweep();
    }
}

void Exact::receive(const Evaluation& evaluation)
{
    check(evaluation);
    const std::size_t whose = asked_[answered_].whose;
    switch (evaluation.source.purpose) {
        case Purpose::scout:
            scouts_.push_back({whose, values_of(evaluation), keeps(evaluation.keeping)});
            break;
        case Purpose::limits:
            note_violation(whose, evaluation);
            rounds_.receive(whose, evaluation, points_.limits);
            break;
        default:
            note_violation(race_.place(whose), evaluation);
            race_.receive(whose, evaluation, points_.feasible);
    }
    ++answered_;
}

void Exact::check(const Evaluation& evaluation) const
{
    const PointRequest* request = answered_ < asked_.size() ? &asked_[answered_].request : nullptr;
    if (request == nullptr || evaluation.index != request->index || evaluation.rung != request->rung ||
        evaluation.source != request->source) {
        refuse_answer("it is of point " + std::to_string(evaluation.index) + " at rung " +
                      std::to_string(evaluation.rung));
    }
    check_estimates(evaluation, options_.goal.objectives);
}

void Exact::note_violation(std::size_t place, const Evaluation& evaluation)
{
    const std::optional<BoundViolation> violation = points_.violation(place, evaluation);
    if (!violation || (violation_ && violation_->relative >= violation->relative)) {
        return;
    }
    violation_ = violation;
}

Outcome Exact::outcome() const
{
    const SweepTally& tally = sweeps_.tally();
    Outcome outcome;
    outcome.method = SearchMethod::exact;
    outcome.confidence = options_.goal.confidence;
    outcome.feasible = tally.feasible;
    outcome.drawn = race_.drawn();
    outcome.pruned = sweeps_.excluded(points_.feasible);
    outcome.evaluated = race_.settled();
    outcome.open = tally.feasible - std::min(tally.feasible, outcome.pruned + outcome.evaluated);
    outcome.unchecked = tally.unchecked;
    outcome.excluded_by = tally.excluded_by;
    outcome.sweep = sweeps_.progress();
    outcome.uncovered = sweeps_.uncovered();
    outcome.violation = violation_;
    outcome.gaps = gaps_.gaps(points_, sweeps_, rounds_, race_);
    outcome.complete = !sweeps_.open() && outcome.open == 0;
    outcome.proved = outcome.complete && !violation_;
    if (!outcome.complete && !race_.may_draw_more()) {
        outcome.end = SearchEnd::most_drawn;
    }
    return outcome;
}

std::vector<std::uint64_t> Exact::front() const { return race_.front(points_.feasible); }

}  // namespace prismopt
