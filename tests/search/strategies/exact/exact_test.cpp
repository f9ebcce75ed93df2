#include "search/strategies/exact/exact.hpp"

#include "tests/search/strategies/exact/known_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Exact, FindsTheFrontOfZdt1WithFewEvaluations)
{
    const KnownProblem problem = zdt1(64);
    const ExactRun run = play(problem, exact_options(problem, 2));
    expect_proved(problem, run);
    EXPECT_LT(run.evaluated.size(), problem.feasible() / 6);
    EXPECT_GE(run.evaluated.size(), problem.unavoidable());
    // The first incumbents are chosen at the first rung, and new ones once the
    // candidates are three times as many.
    EXPECT_LE(run.evaluated.size(), problem.unavoidable() + 3 * exact_options(problem, 2).batches.most);
    EXPECT_EQ(run.outcome.feasible, 4096U);
    EXPECT_EQ(run.outcome.confidence, 0.95);
}

TEST(Exact, FindsTheFrontOfDtlz2WithFewEvaluations)
{
    KnownProblem problem = dtlz2_grid(20);
    problem.half_width = {0.1, 0.01, 0.001};
    problem.bound_share = 0.96;
    const ExactRun run = play(problem, exact_options(problem, 3));
    expect_proved(problem, run);
    std::size_t last_rung = 0;
    for (const auto& request : run.asked) {
        last_rung += request.second == 3 ? 1 : 0;
    }
    EXPECT_LT(last_rung, run.evaluated.size());
    EXPECT_LT(run.evaluated.size(), problem.feasible() / 8);
    EXPECT_GE(run.evaluated.size(), problem.unavoidable());
    EXPECT_LE(run.evaluated.size(), problem.unavoidable() + 3 * exact_options(problem, 3).batches.most);
}

TEST(Exact, PromotesOnlyWhatIsStillInTheRace)
{
    KnownProblem problem = zdt1(64);
    problem.half_width = {0.04, 0.02};  // limits of the first rung are closer than bounds
    const ExactRun run = play(problem, exact_options(problem, 2));
    std::size_t promoted = 0;
    for (const auto& request : run.asked) {
        promoted += request.second == 2 ? 1 : 0;
    }
    EXPECT_EQ(run.asked.size(), run.evaluated.size() + promoted);
    EXPECT_GE(promoted, run.front.size());
    EXPECT_LT(promoted, run.evaluated.size());
}

TEST(Exact, HandlesTiesAndDuplicates)
{
    for (unsigned seed = 0; seed < 30; ++seed) {
        const std::size_t objectives = 1 + seed % 4;
        KnownProblem problem = lattice(seed, 300, objectives);
        for (const bool noisy : {false, true}) {
            problem.half_width = noisy ? std::vector<double>{0.05, 0.01} : std::vector<double>{0.0, 0.0};
            problem.bound_share = noisy ? 0.97 : 1.0;
            const ExactRun run = play(problem, exact_options(problem, objectives));
            expect_proved(problem, run);
            EXPECT_LT(run.evaluated.size(), problem.feasible()) << "seed " << seed;
        }
    }
}

TEST(Exact, AsksTheSameHoweverTheAnswersAreBatched)
{
    KnownProblem problem = dtlz2_grid(12);
    problem.infinite_first_rung = true;
    ExactOptions chosen = exact_options(problem, 3);
    chosen.batches.most = 10;
    const ExactRun whole = play(problem, chosen);
    std::mt19937 random(3);
    const ExactRun single = play(problem, chosen, [](std::size_t) { return std::size_t{1}; });
    const ExactRun uneven =
        play(problem, chosen, [&](std::size_t outstanding) { return random() % (outstanding + 1); });
    for (const ExactRun& run : {single, uneven}) {
        EXPECT_EQ(run.asked, whole.asked);
        EXPECT_EQ(run.front, whole.front);
        EXPECT_EQ(run.outcome, whole.outcome);
    }
    for (const int ranges : {1, 7, 100000}) {
        chosen.sweeps.ranges = static_cast<std::uint64_t>(ranges);
        for (const int at_once : {1, 5, 100000}) {
            chosen.sweeps.at_once = static_cast<std::size_t>(at_once);
            EXPECT_EQ(play(problem, chosen).asked, whole.asked);
        }
    }
}

