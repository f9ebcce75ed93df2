#include "search/strategies/alternatives/alternative_search.hpp"

#include "search/near_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace prismopt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// AlternativeGoal and tasks of which every value is known. Limits contain the value at each
/// rung, and bounds lie below them.
struct Problem {
    std::size_t alternatives = 0;
    std::size_t tasks = 2;
    std::size_t points = 0;  // of a cell
    double width = 0.01;     // of limits, relative
    bool relative = false;
    std::vector<double> truth;  // by index; infinite: infeasible

    std::size_t cells() const { return alternatives * tasks; }
    Space space() const
    {
        Axis label{"label", false, {}};
        Axis point{"point", true, {}};
        for (std::size_t i = 0; i < cells(); ++i) {
            label.labels.push_back(std::to_string(i));
        }
        for (std::size_t i = 0; i < points; ++i) {
            point.labels.push_back(std::to_string(i));
        }
        return {{label, point}, {}};
    }
    /// Labels go by task first, as variants do where the network is the first choice.
    std::size_t cell(std::uint64_t index) const
    {
        const std::size_t label = index / points;
        return (label % alternatives) * tasks + label / alternatives;
    }
    StudyGoal goal() const
    {
        AlternativeGoal of{alternatives, tasks, {}, {1.0, 2.0}, relative};
        for (std::size_t label = 0; label < cells(); ++label) {
            of.cell_of_label.push_back(cell(label * points));
        }
        StudyGoal goal{.objectives = 1, .bounded = {true}, .alternatives = of};
        goal.region = [this](std::uint64_t index) { return cell(index); };
        return goal;
    }
    double bound(std::uint64_t index) const { return 0.96 * truth[index]; }
    Estimate drawn(std::uint64_t index) const
    {
        std::mt19937 random(static_cast<unsigned>(index));
        const auto unit = [&] { return static_cast<double>(random() % 1024) / 1024.0; };
        const double low = truth[index] * (1.0 - width * (0.5 + 0.5 * unit()));
        const double high = truth[index] * (1.0 + width * (0.5 + 0.5 * unit()));
        return {truth[index] * (1.0 + width * (unit() - 0.5)), low, high, low, high};
    }
};

Problem random_problem(unsigned seed)
{
    std::mt19937 random(seed);
    const auto unit = [&] { return static_cast<double>(random() % 4096) / 4096.0; };
    Problem problem{
        .alternatives = 2 + seed % 9, .points = 5 + 7 * (seed % 5), .relative = seed % 3 == 0, .truth = {}};
    problem.truth.resize(problem.cells() * problem.points);
    std::vector<double> of_cell(problem.cells());
    for (double& level : of_cell) {
        level = 1.0 + unit();
    }
    for (std::uint64_t index = 0; index < problem.truth.size(); ++index) {
        const bool feasible = unit() > 0.2;
        problem.truth[index] = feasible ? of_cell[problem.cell(index)] * (1.0 + unit()) : infinity;
    }
    return problem;
}

Answer answer_to(const Problem& problem, const Request& request)
{
    if (const auto* range = std::get_if<SweepRange>(&request)) {
        Sweep sweep{.range = *range};
        NearBounds near(range->near);
        for (std::uint64_t index = range->begin; index < range->end; ++index) {
            if (std::isinf(problem.truth[index])) {
                continue;
            }
            ++sweep.excluded;
            near.add({problem.cell(index), {index, {problem.bound(index)}}});
        }
        sweep.near = near.best();
        return sweep;
    }
    const auto& point = std::get<PointRequest>(request);
    return Evaluation{point.index,  point.rung,     100, {problem.drawn(point.index)},
                      point.source, Keeping::surely};
}

void run(AlternativeSearch& search, const Problem& problem)
{
    while (const auto requests = search.ask()) {
        ASSERT_FALSE(requests->empty());
        for (const Request& request : *requests) {
            const Answer answer = answer_to(problem, request);
            search.tell({&answer, 1});
        }
    }
}

/// Every point drawn.
std::vector<Known> brute_force(const Problem& problem)
{
    std::vector<Known> cells(problem.cells());
    for (std::uint64_t index = 0; index < problem.truth.size(); ++index) {
        if (std::isfinite(problem.truth[index])) {
            Known& cell = cells[problem.cell(index)];
            cell.value = std::min(cell.value, problem.drawn(index).value);
        }
    }
    return cells;
}

TEST(AlternativeSearch, FrontsEqualThoseOfBruteForce)
{
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const Problem problem = random_problem(seed);
        const Space space = problem.space();
        AlternativeSearch search(space, problem.goal());
        run(search, problem);
        const Outcome outcome = search.outcome();
        ASSERT_TRUE(outcome.proved);
        const std::vector<Known> all = brute_force(problem);
        std::vector<Known> found;
        for (const CellOutcome& cell : outcome.cells) {
            found.push_back(cell.settled ? cell.least : Known{});
        }
        const std::vector<bool> front = on_front(judged(found, *problem.goal().alternatives));
        const std::vector<Judged> truth = judged(all, *problem.goal().alternatives);
        EXPECT_EQ(front, on_front(truth));
        for (std::size_t cell = 0; cell < all.size(); ++cell) {
            const CellOutcome& of = outcome.cells[cell];
            EXPECT_LE(of.least.low, all[cell].value);
            if (of.settled) {
                EXPECT_EQ(of.least.value, all[cell].value);
            }
        }
        EXPECT_LE(outcome.drawn, outcome.feasible);
    }
}

