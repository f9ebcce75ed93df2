#include "search/strategies/exact/exploration.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace prismopt {
namespace {

/// Tries for each child: later ones of a converged front are known mostly.
constexpr std::size_t tries = 8;

std::vector<Bound> front_of(std::vector<Bound> bounds)
{
    std::vector<std::vector<double>> values;
    for (const Bound& bound : bounds) {
        values.push_back(bound.objectives);
    }
    std::vector<Bound> front;
    for (const std::size_t position : non_dominated(values)) {
        front.push_back(std::move(bounds[position]));
    }
    std::sort(front.begin(), front.end(), [](const Bound& a, const Bound& b) { return a.index < b.index; });
    return front;
}

bool same_points(const std::vector<Bound>& a, const std::vector<Bound>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Bound& x, const Bound& y) { return x.index == y.index; });
}

}  // namespace

Exploration::Exploration(const Space& space, std::uint64_t seed, ExplorationOptions options)
    : space_(space), seed_(seed), options_(options), moves_(space), branches_(space, 1)
{
}

std::vector<std::uint64_t> Exploration::ask()
{
    if (generation_ > 0) {
        std::vector<Bound> all = front_;
        std::move(found_.begin(), found_.end(), std::back_inserter(all));
        found_.clear();
        std::vector<Bound> front = front_of(std::move(all));
        idle_ = same_points(front, front_) ? idle_ + 1 : 0;
        front_ = std::move(front);
    }
    std::vector<std::uint64_t> points;
    if (generation_ == options_.generations || idle_ == options_.patience) {
        return points;
    }
    if (generation_++ == 0 || front_.empty()) {
        add_branches(points);
    } else {
        add_children(points);
    }
    return points;
}

void Exploration::tell(const std::vector<Bound>& feasible)
{
    found_.insert(found_.end(), feasible.begin(), feasible.end());
}

void Exploration::add_branches(std::vector<std::uint64_t>& points)
{
    for (std::size_t i = 0; i < options_.start; ++i) {
        SearchRandom random(seed_, choices_++);
        const auto branch = branches_.descend(random);
        if (branch) {
            add(space_.point(branch->begin), points);
        }
    }
}

void Exploration::add_children(std::vector<std::uint64_t>& points)
{
    const double some = 1.0 / static_cast<double>(space_.axes().size());
    for (std::size_t i = 0; i < tries * options_.generation && points.size() < options_.generation; ++i) {
        // in turn, from one generation to the next
        Point point = space_.point(front_[choices_ % front_.size()].index);
        SearchRandom random(seed_, choices_++);
        const double way = random.uniform();
        if (way < 0.3) {
            point = moves_.cross(point, space_.point(front_[random.below(front_.size())].index), random);
        } else if (way > 0.6 || !moves_.shift_factor(point, random)) {
            moves_.mutate(point, some, random);
        }
        add(point, points);
    }
}

/// Adds the nearest allowed point if it is new.
void Exploration::add(const Point& point, std::vector<std::uint64_t>& points)
{
    const auto allowed = moves_.repaired(point);
    if (!allowed) {
        return;
    }
    const std::uint64_t index = space_.index(*allowed);
    if (known_.insert(index).second) {
        points.push_back(index);
    }
}

}  // namespace prismopt
