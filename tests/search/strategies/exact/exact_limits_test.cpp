#include "search/strategies/exact/exact.hpp"

#include "model/base/root.hpp"
#include "tests/search/strategies/exact/known_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>
#include <vector>

namespace prismopt {
namespace {

TEST(Exact, InfiniteLimitsExcludeNothingUntilTheNextRung)
{
    KnownProblem problem = zdt1(48);
    problem.infinite_first_rung = true;
    const ExactRun run = play(problem, exact_options(problem, 2));
    expect_proved(problem, run);
    EXPECT_LT(run.evaluated.size(), problem.feasible() / 5);

    // Without finite limits at any rung nothing may go.
    problem.half_width = {0.02};
    const ExactRun blind = play(problem, exact_options(problem, 2));
    expect_proved(problem, blind);
    EXPECT_EQ(blind.evaluated.size(), problem.feasible());
}

/// Incumbents are fixed before their draws, each round has draws of its own, and all that may fail
/// sums to the error of the study.
class ErrorOfExact : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Explored, ErrorOfExact, testing::Bool());

TEST_P(ErrorOfExact, IsSpentOnceOverAllLimits)
{
    const LabelledProblem labels = labelled(1, 2);
    KnownProblem problem = GetParam() ? labels.problem : zdt1(48);
    problem.infinite_first_rung = !GetParam();
    ExactOptions chosen = exact_options(problem, 2);
    if (GetParam()) {
        chosen.explored = &labels.space;
    }
    Exact exact(chosen);
    double of_rounds = 0.0;
    double of_challengers = 0.0;
    int rounds = 0;
    std::set<std::uint64_t> challengers;
    while (const auto requests = exact.ask()) {
        for (const Request& request : *requests) {
            const auto* point = std::get_if<PointRequest>(&request);
            if (point == nullptr) {
                continue;
            }
            const double miss = 2.0 * point->miss;  // of both objectives
            EXPECT_EQ(point->miss > 0.0, point->source.purpose != Purpose::scout);
            if (point->source.purpose == Purpose::limits) {
                of_rounds += 2.0 * miss;  // and of its lower limit
                EXPECT_GE(point->source.round, rounds);
                rounds = point->source.round;
            } else if (point->source.purpose == Purpose::search && point->rung < problem.top_rung()) {
                EXPECT_TRUE(challengers.insert(point->index).second);
                of_challengers += miss;
            }
        }
        exact.tell(problem.answers(*requests));
    }
    EXPECT_GT(rounds, 1);
    EXPECT_GT(of_rounds, 0.0);
    EXPECT_LE(of_rounds, 0.025);
    EXPECT_GT(of_challengers, 0.0);
    EXPECT_LE(of_challengers, 0.025 * (1.0 + 1e-12));
}

/// If many points remain, the best of them become incumbents before any is drawn to be compared.
TEST(Exact, ChoosesMoreIncumbentsBeforePointsAreCompared)
{
    for (const std::size_t rounds : {0, 1, 2}) {
        KnownProblem problem;
        for (int i = 0; i < 400; ++i) {
            problem.truth.push_back({10.0 + 0.01 * (i * 7 % 400)});
        }
        problem.bound_share = 0.9;
        ExactOptions chosen = exact_options(problem, 1);
        chosen.incumbents.scouts = 3;
        chosen.incumbents.further_rounds = rounds;
        Exact exact(chosen);
        int limits_before = 0;
        bool compared = false;
        while (const auto requests = exact.ask()) {
            for (const Request& request : *requests) {
                const auto* point = std::get_if<PointRequest>(&request);
                if (point == nullptr) {
                    continue;
                }
                if (point->source.purpose == Purpose::limits && !compared) {
                    limits_before = point->source.round;
                    EXPECT_EQ(point->rung, problem.top_rung() + std::max(0, limits_before - 2));
                }
                compared = compared || point->source.purpose == Purpose::search;
            }
            exact.tell(problem.answers(*requests));
        }
        EXPECT_EQ(limits_before, static_cast<int>(1 + rounds));
        EXPECT_EQ(exact.front(), problem.front());
        EXPECT_TRUE(exact.outcome().proved);
        for (const Gap& gap : exact.outcome().gaps) {
            EXPECT_LE(gap.bound, gap.limit);
        }
    }
}

/// Of two kinds of points, the few have limits as far from their values as the many, and get no closer ones.
TEST(Exact, DrawsCloserLimitsOnlyWhereManyPointsRemain)
{
    KnownProblem problem;
    problem.bound_share = 0.9;
    constexpr std::uint64_t many = 40;
    for (std::uint64_t i = 0; i < many; ++i) {
        problem.truth.push_back({10.0 + 0.01 * static_cast<double>(i), 1.0});
    }
    for (int i = 0; i < 5; ++i) {
        problem.truth.push_back({5.0 + 0.01 * i, 2.0});
    }
    ExactOptions chosen = exact_options(problem, 2);
    chosen.incumbents.scouts = 3;
    Exact exact(chosen);
    std::set<std::uint64_t> closer;
    std::set<std::uint64_t> with_limits;
    bool compared = false;
    while (const auto requests = exact.ask()) {
        for (const Request& request : *requests) {
            const auto* point = std::get_if<PointRequest>(&request);
            compared = compared || (point != nullptr && point->source.purpose == Purpose::search);
            if (point == nullptr || compared || point->source.purpose != Purpose::limits) {
                continue;
            }
            (point->rung > problem.top_rung() ? closer : with_limits).insert(point->index);
        }
        exact.tell(problem.answers(*requests));
    }
    EXPECT_GE(*with_limits.rbegin(), many) << "one of the few has limits";
    ASSERT_FALSE(closer.empty());
    EXPECT_LT(*closer.rbegin(), many);
    EXPECT_EQ(exact.front(), problem.front());
}

/// Points whose estimates are normal, with limits exactly as wide as their probability of failure asks for.
struct NormalProblem {
    std::vector<double> truth;
    unsigned seed = 0;