TEST(Exact, ProvesTheSameFrontHoweverFewBoundsAreKept)
{
    KnownProblem nothing_known = zdt1(20);
    nothing_known.infinite_first_rung = true;
    nothing_known.half_width = {0.02};
    for (const KnownProblem& problem : {zdt1(40), lattice(1, 500, 3), nothing_known}) {
        ExactOptions chosen = exact_options(problem, problem.truth.front().size());
        const ExactRun whole = play(problem, chosen);
        expect_proved(problem, whole);
        for (const std::uint64_t keep : {1, 7, 100}) {
            chosen.ranges = split_space(problem.truth.size(), 5);
            for (SweepRange& range : chosen.ranges) {
                range.keep = keep;
            }
            chosen.sweeps.kept_again = 5 * keep;
            const ExactRun run = play(problem, chosen);
            expect_proved(problem, run);
            EXPECT_EQ(play(problem, chosen, [](std::size_t) { return std::size_t{1}; }).asked, run.asked);
        }
    }
}

/// Brute force: the front of all points, whether the space is swept before or after incumbents have limits.
TEST(Exact, ProvesTheSameFrontIfItExploresFirst)
{
    bool some_unchecked = false;
    for (unsigned seed = 0; seed < 30; ++seed) {
        const std::size_t objectives = 1 + seed % 4;
        LabelledProblem labels = labelled(seed, objectives);
        KnownProblem& problem = labels.problem;
        problem.half_width = {0.05, 0.01};
        problem.bound_share = 0.97;
        ExactOptions chosen = exact_options(problem, objectives);
        chosen.explored = &labels.space;
        chosen.goal.seed = seed;
        const ExactRun run = play(problem, chosen);
        expect_proved(problem, run);
        EXPECT_LT(run.evaluated.size(), problem.feasible()) << "seed " << seed;
        const ExactRun single = play(problem, chosen, [](std::size_t) { return std::size_t{1}; });
        EXPECT_EQ(single.asked, run.asked);
        EXPECT_EQ(single.outcome, run.outcome);
        for (SweepRange& range : chosen.ranges = split_space(problem.truth.size(), 3)) {
            range.keep = 4;
        }
        chosen.sweeps.kept_again = 12;
        expect_proved(problem, play(problem, chosen));

        problem.first_bound_share = 0.95;
        chosen.ranges.clear();
        const ExactRun unchecked = play(problem, chosen);
        expect_proved(problem, unchecked);
        EXPECT_EQ(unchecked.asked, run.asked);
        EXPECT_EQ(run.outcome.unchecked, 0U);
        some_unchecked = some_unchecked || unchecked.outcome.unchecked > 0;
    }
    EXPECT_TRUE(some_unchecked);
}

