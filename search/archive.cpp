#include "search/archive.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

namespace prismopt {
namespace {

using Points = std::vector<std::vector<double>>;

/// Area between the points and the reference; the points come in ascending order of the first objective.
double area(const Points& points, std::span<const double> reference)
{
    double sum = 0.0;
    double lowest = reference[1];
    for (const std::vector<double>& point : points) {
        if (point[1] >= lowest) {
            continue;
        }
        sum += (reference[0] - point[0]) * (lowest - point[1]);
        lowest = point[1];
    }
    return sum;
}

/// Points lie below the reference in the first `objectives`, and are sorted lexicographically. Three
/// and more objectives are cut into slices along the last. Source: While et al., IEEE Trans. Evol.
/// Comput. 10 (2006) 29-38 (HSO).
double volume(const Points& points, std::span<const double> reference, std::size_t objectives)
{
    if (points.empty()) {
        return 0.0;
    }
    if (objectives == 1) {
        return reference[0] - points.front()[0];
    }
    if (objectives == 2) {
        return area(points, reference);
    }

    const std::size_t last = objectives - 1;
    std::vector<double> cuts;
    for (const std::vector<double>& point : points) {
        cuts.push_back(point[last]);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    cuts.push_back(reference[last]);

    double sum = 0.0;
    Points slice;
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
        slice.clear();
        RunningFront front(last);
        for (const std::vector<double>& point : points) {
            if (point[last] <= cuts[c] && front.add(std::span(point).first(last))) {
                slice.push_back(point);
            }
        }
        sum += volume(slice, reference, last) * (cuts[c + 1] - cuts[c]);
    }
    return sum;
}

/// Indices of the non-dominated points, ascending.
std::vector<std::uint64_t> front_of(const std::map<std::uint64_t, Evaluation>& evaluations)
{
    std::vector<std::uint64_t> indices;
    Points values;
    for (const auto& [index, evaluation] : evaluations) {
        indices.push_back(index);
        std::vector<double>& value = values.emplace_back();
        for (const Estimate& objective : evaluation.objectives) {
            value.push_back(objective.value);
        }
    }
    std::vector<std::uint64_t> front;
    for (const std::size_t position : non_dominated(values)) {
        front.push_back(indices[position]);
    }
    return front;
}

}  // namespace

bool dominates(std::span<const double> a, std::span<const double> b)
{
    bool better = false;
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k] > b[k]) {
            return false;
        }
        better = better || a[k] < b[k];
    }
    return better;
}

bool excludes(std::span<const std::vector<double>> limits, std::span<const double> point)
{
    return std::any_of(limits.begin(), limits.end(),
                       [point](const std::vector<double>& limit) { return dominates(limit, point); });
}

