#include "search/strategies/genetic.hpp"

#include "search/archive.hpp"
#include "search/components/answers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace prismopt {
namespace {

constexpr int child_tries = 64;                      // until a child is new
constexpr std::uint64_t usual_evaluations = 20'000;  // without a limit by the user

/// Evenly spread labels, including both ends; for a single one: the middle.
std::vector<int> thinned(int labels, int keep)
{
    if (keep == 1) {
        return {labels / 2};
    }
    std::vector<int> chosen;
    chosen.reserve(static_cast<std::size_t>(keep));
    for (int i = 0; i < keep; ++i) {
        chosen.push_back(static_cast<int>(std::lround(static_cast<double>(i) * (labels - 1) / (keep - 1))));
    }
    return chosen;
}

/// Labels per axis that give at most `most` tuples: halves the longest axes first.
std::vector<std::vector<int>> coarse_grid(const std::vector<Axis>& axes, std::size_t most)
{
    std::vector<int> keep;
    double tuples = 1.0;
    for (const Axis& axis : axes) {
        keep.push_back(static_cast<int>(axis.labels.size()));
        tuples *= keep.back();
    }
    while (tuples > static_cast<double>(most)) {
        const auto longest = std::max_element(keep.begin(), keep.end());
        const int half = (*longest + 1) / 2;
        tuples *= static_cast<double>(half) / *longest;
        *longest = half;
    }
    std::vector<std::vector<int>> labels;
    for (std::size_t a = 0; a < axes.size(); ++a) {
        labels.push_back(thinned(static_cast<int>(axes[a].labels.size()), keep[a]));
    }
    return labels;
}

}  // namespace

Genetic::Genetic(const Space& space, StudyGoal goal, Selection selection, GeneticOptions options)
    : space_(space), goal_(std::move(goal)), selection_(std::move(selection)), options_(options),
      moves_(space),
      bounds_hold_(std::find(goal_.bounded.begin(), goal_.bounded.end(), true) != goal_.bounded.end()),
      race_({.top_rung = goal_.top_rung})
{
    if (goal_.max_evaluations == 0) {
        goal_.max_evaluations = usual_evaluations;
    }
    if (!bounds_hold_) {
        options_.screened = 1;
    }
}

std::optional<std::vector<Request>> Genetic::ask()
{
    if (batches_.empty()) {
        advance();
    }
    if (ready_.empty() && awaited_.empty() && climbing_.empty()) {
        return std::nullopt;
    }
    return std::exchange(ready_, {});
}

/// Issues all requests that are possible now. Called after each answer, so the
/// batching of answers has no influence.
void Genetic::advance()
{
    bool more = true;
    while (more) {
        for (std::size_t b = merged_; b < batches_.size(); ++b) {
            if (!batches_[b].draws_asked && batches_[b].swept == batches_[b].proposed.size()) {
                ask_draws(b);
            }
        }
        while (merged_ < batches_.size() && batches_[merged_].draws_asked &&
               batches_[merged_].answered == batches_[merged_].drawn.size()) {
            merge(batches_[merged_]);
        }
        more = may_propose() && ask_sweeps();
    }
    if (merged_ < batches_.size() || !climbing_.empty()) {
        return;
    }
    const std::vector<PointRequest> next = race_.next();
    climbing_.assign(next.begin(), next.end());
    ready_.insert(ready_.end(), next.begin(), next.end());
}

/// Whether another batch may be in flight; the first is alone.
bool Genetic::may_propose() const
{
    const std::size_t most = merged_ == 0 ? 1 : options_.lag;
    return end_ == SearchEnd::none && batches_.size() - merged_ < most;
}

/// Starts a batch. False if there is nothing left to try.
bool Genetic::ask_sweeps()
{
    const std::size_t number = batches_.size();
    Batch batch;
    batch.proposed = number == 0 ? first_proposals() : proposals();
    if (batch.proposed.empty() && reserve_.empty()) {
        end_ = SearchEnd::nothing_new;
        return false;
    }
    for (const Member& member : batch.proposed) {
        ready_.emplace_back(SweepRange{member.index, member.index + 1});
        awaited_.push_back({Kind::sweep, number});
    }
    batches_.push_back(std::move(batch));
    return true;
}

std::vector<Point> Genetic::coarse_points() const
{
    const auto labels = coarse_grid(space_.axes(), options_.coarse_grid);
    std::vector<Point> points;
    std::vector<std::size_t> at(labels.size(), 0);
    while (true) {
        Point point;
        for (std::size_t a = 0; a < labels.size(); ++a) {
            point.push_back(labels[a][at[a]]);
        }
        if (space_.allows_all(point)) {
            points.push_back(std::move(point));
        }
        std::size_t axis = labels.size();
        while (axis > 0 && at[axis - 1] + 1 == labels[axis - 1].size()) {
            at[--axis] = 0;
        }
        if (axis == 0) {
            return points;
        }
        ++at[axis - 1];
    }
}

