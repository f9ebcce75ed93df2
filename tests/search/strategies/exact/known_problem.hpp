#pragma once

/// Problems of which everything is known, and a player of the evaluator, for tests of exact searches.

#include "search/archive.hpp"
#include "search/components/kept_bounds.hpp"
#include "search/strategies/exact/exact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace prismopt {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A textbook problem with everything known: what a sweep bounds, and what a rung shows.
///
/// The simultaneous limits of a rung contain those of the next and the value of each rung. So
/// whatever is confidently dominated is dominated by value at the top rung too, and the front is that
/// of all values at the top rung.
struct KnownProblem {
    std::vector<std::vector<double>> truth;        // by index; empty: infeasible
    std::vector<double> half_width = {0.2, 0.02};  // of the simultaneous limits, relative, by rung from 1
    double bound_share = 0.95;                     // bound over truth
    bool infinite_first_rung = false;              // no upper limits at rung 1
    double first_bound_share = 0.0;                // of a bound, known before feasibility is; zero: none
    double loose_share = 1.0;                      // of bounds without limits over those with them

    int top_rung() const { return static_cast<int>(half_width.size()); }

    Evaluation evaluate(std::uint64_t index, int rung) const
    {
        std::mt19937 random(static_cast<unsigned>(index));  // equal at all rungs, which makes the limits nest
        Evaluation evaluation{.index = index, .rung = rung, .draws = 100, .objectives = {}};
        const double width = half_width[static_cast<std::size_t>(rung - 1)];
        for (const double value : truth[index]) {
            const auto unit = [&] { return static_cast<double>(random() % 1024) / 1024.0; };
            const double low = value * (1.0 - width * (0.5 + 0.5 * unit()));
            const double high = value * (1.0 + width * (0.5 + 0.5 * unit()));
            const double seen = value * (1.0 + width * (unit() - 0.5));
            evaluation.objectives.push_back(
                {seen, low, high, low, infinite_first_rung && rung == 1 ? infinity : high});
        }
        return evaluation;
    }

    /// Rungs beyond the last show what the last does.
    Evaluation evaluate(const PointRequest& point) const
    {
        Evaluation evaluation = evaluate(point.index, std::min(point.rung, top_rung()));
        evaluation.rung = point.rung;
        evaluation.source = point.source;
        return evaluation;
    }

    Sweep sweep(SweepRange range) const
    {
        KeptBounds kept(range);
        std::uint64_t unchecked = 0;
        for (std::uint64_t index = range.begin; index < range.end; ++index) {
            if (truth[index].empty()) {
                continue;
            }
            Bound bound{index, truth[index]};
            for (double& value : bound.objectives) {
                value *= bound_share * first_bound_share;
            }
            if (excludes(range.limits, bound.objectives)) {
                ++unchecked;
                continue;
            }
            bound.objectives = truth[index];
            for (double& value : bound.objectives) {
                value *= range.limits.empty() ? bound_share * loose_share : bound_share;
            }
            kept.add(bound);
        }
        Sweep sweep;
        kept.move_to(sweep);
        sweep.unchecked = unchecked;
        return sweep;
    }

    Answer answer(const Request& request) const
    {
        if (const auto* range = std::get_if<SweepRange>(&request)) {
            return sweep(*range);
        }
        return evaluate(std::get<PointRequest>(request));
    }

    std::vector<Answer> answers(const std::vector<Request>& requests) const
    {
        std::vector<Answer> all;
        for (const Request& request : requests) {
            all.push_back(answer(request));
        }
        return all;
    }

    std::uint64_t feasible() const { return sweep({0, truth.size()}).feasible.size(); }

    /// Points that no exact search can do without: their bound is not dominated by
    /// any upper limit of the top rung.
    std::uint64_t unavoidable() const
    {
        std::vector<std::vector<double>> highs;
        for (std::uint64_t index = 0; index < truth.size(); ++index) {
            if (truth[index].empty()) {
                continue;
            }
            std::vector<double>& high = highs.emplace_back();
            for (const Estimate& objective : evaluate(index, top_rung()).objectives) {
                high.push_back(objective.simultaneous_high);
            }
        }
        std::uint64_t count = 0;
        for (const Bound& bound : sweep({0, truth.size()}).feasible) {
            const auto excludes = [&](const auto& high) { return dominates(high, bound.objectives); };
            count += std::none_of(highs.begin(), highs.end(), excludes) ? 1 : 0;
        }
        return count;
    }

    /// Brute force: evaluates all at the top rung.
    std::vector<std::uint64_t> front() const
    {
        Archive archive;
        for (std::uint64_t index = 0; index < truth.size(); ++index) {
            if (!truth[index].empty()) {
                archive.add(std::vector<Answer>{evaluate(index, top_rung())});
            }
        }
        return archive.front();
    }
};

inline ExactOptions exact_options(const KnownProblem& problem, std::size_t objectives)
{
    return {.goal = {.objectives = objectives,
                     .top_rung = problem.top_rung(),
                     .bounded = std::vector<bool>(objectives, true)},
            .space_size = problem.truth.size()};
}

struct ExactRun {
    Outcome outcome;
    std::vector<std::uint64_t> front;
    std::vector<std::pair<std::uint64_t, int>> asked;  // index and rung, in order
    std::set<std::uint64_t> evaluated;
};