/// The limits of the incumbents are in the sweep of the whole space, which
/// returns no point that they dominate.
TEST(Exact, SweepsWithLimitsAfterAnExploration)
{
    LabelledProblem labels = labelled(1, 2);
    KnownProblem& problem = labels.problem;
    problem.half_width = {0.02, 0.01};
    ExactOptions chosen = exact_options(problem, 2);
    chosen.explored = &labels.space;
    chosen.goal.region = [](std::uint64_t index) { return index % 3; };
    chosen.goal.near_objective = 1;
    chosen.sweeps.at_once = 20;
    Exact exact(chosen);
    std::map<std::uint64_t, double> best;  // by region, of the bounds explored
    std::uint64_t whole = 0;
    bool half_swept = false;
    while (const auto requests = exact.ask()) {
        std::vector<Answer> answers;
        for (const Request& request : *requests) {
            if (const auto* range = std::get_if<SweepRange>(&request)) {
                const Sweep sweep = problem.sweep(*range);
                const SweepPurpose purpose = exact.outcome().sweep->purpose;
                EXPECT_EQ(range->again, purpose != SweepPurpose::front);
                if (purpose == SweepPurpose::front) {
                    EXPECT_FALSE(range->limits.empty());
                    if (!half_swept) {
                        EXPECT_EQ(exact.outcome().open, 0U) << "nothing is known of the space before";
                    }
                    whole += range->end - range->begin;
                    EXPECT_EQ(range->near.objective, 1U);
                    std::map<std::uint64_t, double> known;
                    for (const RegionLimit& region : range->near.regions) {
                        known[region.region] = region.most / (1.0 + near_best);
                    }
                    for (const auto& [region, bound] : best) {
                        EXPECT_DOUBLE_EQ(known[region], bound);
                    }
                } else if (purpose == SweepPurpose::exploration) {
                    for (const Bound& bound : sweep.feasible) {
                        double& least = best.try_emplace(bound.index % 3, infinity).first->second;
                        least = std::min(least, bound.objectives[1]);
                    }
                }
                answers.emplace_back(sweep);
            } else {
                answers.emplace_back(problem.evaluate(std::get<PointRequest>(request)));
            }
        }
        std::span<const Answer> left = answers;
        if (whole > 0 && !half_swept) {
            half_swept = true;
            const auto first = left.first(left.size() / 2);
            std::uint64_t excluded = 0;
            std::uint64_t open = 0;
            for (const Answer& answer : first) {
                const auto& sweep = std::get<Sweep>(answer);
                excluded += sweep.excluded;
                open += sweep.feasible.size() + sweep.unreturned;
            }
            exact.tell(first);
            EXPECT_GT(excluded, 0U);
            EXPECT_EQ(exact.outcome().pruned, excluded);
            EXPECT_EQ(exact.outcome().open, open);
            left = left.subspan(first.size());
        }
        exact.tell(left);
    }
    EXPECT_EQ(whole, problem.truth.size());
    EXPECT_EQ(best.size(), 3U);
    EXPECT_TRUE(exact.outcome().proved);
}

TEST(Exact, WithTooFewEvaluationsWhatWasNotKeptStaysOpen)
{
    const KnownProblem problem = zdt1(40);
    ExactOptions chosen = exact_options(problem, 2);
    chosen.ranges = {{.begin = 0, .end = problem.truth.size(), .keep = 50}};
    chosen.goal.max_evaluations = 20;
    const ExactRun run = play(problem, chosen);
    EXPECT_EQ(run.evaluated.size(), 20U);
    EXPECT_FALSE(run.outcome.proved);
    EXPECT_EQ(run.outcome.end, SearchEnd::most_drawn);
    EXPECT_GE(run.outcome.open, problem.feasible() - 50);
}

TEST(Exact, WaitsForAnswersAndKeepsToTheBatch)
{
    const KnownProblem problem = zdt1(32);
    ExactOptions chosen = exact_options(problem, 2);
    chosen.sweeps.ranges = 3;
    chosen.batches.most = 5;
    chosen.incumbents.scouts = 7;
    Exact exact(chosen);
    const auto sweeps = exact.ask();
    ASSERT_TRUE(sweeps.has_value());
    ASSERT_EQ(sweeps->size(), 3U);
    std::uint64_t next = 0;
    for (const Request& request : *sweeps) {
        EXPECT_THAT(exact.ask(), testing::Optional(IsEmpty()));
        const auto range = std::get<SweepRange>(request);
        EXPECT_EQ(range.begin, next);
        next = range.end;
        exact.tell(std::vector<Answer>{problem.sweep(range)});
    }
    EXPECT_EQ(next, problem.truth.size());
    EXPECT_THAT(exact.ask(), testing::Optional(testing::SizeIs(7)));  // scouts
    EXPECT_THAT(exact.ask(), testing::Optional(IsEmpty()));
    EXPECT_EQ(exact.outcome().open, problem.feasible());
    EXPECT_FALSE(exact.outcome().proved);
    EXPECT_FALSE(exact.outcome().complete);
}

