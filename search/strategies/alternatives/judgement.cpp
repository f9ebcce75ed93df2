#include "search/strategies/alternatives/judgement.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {
namespace {

/// At least one: a value is not below the least of its task.
double over(double value, double least) { return std::isinf(value) ? value : std::max(1.0, value / least); }

/// The least of a task over all alternatives.
Known least_of(std::span<const Known> cells, std::size_t task, std::size_t tasks)
{
    Known least{.low = Known{}.high};
    for (std::size_t cell = task; cell < cells.size(); cell += tasks) {
        least.value = std::min(least.value, cells[cell].value);
        least.low = std::min(least.low, cells[cell].low);
        least.high = std::min(least.high, cells[cell].high);
    }
    return least;
}

Known relative(const Known& cell, const Known& least)
{
    return {over(cell.value, least.value), over(cell.low, least.high), over(cell.high, least.low)};
}

Judged judged_one(std::span<const Known> own, const std::vector<Known>& least, const AlternativeGoal& alternatives)
{
    Judged result{.weighted = {0.0, 0.0, 0.0}, .regret = {0.0, 0.0, 0.0}};
    for (std::size_t task = 0; task < own.size(); ++task) {
        const Known ratio = relative(own[task], least[task]);
        const Known& counted = alternatives.relative ? ratio : own[task];
        for (double Known::*of : {&Known::value, &Known::low, &Known::high}) {
            result.weighted.*of += alternatives.weights[task] * (counted.*of);
            result.regret.*of = std::max(result.regret.*of, ratio.*of - 1.0);
        }
    }
    return result;
}

}  // namespace

std::vector<Judged> judged(std::span<const Known> cells, const AlternativeGoal& alternatives)
{
    std::vector<Known> least;
    for (std::size_t task = 0; task < alternatives.tasks; ++task) least.push_back(least_of(cells, task, alternatives.tasks));
    std::vector<Judged> all;
    for (std::size_t cell = 0; cell < cells.size(); cell += alternatives.tasks) {
        all.push_back(judged_one(cells.subspan(cell, alternatives.tasks), least, alternatives));
    }
    return all;
}

bool surely_dominates(const Judged& a, const Judged& b)
{
    const bool nowhere_worse = a.weighted.high <= b.weighted.low && a.regret.high <= b.regret.low;
    return nowhere_worse && (a.weighted.high < b.weighted.low || a.regret.high < b.regret.low);
}

std::vector<bool> on_front(std::span<const Judged> all)
{
    const auto dominates = [](const Judged& a, const Judged& b) {
        const bool nowhere_worse = a.weighted.value <= b.weighted.value && a.regret.value <= b.regret.value;
        return nowhere_worse && (a.weighted.value < b.weighted.value || a.regret.value < b.regret.value);
    };
    std::vector<bool> front;
    for (const Judged& own : all) {
        const bool dominated = std::any_of(all.begin(), all.end(), [&](const Judged& other) { return dominates(other, own); });
        front.push_back(std::isfinite(own.weighted.value) && !dominated);
    }
    return front;
}

}  // namespace prismopt
