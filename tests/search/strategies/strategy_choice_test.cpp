/// The contract that every search strategy keeps.

#include "tests/search/textbook.hpp"

#include "search/search_random.hpp"
#include "search/strategies/exact/exact.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

/// Two degrees, whose product must divide 64, a category and a size: 7 * 7 * 3 * 11 raw tuples.
Space plan_like()
{
    Axis a{"a", true, {}};
    for (int degree = 1; degree <= 64; degree *= 2) {
        a.labels.push_back(std::to_string(degree));
    }
    Axis b = a;
    b.name = "b";
    Axis kind{"kind", false, {"x", "y", "z"}};
    Axis size{"size", true, {}};
    for (int i = 0; i < 11; ++i) {
        size.labels.push_back(std::to_string(3 * i + 1));
    }
    return {{a, b, kind, size}, {{"too many", 2, [](std::span<const int> p) { return p[0] + p[1] <= 6; }}}};
}

std::vector<double> truth_of(std::span<const int> p)
{
    const double a = std::pow(2.0, p[0]);
    const double b = std::pow(2.0, p[1]);
    const double kind = 1.0 + 0.1 * ((p[2] + p[0]) % 3);
    if (p[3] > 8 && p[0] < 2) {
        return {};  // no room
    }
    return {kind * (64.0 / (a * b) + 0.2 * a + 0.1 * std::abs(p[3] - p[1])), a * b + p[3]};
}

/// 2^30 raw tuples, 55 * 2^15 of them feasible: three degrees whose product is 512, and four sizes.
Space large()
{
    std::vector<Axis> axes = unit_axes(7, 16);
    for (std::size_t degree = 0; degree < 3; ++degree) {
        axes[degree] = unit_axes(3, 32)[degree];
    }
    axes[6].labels.resize(8);
    return {std::move(axes),
            {{"product too large", 2, [](std::span<const int> p) { return p[0] + p[1] <= 9; }},
             {"product", 3, [](std::span<const int> p) { return p[0] + p[1] + p[2] == 9; }}}};
}

std::vector<double> large_truth(std::span<const int> p)
{
    const double spread = 1.0 + 0.01 * p[3] + 0.02 * std::abs(p[4] - p[0]) + 0.03 * ((p[5] * 7 + p[6]) % 16);
    return {spread * (100.0 + p[0] * p[0]), spread * (200.0 - 3.0 * p[0] + p[1])};
}

struct Noisy {
    Space space = plan_like();
    int top_rung = 4;

    /// One objective with common noise and a little of each point's own that shrinks
    /// with the rung; one that is exact.
    Evaluation evaluate(std::uint64_t index, int rung) const
    {
        Evaluation evaluation{.index = index, .rung = rung, .draws = 64ULL << rung, .objectives = {}};
        SearchRandom own(static_cast<std::uint64_t>(index), static_cast<std::uint32_t>(rung));
        const double width = std::pow(0.5, rung);
        const double shared = 1.0 + 0.3 * width * std::sin(rung);
        const std::vector<double> truth = truth_of(space.point(index));
        const double seen = truth[0] * shared * (1.0 + 0.01 * width * (own.uniform() - 0.5));
        evaluation.objectives = {{seen, 0.8 * seen, 1.3 * seen, 0.9 * truth[0], 1.5 * truth[0]},
                                 Estimate::exact(truth[1])};
        return evaluation;
    }

    PlayedProblem problem(double bound_share = 0.7) const
    {
        return {&space,
                [bound_share](std::span<const int> point) {
                    std::vector<double> bound = truth_of(point);
                    for (double& b : bound) {
                        b *= bound_share;
                    }
                    return bound;
                },
                [this](std::uint64_t index, int rung) { return evaluate(index, rung); }};
    }

    StudyGoal goal() const { return {.objectives = 2, .top_rung = top_rung, .bounded = {true, true}}; }

    std::vector<std::uint64_t> front_at_the_top() const
    {
        Archive archive;
        space.enumerate(0, space.size(), [&](std::uint64_t index, std::span<const int> point) {
            if (!truth_of(point).empty()) {
                archive.add(std::vector<Answer>{evaluate(index, top_rung)});
            }
        });
        return archive.front();
    }
};

class EachStrategy : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, EachStrategy, testing::ValuesIn(strategy_names()),
                         [](const auto& named) { return named.param; });

