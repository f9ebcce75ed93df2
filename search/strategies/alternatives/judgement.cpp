#include "search/strategies/alternatives/judgement.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {
namespace {

/// Not negative: a value is not below the least of its task.
double excess(double value, double least)
{
    return std::isinf(value) ? value : std::max(0.0, value / least - 1.0);
}

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

}  // namespace

std::vector<Known> regrets(std::span<const Known> cells, std::size_t tasks)
{
    std::vector<Known> least;
    for (std::size_t task = 0; task < tasks; ++task) {
        least.push_back(least_of(cells, task, tasks));
    }
    std::vector<Known> all;
    std::size_t task = 0;
    for (const Known& cell : cells) {
        const Known& of = least[task];
        all.push_back({excess(cell.value, of.value), excess(cell.low, of.high), excess(cell.high, of.low)});
        task = task + 1 == tasks ? 0 : task + 1;
    }
    return all;
}

std::vector<Judged> judged(std::span<const Known> cells, const AlternativeGoal& alternatives)
{
    const std::vector<Known> all_regrets = regrets(cells, alternatives.tasks);
    std::vector<Judged> all;
    for (std::size_t first = 0; first < cells.size(); first += alternatives.tasks) {
        Judged& own = all.emplace_back(Judged{.weighted = {0.0, 0.0, 0.0}, .regret = {0.0, 0.0, 0.0}});
        for (std::size_t task = 0; task < alternatives.tasks; ++task) {
            const Known& value = cells[first + task];
            const Known& regret = all_regrets[first + task];
            for (double Known::*of : {&Known::value, &Known::low, &Known::high}) {
                const double counted = alternatives.relative ? 1.0 + regret.*of : value.*of;
                own.weighted.*of += alternatives.weights[task] * counted;
                own.regret.*of = std::max(own.regret.*of, regret.*of);
            }
        }
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
        const bool dominated =
            std::any_of(all.begin(), all.end(), [&](const Judged& other) { return dominates(other, own); });
        front.push_back(std::isfinite(own.weighted.value) && !dominated);
    }
    return front;
}

}  // namespace prismopt
