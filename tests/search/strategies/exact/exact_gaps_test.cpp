#include "search/strategies/exact/exact.hpp"

#include "tests/search/strategies/exact/known_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace prismopt {
namespace {

using testing::IsEmpty;

/// The bound of the gap is never above the best value, and the limit never below, at any time of a search.
TEST(Exact, GapsContainTheBestValues)
{
    KnownProblem problem = zdt1(32);
    problem.bound_share = 0.9;
    Exact exact(exact_options(problem, 2));
    double best = infinity;
    for (const std::vector<double>& truth : problem.truth) {
        best = std::min(best, truth[1]);
    }
    double before = 1.0;
    while (const auto requests = exact.ask()) {
        exact.tell(problem.answers(*requests));
        const std::vector<Gap> gaps = exact.outcome().gaps;
        if (gaps.empty()) {
            continue;
        }
        EXPECT_LE(gaps[1].bound, best);
        EXPECT_GE(gaps[1].limit, best);
        EXPECT_LE(gaps[1].relative(), before + 0.05);
        before = std::min(before, gaps[1].relative());
    }
    EXPECT_GT(before, 0.0);
    EXPECT_LT(before, 0.05);
}

/// After an exploration, gaps are known before the space is swept for the front: by a sweep for better points
/// than the incumbents, whose best points become incumbents, too.
TEST(Exact, KnowsTheGapsOfAnExploredSpaceBeforeItsFront)
{
    bool some_better = false;
    for (unsigned seed = 0; seed < 30; ++seed) {
        const std::size_t objectives = 1 + seed % 4;
        LabelledProblem labels = labelled(seed, objectives);
        KnownProblem& problem = labels.problem;
        std::vector<double> best(objectives, infinity);
        for (const std::vector<double>& truth : problem.truth) {
            for (std::size_t k = 0; k < truth.size(); ++k) {
                best[k] = std::min(best[k], truth[k]);
            }
        }
        problem.half_width = {0.02, 0.004};
        problem.bound_share = 0.999;
        ExactOptions chosen = exact_options(problem, objectives);
        chosen.explored = &labels.space;
        chosen.goal.seed = seed;
        chosen.gaps.kept = 1;        // of each range
        chosen.gaps.incumbents = 2;  // so that not all of the best are incumbents before
        chosen.gaps.sought = 0.002;
        Exact exact(chosen);
        bool swept_for_better = false;
        bool scouted = false;
        bool swept_for_the_front = false;
        while (const auto requests = exact.ask()) {
            const Outcome now = exact.outcome();
            const bool for_the_front = now.sweep && now.sweep->purpose == SweepPurpose::front;
            if (for_the_front && !swept_for_the_front) {
                swept_for_the_front = true;
                ASSERT_EQ(now.gaps.size(), objectives);
                for (const Gap& gap : now.gaps) {
                    EXPECT_LE(gap.relative(), chosen.gaps.sought + 0.005);
                }
            }
            swept_for_better = swept_for_better || (now.sweep && now.sweep->purpose == SweepPurpose::better);
            for (std::size_t k = 0; k < now.gaps.size(); ++k) {
                EXPECT_LE(now.gaps[k].bound, best[k]);
                EXPECT_GE(now.gaps[k].limit, best[k]);
            }
            for (const Request& request : *requests) {
                const auto* point = std::get_if<PointRequest>(&request);
                if (point == nullptr) {
                    continue;
                }
                scouted = scouted || point->source.purpose == Purpose::scout;
                some_better =
                    some_better || (swept_for_better && !scouted && point->source.purpose == Purpose::limits);
            }
            exact.tell(problem.answers(*requests));
        }
        EXPECT_TRUE(swept_for_the_front);
        EXPECT_EQ(exact.front(), problem.front());
    }
    EXPECT_TRUE(some_better);
}

/// Draws that never give an upper limit leave the gaps unknown, and the front is proved all the same.
TEST(Exact, ProvesTheFrontOfAnExploredSpaceWithoutLimits)
{
    LabelledProblem labels = labelled(3, 2);
    KnownProblem& problem = labels.problem;
    problem.half_width = {0.02};
    problem.infinite_first_rung = true;
    ExactOptions chosen = exact_options(problem, 2);
    chosen.explored = &labels.space;
    const ExactRun run = play(problem, chosen);
    expect_proved(problem, run);
    EXPECT_THAT(run.outcome.gaps, IsEmpty());
    EXPECT_EQ(run.evaluated.size(), problem.feasible());
}

/// A gap that the last rung leaves open is closed by rounds with more draws.
TEST(Exact, DrawsMoreWhileAGapIsLargerThanSought)
{
    LabelledProblem labels = labelled(2, 1);
    KnownProblem& problem = labels.problem;
    for (std::size_t index = 0; index < problem.truth.size(); ++index) {
        if (!problem.truth[index].empty()) {
            problem.truth[index][0] = 10.0 + 0.02 * static_cast<double>(index);
        }
    }
    problem.half_width = {0.2, 0.04, 0.016, 0.001};
    problem.bound_share = 0.96;
    ExactOptions chosen = exact_options(problem, 1);
    chosen.goal.top_rung = 2;
    chosen.explored = &labels.space;
    for (const std::size_t rounds : {std::size_t{0}, std::size_t{2}}) {
        chosen.gaps.rounds = rounds;
        Exact exact(chosen);
        std::set<int> rungs;
        double gap = 1.0;
        while (const auto requests = exact.ask()) {
            const Outcome now = exact.outcome();
            if (now.sweep && now.sweep->purpose == SweepPurpose::front) {
                gap = now.gaps.at(0).relative();
                break;
            }
            for (const Request& request : *requests) {
                const auto* point = std::get_if<PointRequest>(&request);
                if (point == nullptr) {
                    continue;
                }
                if (point->source.purpose == Purpose::limits) {
                    rungs.insert(point->rung);
                }
            }
            exact.tell(problem.answers(*requests));
        }
        EXPECT_THAT(rungs, rounds == 0 ? std::set<int>{2} : std::set<int>({2, 3, 4}));
        EXPECT_EQ(gap <= chosen.gaps.sought, rounds == 2) << gap;
    }
}

/// After a sample of the ranges, fewer points count as near the best of their region.
TEST(Exact, NarrowsWhatIsNearAfterASampleOfTheRanges)
{
    constexpr std::size_t labels = 80;  // so many that few points are explored
    std::vector<Axis> axes{{"a", true, {}}, {"b", true, {}}, {"c", true, {}}};
    for (Axis& axis : axes) {
        for (std::size_t label = 1; label <= labels; ++label) {
            axis.labels.push_back(std::to_string(label));
        }
    }
    const Space space(axes, {});
    KnownProblem problem;
    std::mt19937 random(1);
    for (std::size_t p = 0; p < labels * labels * labels; ++p) {
        problem.truth.push_back({10.0 + 1e-9 * static_cast<double>(random())});
    }
    problem.half_width = {0.01, 0.001};
    ExactOptions chosen = exact_options(problem, 1);
    chosen.explored = &space;
    chosen.goal.region = [](std::uint64_t index) { return index % 2; };
    Exact exact(chosen);
    std::vector<SweepRange> ranges;
    while (ranges.size() < 64) {
        const auto requests = exact.ask();
        ASSERT_TRUE(requests.has_value());
        std::vector<Answer> answers;
        for (const Request& request : *requests) {
            const auto* range = std::get_if<SweepRange>(&request);
            if (range == nullptr) {
                answers.emplace_back(problem.evaluate(std::get<PointRequest>(request)));
                continue;
            }
            Sweep sweep = problem.sweep(*range);
            if (!range->again) {
                ranges.push_back(*range);
                NearBounds near(range->near);
                for (std::uint64_t index = range->begin; index < range->end; ++index) {
                    if (problem.truth[index].empty()) {
                        continue;
                    }
                    near.add({chosen.goal.region(index),
                              {index, {problem.bound_share * problem.truth[index][0]}}});
                }
                sweep.near = near.best();
            }
            answers.emplace_back(std::move(sweep));
        }
        exact.tell(answers);
    }
    std::set<std::uint64_t> begins;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        begins.insert(ranges[i].begin);
        ASSERT_EQ(ranges[i].near.regions.size(), 2U);
        for (const RegionLimit& limit : ranges[i].near.regions) {
            const double first = ranges.front().near.regions[limit.region].most;
            EXPECT_EQ(limit.most < first, i >= 8) << i;
        }
    }
    EXPECT_EQ(begins.size(), 64U);
}

}  // namespace
}  // namespace prismopt