TEST_P(EachStrategy, FindsTheFrontOfASmallSpace)
{
    const Noisy noisy;
    const ChosenStrategy chosen = make_strategy(GetParam(), noisy.space, noisy.goal());
    const Played played = play(noisy.problem(), *chosen.strategy);
    EXPECT_EQ(played.front, noisy.front_at_the_top());
    EXPECT_EQ(played.outcome.open, 0U);
    EXPECT_EQ(played.outcome.proved, facts_of_strategy(chosen.name).excludes);
    for (const std::uint64_t index : played.front) {
        EXPECT_EQ(played.archive.evaluations().at(index).rung, noisy.top_rung);
    }
}

/// Whenever it is stopped.
TEST_P(EachStrategy, CountsEachFeasiblePointOnce)
{
    const Noisy noisy;
    for (const std::size_t stop_after : {0U, 5U, 40U, 100000U}) {
        const auto strategy = make_strategy(GetParam(), noisy.space, noisy.goal()).strategy;
        const Played played = play(
            noisy.problem(), *strategy, [](std::size_t) { return 1; },
            [stop_after](const Played& so_far) { return so_far.drawn.size() > stop_after; });
        const Outcome& outcome = played.outcome;
        EXPECT_EQ(outcome.pruned + outcome.evaluated + outcome.open, played.archive.feasible());
        EXPECT_LE(outcome.evaluated, played.archive.evaluations().size());
    }
}

TEST_P(EachStrategy, AsksTheSameHoweverManyAnswersComeAtOnce)
{
    const Noisy noisy;
    std::vector<Played> runs;
    for (const std::size_t portion : {1000UL, 7UL, 1UL}) {
        const auto strategy = make_strategy(GetParam(), noisy.space, noisy.goal()).strategy;
        runs.push_back(play(noisy.problem(), *strategy, [portion](std::size_t) { return portion; }));
    }
    for (const Played& run : runs) {
        EXPECT_EQ(run.drawn, runs.front().drawn);
        EXPECT_EQ(run.draws, runs.front().draws);
        EXPECT_EQ(run.outcome, runs.front().outcome);
    }
}

TEST_P(EachStrategy, DrawsNoPointThatTheSpaceForbids)
{
    const Noisy noisy;
    const auto strategy = make_strategy(GetParam(), noisy.space, noisy.goal()).strategy;
    for (const std::uint64_t index : play(noisy.problem(), *strategy).drawn) {
        const Point point = noisy.space.point(index);
        EXPECT_TRUE(noisy.space.allows_all(point));
        EXPECT_FALSE(truth_of(point).empty());
    }
}

TEST_P(EachStrategy, KeepsToAGivenNumberOfEvaluations)
{
    const Noisy noisy;
    StudyGoal goal = noisy.goal();
    goal.max_evaluations = 40;
    const auto strategy = make_strategy(GetParam(), noisy.space, goal).strategy;
    const Played played = play(noisy.problem(), *strategy);
    EXPECT_LE(played.drawn.size(), 40U);
    EXPECT_GE(played.drawn.size(), 30U);
    EXPECT_FALSE(played.outcome.proved);
    EXPECT_FALSE(played.front.empty());
}

TEST_P(EachStrategy, EndsWhereNothingIsFeasible)
{
    const Noisy noisy;
    PlayedProblem problem = noisy.problem();
    problem.bound = [](std::span<const int>) { return std::vector<double>{}; };
    const auto strategy = make_strategy(GetParam(), noisy.space, noisy.goal()).strategy;
    const Played played = play(problem, *strategy);
    EXPECT_TRUE(played.front.empty());
    EXPECT_TRUE(played.drawn.empty());
}

TEST_P(EachStrategy, RefusesAnswersToSomethingElse)
{
    const Noisy noisy;
    const auto strategy = make_strategy(GetParam(), noisy.space, noisy.goal()).strategy;
    ASSERT_TRUE(strategy->ask().has_value());
    EXPECT_THROW(strategy->tell(std::vector<Answer>{noisy.evaluate(5, 2)}), std::runtime_error);
}

TEST(Strategies, HaveFactsByName)
{
    for (const StrategyFacts& facts : strategies()) {
        EXPECT_EQ(&facts_of_strategy(facts.name), &facts);
        EXPECT_TRUE(facts.covers || !facts.excludes) << facts.name;
    }
    EXPECT_THROW(facts_of_strategy("best"), std::invalid_argument);
}