bool Genetic::add_if_new(const Point& point, std::vector<Member>& to)
{
    const std::uint64_t index = space_.index(point);
    if (!known_.insert(index).second) {
        return false;
    }
    to.push_back({index, point, false, 0.0, {}, {}});
    return true;
}

std::vector<Genetic::Member> Genetic::first_proposals()
{
    std::vector<Member> first;
    if (bounds_hold_) {
        for (const Point& point : coarse_points()) {
            add_if_new(point, first);
        }
    }
    for (std::size_t tries = 0;
         first.size() < options_.population && tries < child_tries * options_.population; ++tries) {
        SearchRandom random(goal_.seed, counts_.children++);
        if (const auto point = moves_.repaired(moves_.any(random))) {
            add_if_new(*point, first);
        }
    }
    return first;
}

const Point& Genetic::parent(SearchRandom& random) const
{
    if (!front_.points.empty() && random.chance(options_.elite)) {
        return front_.points[random.below(front_.points.size())];
    }
    std::size_t chosen = random.below(population_.size());
    if (selection_.tournament) {
        chosen = std::min(chosen, random.below(population_.size()));
    }
    return population_[chosen].point;
}

std::vector<Genetic::Member> Genetic::proposals()
{
    std::vector<Member> children;
    for (std::size_t i = 0; i < options_.batch * options_.screened; ++i) {
        SearchRandom random(goal_.seed, counts_.children++);
        if (auto made = child(random)) {
            children.push_back(std::move(*made));
        }
    }
    return children;
}

std::optional<Genetic::Member> Genetic::child(SearchRandom& random)
{
    const double rate = 1.0 / static_cast<double>(space_.axes().size());
    for (int tries = 0; tries < child_tries; ++tries) {
        Point point;
        if (population_.empty() || tries > child_tries / 2) {
            point = moves_.any(random);
        } else {
            point = parent(random);
            const bool crossed = random.chance(options_.crossover);
            if (crossed) {
                point = moves_.cross(point, parent(random), random);
            }
            const bool enough = crossed && tries < child_tries / 4 && random.chance(options_.pure);
            if (!enough && !(random.chance(options_.shift) && moves_.shift_factor(point, random))) {
                moves_.mutate(point, rate, random);
            }
        }
        const auto allowed = moves_.repaired(point);
        std::vector<Member> made;
        if (allowed && add_if_new(*allowed, made)) {
            return std::move(made.front());
        }
    }
    return std::nullopt;
}

/// Chooses the points with the best bounds among the new and the earlier proposals; drops those
/// that evaluated points dominate.
void Genetic::choose_draws(Batch& batch)
{
    std::vector<Member> candidates = std::move(reserve_);
    reserve_.clear();
    for (Member& member : batch.proposed) {
        if (member.feasible) {
            candidates.push_back(std::move(member));
        } else {
            population_.push_back(std::move(member));  // survives where the feasible are few
        }
    }
    counts_.excluded += std::erase_if(candidates, [this](const Member& member) {
        return front_.dominates_bound(member.bound);
    });
    std::vector<Values> bounds;
    bounds.reserve(candidates.size());
    for (const Member& member : candidates) {
        bounds.push_back(member.bound);
    }
    const std::uint64_t left = goal_.max_evaluations - std::min(counts_.drawn, goal_.max_evaluations);
    const std::uint64_t most =
        std::min<std::uint64_t>(left, merged_ == 0 ? options_.population : options_.batch);
    for (const std::size_t position : by_rank_and_crowding(bounds)) {
        std::vector<Member>& to = batch.drawn.size() < most ? batch.drawn : reserve_;
        to.push_back(std::move(candidates[position]));
    }
    if (!bounds_hold_) {
        reserve_.clear();
    }
    counts_.drawn += batch.drawn.size();
}

void Genetic::ask_draws(std::size_t number)
{
    Batch& batch = batches_[number];
    batch.draws_asked = true;
    choose_draws(batch);
    for (const Member& member : batch.drawn) {
        ready_.emplace_back(PointRequest{member.index, 1});
        awaited_.push_back({Kind::draw, number});
    }
}

void Genetic::tell(std::span<const Answer> answers)
{
    for (const Answer& answer : answers) {
        if (awaited_.empty()) {
            race_.add(expected(answer, climbing_));
        } else {
            const Awaited awaited = awaited_.front();
            awaited_.pop_front();
            Batch& batch = batches_[awaited.batch];
            if (awaited.kind == Kind::sweep) {
                add_sweep(answer, batch);
            } else {
                add_draw(answer, batch);
            }
        }
        advance();
    }
}