TEST(Exact, WithoutABoundInOneObjectiveEverythingIsLookedAt)
{
    const KnownProblem problem = zdt1(24);
    ExactOptions chosen = exact_options(problem, 2);
    chosen.goal.bounded[1] = false;
    const ExactRun run = play(problem, chosen);
    expect_proved(problem, run);
    EXPECT_EQ(run.evaluated.size(), problem.feasible());
    std::size_t promoted = 0;
    for (const auto& request : run.asked) {
        promoted += request.second == 2 ? 1 : 0;
    }
    EXPECT_LT(promoted, problem.feasible() / 2);
}

/// Looser bounds without limits cost no draws: what limits do not exclude by them is looked at again.
TEST(Exact, DrawsAsFewPointsIfBoundsAreTightWithLimitsOnly)
{
    for (const bool explores : {false, true}) {
        std::uint64_t fewer = 0;
        for (unsigned seed = 0; seed < 10; ++seed) {
            LabelledProblem labels = labelled(seed, 2);
            KnownProblem& problem = labels.problem;
            for (std::vector<double>& truth : problem.truth) {
                for (std::size_t k = 0; k < truth.size(); ++k) {
                    truth[k] += 0.01 * static_cast<double>((7 * seed + 3 * k) % 10);
                }
            }
            problem.bound_share = 0.99;
            problem.loose_share = 0.8;
            ExactOptions chosen = exact_options(problem, 2);
            chosen.incumbents.scouts = 4;
            if (explores) {
                chosen.explored = &labels.space;
            }
            const ExactRun run = play(problem, chosen);
            expect_proved(problem, run);
            problem.bound_share *= problem.loose_share;
            problem.loose_share = 1.0;
            const ExactRun loose = play(problem, chosen);
            expect_proved(problem, loose);
            EXPECT_LE(run.evaluated.size(), loose.evaluated.size());
            fewer += loose.evaluated.size() - run.evaluated.size();
        }
        EXPECT_GT(fewer, 100U) << explores;
    }
}

TEST(Exact, BoundsDoNotExcludeEachOther)
{
    // The bound of point 1 is dominated by that of point 0, but point 1 turns out better.
    Exact exact({.goal = {.objectives = 1, .top_rung = 1, .bounded = {true}},
                 .space_size = 2,
                 .incumbents = {.scouts = 1, .further_rounds = 0},
                 .batches = {.fewest = 1}});
    ASSERT_TRUE(exact.ask().has_value());
    exact.tell(std::vector<Answer>{Sweep{{0, 1}, {{0, {1.0}}}, {}}, Sweep{{1, 2}, {{1, {2.0}}}, {}}});
    for (const DrawSource source :
         {DrawSource{Purpose::scout}, DrawSource{Purpose::limits, 1}, DrawSource{}}) {
        if (source == DrawSource{}) {
            tell_tightened(exact, {{0, {1.0}}, {1, {2.0}}});
        }
        const auto first = exact.ask();
        ASSERT_TRUE(first.has_value());
        EXPECT_EQ(std::get<PointRequest>(first->at(0)).source, source);
        exact.tell(std::vector<Answer>{Evaluation{0, 1, 1, {Estimate::exact(9.0)}, source}});
    }
    const auto second = exact.ask();
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(std::get<PointRequest>(second->at(0)).index, 1U);
    exact.tell(std::vector<Answer>{Evaluation{1, 1, 1, {Estimate::exact(3.0)}}});
    EXPECT_FALSE(exact.ask().has_value());
    EXPECT_THAT(exact.front(), ElementsAre(1));
    EXPECT_TRUE(exact.outcome().proved);
}