    /// Draws are shared by all points of a source, as in a study, and each point has some of its own.
    Evaluation evaluate(const PointRequest& request) const
    {
        const double deviation = std::pow(0.5, request.rung);
        const auto normal = [&](std::uint64_t whose) {
            std::seed_seq key{std::uint64_t{seed}, static_cast<std::uint64_t>(request.source.purpose),
                              static_cast<std::uint64_t>(request.source.round),
                              static_cast<std::uint64_t>(request.rung), whose};
            std::mt19937 random(key);
            return std::normal_distribution<double>()(random);
        };
        constexpr std::uint64_t shared = 1'000'000;
        const double value =
            truth[request.index] + deviation * (0.8 * normal(shared) + 0.6 * normal(request.index));
        const double miss = request.miss > 0.0 ? request.miss : 0.025;
        const auto is_below_quantile = [miss](double z) {
            return 0.5 * std::erfc(z / std::numbers::sqrt2) > miss;
        };
        const double width = deviation * bisect({0.0, 10.0}, {.halvings = 60}, is_below_quantile).high;
        const Estimate estimate{value, value - width, value + width, value - width, value + width};
        return {request.index, request.rung, 1, {estimate}, request.source};
    }
};

/// At 95 % confidence the best point is excluded in at most 16 of 200 studies: more have a probability of 2 %
/// where each study fails with one of 5 % (binomial).
TEST(Exact, ExcludesTheBestPointNoMoreOftenThanStated)
{
    int wrong = 0;
    std::uint64_t drawn = 0;
    constexpr std::size_t points = 400;
    constexpr unsigned studies = 200;
    for (unsigned seed = 0; seed < studies; ++seed) {
        NormalProblem problem{{}, seed};
        std::mt19937 random(seed);
        for (std::size_t p = 0; p < points; ++p) {
            problem.truth.push_back(10.0 + 0.02 * static_cast<double>(random() % 400));
        }
        const auto best =
            std::min_element(problem.truth.begin(), problem.truth.end()) - problem.truth.begin();
        Exact exact({.goal = {.objectives = 1, .top_rung = 3, .bounded = {true}}, .space_size = points});
        std::set<std::uint64_t> at_the_top;
        while (const auto requests = exact.ask()) {
            std::vector<Answer> answers;
            for (const Request& request : *requests) {
                if (const auto* range = std::get_if<SweepRange>(&request)) {
                    Sweep& sweep =
                        std::get<Sweep>(answers.emplace_back(Sweep{{range->begin, range->end}, {}, {}}));
                    for (std::uint64_t p = range->begin; p < range->end; ++p) {
                        sweep.feasible.push_back({p, {problem.truth[p] - 1.0}});
                    }
                    continue;
                }
                const auto& point = std::get<PointRequest>(request);
                answers.emplace_back(problem.evaluate(point));
                if (point.source.purpose == Purpose::search && point.rung == 3) {
                    at_the_top.insert(point.index);
                }
            }
            exact.tell(answers);
        }
        EXPECT_EQ(exact.outcome().open, 0U);
        wrong += at_the_top.contains(static_cast<std::uint64_t>(best)) ? 0 : 1;
        drawn += at_the_top.size();
    }
    EXPECT_LE(wrong, 16);
    EXPECT_LT(drawn, studies * points / 2);  // and limits do exclude
}

/// Point 0 has the best bound and by far the worst value; point 1 is the best. Its limits are worth their
/// draws if ten others, point 0 among them, are still in the race.
TEST(Exact, OpensARoundForALeaderWithManyRivals)
{
    for (const std::uint64_t rivals : {9, 10, 30}) {
        const std::uint64_t points = 1 + rivals;
        Exact exact({.goal = {.objectives = 1, .top_rung = 2, .bounded = {true}},
                     .space_size = points,
                     .incumbents = {.scouts = 1, .further_rounds = 0}});
        std::set<std::uint64_t> with_limits;
        while (const auto requests = exact.ask()) {
            std::vector<Answer> answers;
            for (const Request& request : *requests) {
                if (const auto* range = std::get_if<SweepRange>(&request)) {
                    Sweep sweep;
                    sweep.range = *range;
                    for (std::uint64_t i = range->begin; i < range->end; ++i) {
                        sweep.feasible.push_back({i, {1.0 + 0.001 * static_cast<double>(i)}});
                    }
                    answers.emplace_back(std::move(sweep));
                    continue;
                }
                const auto& point = std::get<PointRequest>(request);
                const double value = point.index == 0 ? 50.0 : 5.0 + 0.01 * static_cast<double>(point.index);
                const double width = point.rung == 1 ? 0.2 : 0.02;
                const Estimate estimate{value, value, value, (1.0 - width) * value, (1.0 + width) * value};
                answers.emplace_back(Evaluation{point.index, point.rung, 100, {estimate}, point.source});
                if (point.source.purpose != Purpose::limits) {
                    continue;
                }
                with_limits.insert(point.index);
                EXPECT_EQ(point.rung, point.index == 0 ? 2 : 3);
            }
            exact.tell(answers);
        }
        EXPECT_THAT(with_limits, rivals < 10 ? std::set<std::uint64_t>{0} : std::set<std::uint64_t>({0, 1}));
        EXPECT_EQ(exact.front(), std::vector<std::uint64_t>{1});
        EXPECT_TRUE(exact.outcome().proved);
    }
}

/// A limit that is infinite at the first check is checked again with four times the draws.
TEST(Exact, ChecksInfiniteLimitsAgain)
{
    Exact exact({.goal = {.objectives = 1, .top_rung = 2, .bounded = {true}}, .space_size = 1});
    ASSERT_TRUE(exact.ask().has_value());
    exact.tell(std::vector<Answer>{Sweep{{0, 1}, {{0, {1.0}}}, {}}});
    ASSERT_TRUE(exact.ask().has_value());
    const DrawSource scout{Purpose::scout};
    exact.tell(std::vector<Answer>{Evaluation{0, 1, 1, {Estimate::exact(9.0)}, scout}});
    const DrawSource limits{Purpose::limits, 1};
    double before = 1.0;
    for (const int rung : {2, 3, 4}) {
        const auto check = exact.ask();
        ASSERT_EQ(check->size(), 1U);
        const auto& request = std::get<PointRequest>(check->at(0));
        EXPECT_EQ(request.source, limits);
        EXPECT_EQ(request.rung, rung);
        EXPECT_LT(request.miss, before);
        before = request.miss;
        const Estimate unlimited{9.0, 8.0, 10.0, 8.0, rung < 4 ? infinity : 10.0};
        exact.tell(std::vector<Answer>{Evaluation{0, rung, 1, {unlimited}, limits}});
    }
    tell_tightened(exact, {{0, {1.0}}});
    EXPECT_EQ(std::get<PointRequest>(exact.ask()->at(0)).source, DrawSource{});
}

TEST(Exact, ReportsABoundThatIsNone)
{
    KnownProblem problem = zdt1(16);
    problem.half_width = {0.0};
    problem.bound_share = 1.25;  // above every true value by a quarter
    const ExactRun run = play(problem, exact_options(problem, 2));
    EXPECT_FALSE(run.outcome.proved);
    EXPECT_EQ(run.outcome.open, 0U);
    EXPECT_TRUE(run.outcome.complete);
    ASSERT_TRUE(run.outcome.violation.has_value());
    EXPECT_NEAR(run.outcome.violation->relative, 0.2, 1e-12);

    problem.bound_share = 1.0 + 1e-15;  // rounding is no violation
    EXPECT_TRUE(play(problem, exact_options(problem, 2)).outcome.proved);
}

}  // namespace
}  // namespace prismopt