std::vector<std::size_t> non_dominated(std::span<const std::vector<double>> points)
{
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });

    std::vector<std::size_t> kept;
    RunningFront front(points.empty() ? 0 : points.front().size());
    for (const std::size_t position : order) {
        if (front.add(points[position])) {
            kept.push_back(position);
        }
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

std::vector<double> ideal_point(std::span<const std::vector<double>> points)
{
    std::vector<double> ideal = points.front();
    for (const std::vector<double>& point : points) {
        for (std::size_t k = 0; k < ideal.size(); ++k) {
            ideal[k] = std::min(ideal[k], point[k]);
        }
    }
    return ideal;
}

double hypervolume(std::span<const std::vector<double>> points, std::span<const double> reference)
{
    if (reference.empty()) {
        return 0.0;
    }
    Points inside;
    for (const std::vector<double>& point : points) {
        if (std::equal(point.begin(), point.end(), reference.begin(), reference.end(), std::less<>())) {
            inside.push_back(point);
        }
    }
    std::sort(inside.begin(), inside.end());
    return volume(inside, reference, reference.size());
}

bool RunningFront::covers(std::span<const double> point) const
{
    if (objectives_ <= 3) {
        const auto next = stairs_.upper_bound(second(point));
        return next != stairs_.begin() && std::prev(next)->second <= third(point);
    }
    for (auto member = members_.begin(); member != members_.end();
         member += static_cast<std::ptrdiff_t>(objectives_)) {
        if (std::equal(point.begin(), point.end(), member, std::greater_equal<>())) {
            return true;
        }
    }
    return false;
}

bool RunningFront::add(std::span<const double> point)
{
    if (!last_.empty() && std::equal(point.begin(), point.end(), last_.begin())) {
        return last_kept_;
    }
    last_.assign(point.begin(), point.end());
    last_kept_ = !covers(point);
    if (!last_kept_) {
        return false;
    }
    if (objectives_ > 3) {
        members_.insert(members_.end(), point.begin(), point.end());
        return true;
    }
    auto next = stairs_.lower_bound(second(point));
    while (next != stairs_.end() && next->second >= third(point)) {
        next = stairs_.erase(next);
    }
    stairs_.emplace_hint(next, second(point), third(point));
    return true;
}

void Archive::add(std::span<const Answer> answers)
{
    for (const Answer& answer : answers) {
        std::visit([this](const auto& given) { add(given); }, answer);
    }
}

void Archive::add(const Sweep& sweep)
{
    std::vector<Bound> returned = sweep.feasible;
    if (sweep.range.again) {
        for (const NearBound& point : sweep.near) {
            returned.push_back(point.bound);
        }
    }
    add(std::move(returned));
    if (sweep.range.again) {
        return;
    }
    feasible_ += sweep.feasible.size() + sweep.excluded + sweep.unreturned;
    if (!near_ && !sweep.near.empty()) {
        near_.emplace(NearRequest{.objective = sweep.range.near.objective});
    }
    if (near_) {
        near_->narrow(sweep.range.near.regions);
    }
    for (const NearBound& point : sweep.near) {
        near_->add(point);
    }

    prismopt::add(sweep.rejected, rejected_);
}

/// Later sweeps have tighter bounds.
void Archive::add(std::vector<Bound> returned)
{
    const auto by_index = [](const Bound& a, const Bound& b) { return a.index < b.index; };
    std::ranges::sort(returned, by_index);
    const auto known = static_cast<std::ptrdiff_t>(bounds_.size());
    for (Bound& bound : returned) {
        const auto end = bounds_.begin() + known;
        const auto at = std::lower_bound(bounds_.begin(), end, bound, by_index);
        if (at != end && at->index == bound.index) {
            at->objectives = std::move(bound.objectives);
        } else {
            bounds_.push_back(std::move(bound));
        }
    }
    if (!std::is_sorted(bounds_.begin() + std::max<std::ptrdiff_t>(known - 1, 0), bounds_.end(), by_index)) {
        std::inplace_merge(bounds_.begin(), bounds_.begin() + known, bounds_.end(), by_index);
    }
}

std::vector<Bound> Archive::bounds_and_near() const
{
    std::vector<Bound> all = bounds_;
    if (!near_) {
        return all;
    }
    for (NearBound& point : near_->best()) {
        all.push_back(std::move(point.bound));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Bound& a, const Bound& b) { return a.index < b.index; });
    all.erase(std::unique(all.begin(), all.end(),
                          [](const Bound& a, const Bound& b) { return a.index == b.index; }),
              all.end());
    return all;
}

void Archive::add(const Evaluation& evaluation)
{
    if (evaluation.source.purpose == Purpose::limits) {
        incumbents_[evaluation.index] = evaluation;
    }
    if (evaluation.source.purpose != Purpose::search) {
        return;
    }
    Evaluation& kept = evaluations_[evaluation.index];
    if (evaluation.rung < kept.rung) {
        return;
    }
    draws_ = draws_ - kept.draws + evaluation.draws;
    kept = evaluation;
}

std::vector<std::uint64_t> Archive::front() const { return front_of(evaluations_); }

std::vector<std::uint64_t> Archive::provisional_front() const
{
    std::map<std::uint64_t, Evaluation> all = evaluations_;
    all.insert(incumbents_.begin(), incumbents_.end());
    return front_of(all);
}

}  // namespace prismopt
