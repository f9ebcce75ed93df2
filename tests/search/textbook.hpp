#pragma once

/// Textbook problems over a space of labels, and a player of the evaluator, for
/// tests and benchmarks of strategies.

#include "search/archive.hpp"
#include "search/components/kept_bounds.hpp"
#include "search/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <set>
#include <string>
#include <vector>

namespace prismopt {

/// `steps` labels for each of so many continuous variables in [0, 1].
inline std::vector<Axis> unit_axes(std::size_t variables, int steps)
{
    std::vector<Axis> axes(variables);
    for (std::size_t v = 0; v < variables; ++v) {
        axes[v].name = 'x';
        axes[v].name += std::to_string(v);  // g++ 12 warns wrongly of "x" + here
        for (int i = 0; i < steps; ++i) {
            axes[v].labels.push_back("at" + std::to_string(i));
        }
    }
    return axes;
}

inline std::vector<double> unit_values(std::span<const int> point, int steps)
{
    std::vector<double> x;
    for (const int label : point) {
        x.push_back(static_cast<double>(label) / (steps - 1));
    }
    return x;
}

/// Zitzler, Deb, Thiele, Evol. Comput. 8 (2000) 173-195.
inline std::vector<double> zdt(int number, std::span<const double> x)
{
    const double f1 = x[0];
    double g = 0.0;
    if (number == 4) {
        g = 1.0 + 10.0 * static_cast<double>(x.size() - 1);
        for (std::size_t i = 1; i < x.size(); ++i) {
            const double y = 10.0 * x[i] - 5.0;
            g += y * y - 10.0 * std::cos(4.0 * std::numbers::pi * y);
        }
        return {f1, g * (1.0 - std::sqrt(f1 / g))};
    }
    for (std::size_t i = 1; i < x.size(); ++i) {
        g += x[i];
    }
    g = 1.0 + 9.0 * g / static_cast<double>(x.size() - 1);
    if (number == 1) {
        return {f1, g * (1.0 - std::sqrt(f1 / g))};
    }
    if (number == 2) {
        return {f1, g * (1.0 - f1 / g * f1 / g)};
    }
    return {f1, g * (1.0 - std::sqrt(f1 / g) - f1 / g * std::sin(10.0 * std::numbers::pi * f1))};
}

/// Deb, Thiele, Laumanns, Zitzler (2002): the second problem of the series.
inline std::vector<double> dtlz2(std::span<const double> x, std::size_t objectives)
{
    double g = 0.0;
    for (std::size_t i = objectives - 1; i < x.size(); ++i) {
        g += (x[i] - 0.5) * (x[i] - 0.5);
    }
    std::vector<double> f(objectives, 1.0 + g);
    for (std::size_t k = 0; k < objectives; ++k) {
        for (std::size_t i = 0; i + k + 1 < objectives; ++i) {
            f[k] *= std::cos(x[i] * std::numbers::pi / 2.0);
        }
        if (k > 0) {
            f[k] *= std::sin(x[objectives - 1 - k] * std::numbers::pi / 2.0);
        }
    }
    return f;
}

/// A problem as a strategy meets it: which tuples are feasible, their bounds, and what each rung shows.
struct PlayedProblem {
    const Space* space = nullptr;
    /// Empty: infeasible.
    std::function<std::vector<double>(std::span<const int>)> bound;
    std::function<Evaluation(std::uint64_t index, int rung)> evaluate;
};

struct Played {
    Outcome outcome;
    std::vector<std::uint64_t> front;
    std::vector<std::uint64_t> drawn;  // points in the order of their first evaluation
    std::uint64_t looked_at = 0;       // tuples swept one by one
    std::uint64_t draws = 0;
    std::set<std::uint64_t> answered;
    Archive archive;
};

/// Answers until the strategy is done or it is `enough`; `portion` says how many
/// outstanding answers the strategy gets next.
inline Played play(
    const PlayedProblem& problem, Strategy& strategy,
    const std::function<std::size_t(std::size_t)>& portion = [](std::size_t all) { return all; },
    const std::function<bool(const Played&)>& enough = [](const Played&) { return false; })
{
    Played played;
    std::vector<Answer> outstanding;
    while (const auto requests = strategy.ask()) {
        if (enough(played)) {
            break;
        }
        for (const Request& request : *requests) {
            if (const auto* range = std::get_if<SweepRange>(&request)) {
                Sweep sweep;
                KeptBounds kept(*range);
                std::uint64_t refused = 0;
                const auto judge = [&](std::uint64_t index, std::span<const int> point) {
                    const std::vector<double> bound = problem.bound(point);
                    bound.empty() ? static_cast<void>(++refused) : kept.add({index, bound});
                };
                sweep.rejected = problem.space->enumerate(range->begin, range->end, judge);
                kept.move_to(sweep);
                if (refused > 0) {
                    sweep.rejected.push_back(
                        {.reason = "infeasible", .count = refused, .miss = 1.0, .nearest = {}});
                }
                played.looked_at += range->end - range->begin == 1 ? 1 : 0;
                outstanding.emplace_back(std::move(sweep));
            } else {
                const auto& point = std::get<PointRequest>(request);
                const bool searches = point.source.purpose == Purpose::search;
                if (searches && played.answered.insert(point.index).second) {
                    played.drawn.push_back(point.index);
                }
                Evaluation evaluation = problem.evaluate(point.index, point.rung);
                evaluation.source = point.source;
                outstanding.emplace_back(std::move(evaluation));
            }
        }
        const auto portion_count =
            static_cast<std::ptrdiff_t>(std::min(portion(outstanding.size()), outstanding.size()));
        const std::span<const Answer> answers(outstanding.data(), static_cast<std::size_t>(portion_count));
        strategy.tell(answers);
        played.archive.add(answers);
        outstanding.erase(outstanding.begin(), outstanding.begin() + portion_count);
    }
    played.draws = played.archive.draws();
    played.outcome = strategy.outcome();
    played.front = strategy.front();
    return played;
}

}  // namespace prismopt