/// Plays the evaluator; `portion` says how many of the outstanding answers the strategy gets next.
inline ExactRun play(const KnownProblem& problem, const ExactOptions& options,
                     const std::function<std::size_t(std::size_t)>& portion)
{
    Exact exact(options);
    ExactRun run;
    std::vector<Answer> outstanding;
    while (const auto requests = exact.ask()) {
        EXPECT_TRUE(!requests->empty() || !outstanding.empty());
        for (const Request& request : *requests) {
            if (const auto* range = std::get_if<SweepRange>(&request)) {
                outstanding.emplace_back(problem.sweep(*range));
                continue;
            }
            const auto& point = std::get<PointRequest>(request);
            if (point.source.purpose == Purpose::search) {
                run.asked.emplace_back(point.index, point.rung);
                run.evaluated.insert(point.index);
            }
            outstanding.emplace_back(problem.evaluate(point));
        }
        const auto portion_count =
            static_cast<std::ptrdiff_t>(std::min(portion(outstanding.size()), outstanding.size()));
        exact.tell(std::span(outstanding).first(static_cast<std::size_t>(portion_count)));
        outstanding.erase(outstanding.begin(), outstanding.begin() + portion_count);
        const Outcome now = exact.outcome();
        EXPECT_LE(now.pruned + now.evaluated + now.open + now.unchecked, problem.feasible());
        EXPECT_TRUE(now.open > 0 || !now.proved || outstanding.empty());
    }
    run.outcome = exact.outcome();
    run.front = exact.front();
    return run;
}

inline ExactRun play(const KnownProblem& problem, const ExactOptions& options)
{
    return play(problem, options, [](std::size_t outstanding) { return outstanding; });
}

/// Zitzler, Deb, Thiele (2000), two variables on a grid, moved by one so that relative errors mean something.
inline KnownProblem zdt1(int steps)
{
    KnownProblem problem;
    for (int i = 0; i < steps; ++i) {
        for (int j = 0; j < steps; ++j) {
            const double f1 = static_cast<double>(i) / (steps - 1);
            const double g = 1.0 + 9.0 * j / (steps - 1);
            problem.truth.push_back({1.0 + f1, 1.0 + g * (1.0 - std::sqrt(f1 / g))});
        }
    }
    return problem;
}

/// Deb, Thiele, Laumanns, Zitzler (2002), two angles and a distance (linear here), moved by a half.
inline KnownProblem dtlz2_grid(int steps)
{
    KnownProblem problem;
    const double right_angle = std::numbers::pi / 2.0;
    for (int i = 0; i < steps; ++i) {
        for (int j = 0; j < steps; ++j) {
            for (int k = 0; k < steps; ++k) {
                const double a = right_angle * (i + 0.5) / steps;
                const double b = right_angle * (j + 0.5) / steps;
                const double r = 1.0 + 4.0 * k / (steps - 1);
                problem.truth.push_back({0.5 + r * std::cos(a) * std::cos(b),
                                         0.5 + r * std::cos(a) * std::sin(b), 0.5 + r * std::sin(a)});
            }
        }
    }
    return problem;
}

/// Small whole numbers: many ties, duplicates and infeasible points.
inline KnownProblem lattice(unsigned seed, std::size_t points, std::size_t objectives)
{
    std::mt19937 random(seed);
    KnownProblem problem;
    for (std::size_t p = 0; p < points; ++p) {
        auto& value = problem.truth.emplace_back();
        if (random() % 4 == 0) {
            continue;
        }
        for (std::size_t k = 0; k < objectives; ++k) {
            value.push_back(10.0 + static_cast<double>(random() % 6));
        }
    }
    return problem;
}

inline void expect_proved(const KnownProblem& problem, const ExactRun& run)
{
    EXPECT_EQ(run.front, problem.front());
    EXPECT_TRUE(run.outcome.proved);
    EXPECT_EQ(run.outcome.open, 0U);
    EXPECT_EQ(run.outcome.pruned + run.outcome.unchecked + run.evaluated.size(), problem.feasible());
}

/// A space of labels in which each tuple has a truth of its own, so local moves help little and mislead.
struct LabelledProblem {
    Space space;
    KnownProblem problem;
};
inline LabelledProblem labelled(unsigned seed, std::size_t objectives)
{
    std::vector<Axis> axes;
    for (const int labels : {3, 4, 5, 6}) {
        Axis& axis = axes.emplace_back(Axis{"axis" + std::to_string(labels), labels % 2 == 0, {}});
        for (int label = 1; label <= labels; ++label) {
            axis.labels.push_back(std::to_string(label));
        }
    }
    const auto allowed = [seed](std::span<const int> point) { return (point[0] + point[1] + seed) % 5 != 0; };
    LabelledProblem labels{Space(axes, {{"rule", 2, allowed}}), lattice(seed, 360, objectives)};
    for (std::uint64_t index = 0; index < labels.problem.truth.size(); ++index) {
        if (!labels.space.allows_all(labels.space.point(index))) {
            labels.problem.truth[index].clear();
        }
    }
    return labels;
}

/// Answers the requests for tighter bounds that the search makes next.
inline void tell_tightened(Exact& exact, const std::vector<Bound>& bounds)
{
    const auto requests = exact.ask();
    ASSERT_EQ(requests->size(), bounds.size());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const auto& range = std::get<SweepRange>(requests->at(i));
        EXPECT_TRUE(range.again);
        EXPECT_FALSE(range.limits.empty());
        EXPECT_EQ(range.begin, bounds[i].index);
        exact.tell(std::vector<Answer>{Sweep{{range.begin, range.end}, {bounds[i]}, {}}});
    }
}

}  // namespace prismopt
