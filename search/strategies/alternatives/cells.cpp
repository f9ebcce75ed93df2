#include "search/strategies/alternatives/cells.hpp"

#include "search/components/answers.hpp"

#include <algorithm>

namespace prismopt {
namespace {

/// Share of its value by which the best drawn point of a cell may be worse than the best one.
constexpr double gap = 0.003;
/// Drawn points of a cell up to which no gap is left.
constexpr std::size_t few = 16;

}  // namespace

void Cell::add(const std::vector<Bound>& points, double others)
{
    others_ = std::min(others_, others);
    for (const Bound& point : points) {
        const double bound = point.objectives.front();
        if (bounds_.emplace(point.index, bound).second) {
            undrawn_.emplace(bound, point.index);
        }
    }
}

void Cell::draw(const Evaluation& evaluation)
{
    const auto known = bounds_.find(evaluation.index);
    if (known == bounds_.end()) {
        refuse_answer("point " + std::to_string(evaluation.index) + " was not asked for");
    }
    undrawn_.erase({known->second, known->first});
    drawn_[evaluation.index] = evaluation.objectives.front();
    high_ = std::min(high_, evaluation.objectives.front().simultaneous_high);
}

void Cell::limit(const Evaluation& evaluation)
{
    Estimate& drawn = drawn_.at(evaluation.index);
    const Estimate& other = evaluation.objectives.front();
    drawn.simultaneous_low = std::max(drawn.simultaneous_low, other.simultaneous_low);
    drawn.simultaneous_high = std::min(drawn.simultaneous_high, other.simultaneous_high);
    high_ = std::min(high_, drawn.simultaneous_high);
}

double Cell::goal() const { return drawn_.size() < few ? high_ : (1.0 - gap) * high_; }

std::vector<std::uint64_t> Cell::open(std::size_t most) const
{
    std::vector<std::uint64_t> points;
    for (const auto& [bound, index] : undrawn_) {
        if (points.size() == most || bound >= goal()) {
            break;
        }
        points.push_back(index);
    }
    return points;
}

Known Cell::least() const
{
    Known least{.value = none, .low = others_, .high = high_};
    if (!undrawn_.empty()) {
        least.low = std::min(least.low, undrawn_.begin()->first);
    }
    for (const auto& [index, value] : drawn_) {
        least.value = std::min(least.value, value.value);
        least.low = std::min(least.low, std::max(bounds_.at(index), value.simultaneous_low));
    }
    least.low = std::min(least.low, least.high);
    return least;
}

CellOutcome Cell::outcome() const
{
    CellOutcome outcome{.least = least(), .settled = settled()};
    for (const auto& [index, value] : drawn_) {
        if (value.value == outcome.least.value) {
            outcome.point = index;
        }
    }
    return outcome;
}

}  // namespace prismopt