TEST(AlternativeSearch, DrawsFewPointsOfDominatedAlternatives)
{
    Problem problem{.alternatives = 40, .points = 60, .truth = {}};
    problem.truth.resize(problem.cells() * problem.points);
    for (std::uint64_t index = 0; index < problem.truth.size(); ++index) {
        const auto alternative = static_cast<double>(problem.cell(index) / problem.tasks);
        problem.truth[index] = 1.0 + 0.2 * alternative + 0.01 * static_cast<double>(index % problem.points);
    }
    const Space space = problem.space();
    AlternativeSearch search(space, problem.goal());
    run(search, problem);
    EXPECT_TRUE(search.outcome().proved);
    EXPECT_LT(search.outcome().drawn, 60U);
    EXPECT_FALSE(search.outcome().cells.back().settled);
    EXPECT_LE(search.outcome().gaps.front().relative(), 0.02);
}

TEST(AlternativeSearch, AnAlternativeWithoutAFeasiblePointServesNoTask)
{
    Problem problem = random_problem(7);
    for (std::uint64_t index = 0; index < problem.truth.size(); ++index) {
        if (problem.cell(index) == 0) {
            problem.truth[index] = infinity;
        }
    }
    const Space space = problem.space();
    AlternativeSearch search(space, problem.goal());
    run(search, problem);
    EXPECT_TRUE(search.outcome().proved);
    EXPECT_TRUE(std::isinf(search.outcome().cells.front().least.low));
    EXPECT_FALSE(on_front(judged(brute_force(problem), *problem.goal().alternatives)).front());
}

TEST(AlternativeSearch, SweepsAgainWhatFewBoundsHide)
{
    // More points within 5 % of the best bound than a sweep returns, and the
    // best value among the last of them.
    Problem problem{.alternatives = 2, .points = 3000, .width = 0.0001, .truth = {}};
    problem.truth.resize(problem.cells() * problem.points);
    for (std::uint64_t index = 0; index < problem.truth.size(); ++index) {
        problem.truth[index] = 1.0 + 1e-6 * static_cast<double>(index % problem.points);
    }
    const Space space = problem.space();
    AlternativeSearch search(space, problem.goal());
    run(search, problem);
    EXPECT_TRUE(search.outcome().proved);
    for (const CellOutcome& cell : search.outcome().cells) {
        EXPECT_GE(cell.least.low, 0.99 * cell.least.value);
    }
}

TEST(AlternativeSearch, RefusesWhatItCannotCompare)
{
    const Problem problem = random_problem(1);
    const Space space = problem.space();
    StudyGoal two = problem.goal();
    two.objectives = 2;
    EXPECT_THROW(AlternativeSearch(space, two), std::invalid_argument);
    StudyGoal unbounded = problem.goal();
    unbounded.bounded = {false};
    EXPECT_THROW(AlternativeSearch(space, unbounded), std::invalid_argument);
}

TEST(Judgement, WeighsValuesOrRatiosToTheBest)
{
    const std::vector<Known> cells{{10.0, 10.0, 10.0}, {4.0, 4.0, 4.0}, {12.0, 12.0, 12.0}, {2.0, 2.0, 2.0}};
    const AlternativeGoal sums{2, 2, {}, {1.0, 3.0}, false};
    const std::vector<Judged> values = judged(cells, sums);
    EXPECT_DOUBLE_EQ(values[0].weighted.value, 22.0);
    EXPECT_DOUBLE_EQ(values[1].weighted.value, 18.0);
    EXPECT_DOUBLE_EQ(values[0].regret.value, 1.0);
    EXPECT_NEAR(values[1].regret.value, 0.2, 1e-12);
    const AlternativeGoal shares{2, 2, {}, {0.5, 0.5}, true};
    EXPECT_DOUBLE_EQ(judged(cells, shares)[0].weighted.value, 0.5 * 1.0 + 0.5 * 2.0);
    EXPECT_DOUBLE_EQ(judged(cells, shares)[1].weighted.value, 0.5 * 1.2 + 0.5 * 1.0);
}

TEST(Judgement, LimitsHoldForAllValuesWithinTheirCells)
{
    std::mt19937 random(3);
    const auto unit = [&] { return static_cast<double>(random() % 4096) / 4096.0; };
    for (int trial = 0; trial < 200; ++trial) {
        const AlternativeGoal of{3, 2, {}, {0.3, 0.7}, trial % 2 == 0};
        std::vector<Known> limits;
        std::vector<Known> values;
        for (int cell = 0; cell < 6; ++cell) {
            const double low = 1.0 + unit();
            const double high = low * (1.0 + 0.3 * unit());
            const double value = low + (high - low) * unit();
            limits.push_back({value, low, high});
            values.push_back({value, value, value});
        }
        const std::vector<Judged> bounded = judged(limits, of);
        const std::vector<Judged> exact = judged(values, of);
        for (std::size_t a = 0; a < 3; ++a) {
            EXPECT_LE(bounded[a].weighted.low, exact[a].weighted.value * (1.0 + 1e-12));
            EXPECT_GE(bounded[a].weighted.high, exact[a].weighted.value * (1.0 - 1e-12));
            EXPECT_LE(bounded[a].regret.low, exact[a].regret.value + 1e-12);
            EXPECT_GE(bounded[a].regret.high, exact[a].regret.value - 1e-12);
        }
    }
}

}  // namespace
}  // namespace prismopt