/// Ranks share a batch: layers of a point each are asked for together.
TEST(Exact, AsksForSmallLayersTogether)
{
    Exact exact({.goal = {.objectives = 1, .top_rung = 1, .bounded = {true}},
                 .space_size = 3,
                 .incumbents = {.scouts = 1, .further_rounds = 0},
                 .batches = {.fewest = 2}});
    ASSERT_TRUE(exact.ask().has_value());
    exact.tell(std::vector<Answer>{Sweep{{0, 1}, {{0, {1.0}}}, {}}, Sweep{{1, 2}, {{1, {2.0}}}, {}},
                                   Sweep{{2, 3}, {{2, {3.0}}}, {}}});
    for (const DrawSource source : {DrawSource{Purpose::scout}, DrawSource{Purpose::limits, 1}}) {
        ASSERT_EQ(exact.ask()->size(), 1U);
        exact.tell(std::vector<Answer>{Evaluation{0, 1, 1, {Estimate::exact(9.0)}, source}});
    }
    tell_tightened(exact, {{0, {1.0}}, {1, {2.0}}, {2, {3.0}}});
    const auto first = exact.ask();
    ASSERT_EQ(first->size(), 2U);
    EXPECT_EQ(std::get<PointRequest>(first->at(0)).index, 0U);
    EXPECT_EQ(std::get<PointRequest>(first->at(1)).index, 1U);
}

TEST(Exact, SaysWhenNothingIsFeasible)
{
    KnownProblem problem;
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}}) {
        problem.truth.assign(size, {});
        const ExactRun run = play(problem, exact_options(problem, 2));
        EXPECT_THAT(run.front, IsEmpty());
        EXPECT_THAT(run.asked, IsEmpty());
        EXPECT_TRUE(run.outcome.proved);
        EXPECT_EQ(run.outcome.feasible, 0U);
    }
}

TEST(Exact, RefusesAnswersToSomethingElse)
{
    const KnownProblem problem = zdt1(4);
    ExactOptions chosen = exact_options(problem, 2);
    chosen.sweeps.ranges = 1;
    Exact exact(chosen);
    const auto tell = [&](const Answer& answer) {
        return [&exact, answer] { exact.tell(std::vector<Answer>{answer}); };
    };
    const auto out_of_order = ThrowsMessage<std::runtime_error>(HasSubstr("unexpected answer"));
    EXPECT_THAT(tell(problem.sweep({0, 16})), out_of_order);
    ASSERT_TRUE(exact.ask().has_value());
    EXPECT_THAT(tell(problem.sweep({0, 15})), out_of_order);
    EXPECT_THAT(tell(problem.evaluate(0, 1)), out_of_order);
    exact.tell(std::vector<Answer>{problem.sweep({0, 16})});
    const auto requests = exact.ask();
    ASSERT_TRUE(requests.has_value());
    const std::uint64_t first = std::get<PointRequest>(requests->at(0)).index;
    EXPECT_THAT(tell(problem.evaluate({.index = first, .rung = 2, .source = {Purpose::scout}})),
                out_of_order);
    EXPECT_THAT(tell(problem.evaluate({.index = first, .rung = 1, .source = {Purpose::limits, 1}})),
                out_of_order);
    Evaluation broken = problem.evaluate({.index = first, .rung = 1, .source = {Purpose::scout}});
    broken.objectives[1].value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(tell(broken), ThrowsMessage<std::runtime_error>(HasSubstr("objective 1 of point")));
    broken.objectives.pop_back();
    EXPECT_THAT(tell(broken), ThrowsMessage<std::runtime_error>(HasSubstr("1 objectives instead of 2")));
}

TEST(Exact, RefusesOptionsThatContradictEachOther)
{
    const auto make = [](const ExactOptions& options) { return [options] { Exact exact(options); }; };
    EXPECT_THAT(make({.goal = {.objectives = 2, .bounded = {true}}, .space_size = 4}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("1 entries for 2 objectives")));
    EXPECT_THAT(make({.goal = {.objectives = 0, .bounded = {}}}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("no objectives")));
    EXPECT_THAT(make({.goal = {.objectives = 1, .top_rung = 0, .bounded = {true}}}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("top rung 0")));
    EXPECT_THAT(make({.goal = {.objectives = 1, .bounded = {true}}, .sweeps = {.at_once = 0}}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("sweeps.at_once")));
    EXPECT_THAT(make({.goal = {.objectives = 1, .bounded = {true}}, .batches = {.most = 0}}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("batches.most")));
}

}  // namespace
}  // namespace prismopt