TEST(LargeSpaces, AreProvedWithTheStatedNumberOfBounds)
{
    const Space space = large();
    ASSERT_EQ(space.size(), std::uint64_t{1} << 30);
    const PlayedProblem problem{&space,
                                [](std::span<const int> point) {
                                    std::vector<double> bound = large_truth(point);
                                    for (double& b : bound) {
                                        b *= 0.99;
                                    }
                                    return bound;
                                },
                                [&](std::uint64_t index, int rung) {
                                    Evaluation evaluation{
                                        .index = index, .rung = rung, .draws = 1, .objectives = {}};
                                    for (const double value : large_truth(space.point(index))) {
                                        evaluation.objectives.push_back(Estimate::exact(value));
                                    }
                                    return evaluation;
                                }};
    const StudyGoal goal{.objectives = 2, .top_rung = 1, .bounded = {true, true}};
    const ChosenStrategy chosen = make_strategy("auto", space, goal);
    EXPECT_EQ(chosen.name, "exact");
    const Played played = play(problem, *chosen.strategy);
    EXPECT_TRUE(played.outcome.proved);
    EXPECT_EQ(played.archive.feasible(), 55U << 15);
    EXPECT_LE(played.archive.bounds().size(), most_kept_bounds + played.drawn.size());

    std::vector<std::uint64_t> feasible;
    std::vector<std::vector<double>> values;
    space.enumerate(0, space.size(), [&](std::uint64_t index, std::span<const int> point) {
        feasible.push_back(index);
        values.push_back(large_truth(point));
    });
    std::vector<std::uint64_t> front;
    for (const std::size_t position : non_dominated(values)) {
        front.push_back(feasible[position]);
    }
    EXPECT_EQ(played.front, front);
    EXPECT_GT(front.size(), 1U);
}

TEST(Auto, SaysWhy)
{
    const Noisy noisy;
    StudyGoal goal = noisy.goal();
    const auto why = make_strategy("auto", noisy.space, goal).why;
    ASSERT_TRUE(why);
    EXPECT_EQ(why->choice, ChoiceReason::all_bounded);
    EXPECT_EQ(why->tuples, 1617U);
    EXPECT_FALSE(why->of_space_part);
    EXPECT_FALSE(make_strategy("exact", noisy.space, goal).why);
    goal.bounded = {false, false};
    EXPECT_EQ(make_strategy("auto", noisy.space, goal).name, "racing");
    const Space large(unit_axes(12, 10), {});
    EXPECT_EQ(make_strategy("auto", large, goal).name, "nsga2");
    // 8^11 raw tuples, of which rules leave one in 4,096, or all but one in 8.
    const auto all_first = [](std::span<const int> leading) {
        return std::all_of(leading.begin(), leading.end(), [](int label) { return label == 0; });
    };
    const auto not_last = [](std::span<const int> leading) { return leading.back() != 7; };
    EXPECT_EQ(make_strategy("auto", Space(unit_axes(11, 8), {{"few", 4, all_first}}), goal).name, "racing");
    EXPECT_EQ(make_strategy("auto", Space(unit_axes(11, 8), {{"most", 4, not_last}}), goal).name, "nsga2");
    goal.objectives = 3;
    goal.bounded = {true, true, true};
    EXPECT_EQ(make_strategy("auto", large, goal).name, "nsga3");
    EXPECT_THROW(make_strategy("best", noisy.space, goal), std::invalid_argument);
}

TEST(Auto, GoesThroughASpacePart)
{
    const Space space{unit_axes(8, 16), {}};  // 2^32 raw tuples
    StudyGoal goal{.objectives = 2, .bounded = {true, true}};
    EXPECT_EQ(make_strategy("auto", space, goal).name, "nsga2");
    goal.space_parts = 3;
    const ChosenStrategy chosen = make_strategy("auto", space, goal);
    EXPECT_EQ(chosen.name, "exact");
    ASSERT_TRUE(chosen.why);
    EXPECT_TRUE(chosen.why->of_space_part);
    goal.bounded = {false, false};
    EXPECT_EQ(make_strategy("auto", space, goal).name, "racing");
}

}  // namespace
}  // namespace prismopt