void Genetic::add_sweep(const Answer& answer, Batch& batch)
{
    Member& member = batch.proposed[batch.swept++];
    const Sweep& sweep = expected(answer, {member.index, member.index + 1});
    member.feasible = !sweep.feasible.empty();
    if (member.feasible) {
        ++counts_.feasible;
        member.bound = usable(sweep.feasible.front(), goal_);
    }
    for (const Rejected& rejected : sweep.rejected) {
        if (rejected.count > 0) {
            member.miss = rejected.miss;
        }
    }
}

void Genetic::add_draw(const Answer& answer, Batch& batch)
{
    Member& member = batch.drawn[batch.answered++];
    std::deque<PointRequest> request{{member.index, 1}};
    const Evaluation& evaluation = expected(answer, request);
    member.value = values_of(evaluation);
    race_.add(evaluation);
}

void Genetic::merge(Batch& batch)
{
    for (Member& member : batch.drawn) {
        front_.add(member.point, member.value);
        population_.push_back(std::move(member));
    }
    survive();
    measure_gain();
    batch = {};
    batch.draws_asked = true;
    ++merged_;
    if (counts_.drawn >= goal_.max_evaluations) {
        end_ = SearchEnd::most_drawn;
    } else if (gain_.idle_batches >= options_.patience) {
        end_ = SearchEnd::no_gain;
    }
}

void Genetic::KnownFront::add(const Point& point, const Values& value)
{
    const auto dominates_value = [&](const Values& other) { return dominates(other, value); };
    if (std::any_of(values.begin(), values.end(), dominates_value)) {
        return;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (dominates(value, values[i])) {
            continue;
        }
        std::swap(values[kept], values[i]);
        std::swap(points[kept], points[i]);
        ++kept;
    }
    values.resize(kept);
    points.resize(kept);
    values.push_back(value);
    points.push_back(point);
}

bool Genetic::KnownFront::dominates_bound(const Values& bound) const
{
    return std::any_of(values.begin(), values.end(),
                       [&](const Values& value) { return dominates(value, bound); });
}

/// Keeps feasible members by the selection rule, then infeasible ones by their distance to feasibility.
void Genetic::survive()
{
    const auto infeasible = std::stable_partition(population_.begin(), population_.end(),
                                                  [](const Member& member) { return member.feasible; });
    std::stable_sort(infeasible, population_.end(),
                     [](const Member& a, const Member& b) { return a.miss < b.miss; });
    std::vector<Values> values;
    for (auto member = population_.begin(); member != infeasible; ++member) {
        values.push_back(member->value);
    }
    std::vector<Member> survivors;
    for (const std::size_t position : selection_.survivors(values, options_.population)) {
        survivors.push_back(population_[position]);
    }
    for (auto member = infeasible; member != population_.end() && survivors.size() < options_.population;
         ++member) {
        survivors.push_back(*member);
    }
    population_ = std::move(survivors);
}

void Genetic::measure_gain()
{
    ++gain_.idle_batches;
    if (front_.values.empty()) {
        return;
    }
    if (gain_.reference.empty()) {
        gain_.reference = front_.values.front();
        for (const Member& member : population_) {
            for (std::size_t k = 0; k < member.value.size(); ++k) {
                gain_.reference[k] = std::max(gain_.reference[k], member.value[k]);
            }
        }
        for (double& coordinate : gain_.reference) {
            coordinate += 0.1 * std::abs(coordinate);
        }
    }
    const double grown = hypervolume(front_.values, gain_.reference);
    if (grown > gain_.hypervolume * (1.0 + options_.gain)) {
        gain_.hypervolume = grown;
        gain_.idle_batches = 0;
    }
}

Outcome Genetic::outcome() const
{
    Outcome outcome;
    outcome.method = SearchMethod::evolution;
    outcome.confidence = goal_.confidence;
    outcome.complete = end_ != SearchEnd::none && race_.over();
    outcome.end = end_;
    outcome.idle_batches = end_ == SearchEnd::no_gain ? options_.patience : 0;
    outcome.checked = known_.size();
    outcome.feasible = counts_.feasible;
    outcome.drawn = counts_.drawn;
    outcome.on_front = race_.front().size();
    outcome.pruned = counts_.excluded;
    outcome.evaluated = race_.settled();
    outcome.open = counts_.feasible - outcome.pruned - outcome.evaluated;
    return outcome;
}

std::vector<std::uint64_t> Genetic::front() const { return race_.front(); }

}  // namespace prismopt
