#include "optimizer/study/evaluator.hpp"

#include "optimizer/parallel/stop.hpp"
#include "optimizer/parallel/work_item.hpp"
#include "optimizer/study/worker.hpp"
#include "search/near_bounds.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace prismopt {
namespace {

/// The study of a small space, whose tables are built once for all tests.
class EvaluatorTest : public testing::Test {
protected:
    static const Scenario& scenario()
    {
        static const Scenario tiny =
            tiny_scenario(R"(gpus = [4, 8]
tp = [1, 2]
pp = [1, 2]
schedule = ["1f1b", "gpipe"]
recompute = ["none", "full"]
)",
                          R"(rungs = [{ fleets = 64, steps = 2 }, { fleets = 192, steps = 2 }]
confirm = { fleets = 128, steps = 3 }
replicas_simulated = 2
)");
        return tiny;
    }
    static const StudyModel& model()
    {
        static const StudyModel built(scenario());
        return built;
    }
    static std::vector<std::uint64_t> feasible_points()
    {
        std::vector<std::uint64_t> points;
        for (const Bound& bound : Worker(model()).sweep({0, model().designs.space().size()}).feasible) {
            points.push_back(bound.index);
        }
        return points;
    }

    Communicator team_;
    std::function<bool()> stop_ = [] { return false; };
    WorkScheduler scheduler_{team_, Worker(model()), [this] { return stop_(); }};
    Evaluator evaluator_{model(), scheduler_, model().scenario.search.rungs};

    std::vector<Evaluation> ask(const std::vector<Request>& requests)
    {
        evaluator_.submit(requests);
        std::vector<Evaluation> evaluations;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            evaluations.push_back(std::get<Evaluation>(evaluator_.next()->answer));
        }
        return evaluations;
    }
};

Message bytes_of(const Evaluation& evaluation) { return encode(Answer{evaluation}); }

TEST_F(EvaluatorTest, ARungExtendsTheOneBelow)
{
    const std::vector<std::uint64_t> points = feasible_points();
    ASSERT_GE(points.size(), 8U);
    const std::uint64_t climbed = points[1];
    const std::uint64_t leaped = points[5];
    const Evaluation low = ask({PointRequest{climbed, 1}})[0];
    EXPECT_EQ(low.draws, 128U);
    const Evaluation high = ask({PointRequest{climbed, 2}})[0];
    EXPECT_EQ(high.draws, 384U);
    EXPECT_NE(low.objectives[0].value, high.objectives[0].value);
    EXPECT_EQ(evaluator_.draws_made(), 384U);  // the first 128 were kept
    ask({PointRequest{leaped, 2}});

    Evaluator fresh(model(), scheduler_, model().scenario.search.rungs);
    fresh.submit(std::vector<Request>{PointRequest{climbed, 2}});
    EXPECT_EQ(bytes_of(std::get<Evaluation>(fresh.next()->answer)), bytes_of(high));
}

/// Each answer is passed on once, as soon as it exists, even if earlier requests are still open.
TEST_F(EvaluatorTest, AnswersAreReportedWhenTheyArrive)
{
    const std::vector<std::uint64_t> points = feasible_points();
    const std::vector<Request> requests{PointRequest{points[1], 2}, PointRequest{points[4], 1},
                                        SweepRange{0, 4}};
    std::map<std::size_t, Answer> arrived;
    evaluator_.submit(requests, [&](std::size_t request, const FullAnswer& answer) {
        EXPECT_TRUE(arrived.emplace(request, answer.answer).second);
    });
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const Answer next = evaluator_.next()->answer;
        ASSERT_TRUE(arrived.contains(i));
        EXPECT_EQ(encode(arrived.at(i)), encode(next));
    }
    EXPECT_EQ(arrived.size(), requests.size());
}

/// Draws that were dropped are made again, and change nothing.
TEST_F(EvaluatorTest, AnswersDoNotDependOnWhatDrawsAreKept)
{
    const std::vector<std::uint64_t> points = feasible_points();
    const std::uint64_t of_one_point = 128 * sizeof(double) * model().problem.phases.size();
    Evaluator forgetful(model(), scheduler_, model().scenario.search.rungs, of_one_point);
    for (const int rung : {1, 2, 1}) {
        std::vector<Request> requests;
        for (const std::uint64_t point : {points[1], points[2], points[4]}) {
            requests.emplace_back(PointRequest{point, rung});
        }
        forgetful.submit(requests);
        for (const Evaluation& expected : ask(requests)) {
            EXPECT_EQ(bytes_of(std::get<Evaluation>(forgetful.next()->answer)), bytes_of(expected))
                << "rung " << rung;
        }
    }
    EXPECT_EQ(evaluator_.draws_made(), 3U * 384U);
    EXPECT_EQ(forgetful.draws_made(), 3U * 128U + 384U * 2U + 256U + 3U * 384U);
}

TEST_F(EvaluatorTest, AnswersDoNotDependOnTheOrderOfRequests)
{
    std::vector<Request> requests;
    for (const std::uint64_t point : feasible_points()) {
        requests.emplace_back(PointRequest{point, 1 + static_cast<int>(point % 2)});
    }
    const std::vector<Evaluation> forth = ask(requests);
    std::reverse(requests.begin(), requests.end());
    Evaluator fresh(model(), scheduler_, model().scenario.search.rungs);
    fresh.submit(requests);
    for (auto expected = forth.rbegin(); expected != forth.rend(); ++expected) {
        EXPECT_EQ(bytes_of(std::get<Evaluation>(fresh.next()->answer)), bytes_of(*expected))
            << expected->index;
    }
}

/// The same as one predictor says of all draws at once: neither the cut into items nor their merging shows.
TEST_F(EvaluatorTest, AgreesWithAPredictorAlone)
{
    const std::vector<std::uint64_t> points = feasible_points();
    Predictor predictor(model().problem);
    const auto expected = [&](std::uint64_t index, const Rung& rung, Purpose purpose) {
        const ParallelPlan plan = model().designs.plan(model().designs.space().point(index));
        const PhaseDraws draws =
            predictor.sample(plan, {0, rung.fleets, rung.steps}, model().sampler({purpose}));
        return predictor.summarise(plan, draws, rung.steps, model().sampler({purpose}), Confidence{});
    };
    const Evaluation evaluation = ask({PointRequest{points[2], 2}})[0];
    const Prediction searched = expected(points[2], scenario().search.rungs[1], Purpose::search);
    EXPECT_EQ(evaluation.objectives[0].value, searched.training.p99.value);
    EXPECT_EQ(evaluation.objectives[0].low, searched.training.p99.low);
    EXPECT_EQ(evaluation.objectives[1].value, searched.step.mean.value);
    EXPECT_EQ(evaluation.objectives[2].value, searched.memory.total().si);

    const std::vector<std::uint64_t> front{points[0], points[7]};
    const auto confirmed = evaluator_.confirm(front);
    ASSERT_TRUE(confirmed);
    ASSERT_EQ(confirmed->size(), 2U);
    for (std::size_t i = 0; i < front.size(); ++i) {
        const Prediction alone = expected(front[i], scenario().search.confirm, Purpose::confirm);
        EXPECT_EQ((*confirmed)[i].prediction.training.quantiles, alone.training.quantiles);
        EXPECT_EQ((*confirmed)[i].prediction.step.quantiles, alone.step.quantiles);
        EXPECT_EQ((*confirmed)[i].prediction.draws, 384U);
    }
}

TEST_F(EvaluatorTest, StopsBetweenPointsOfTheFront)
{
    const std::vector<std::uint64_t> points = feasible_points();
    int asked = 0;
    stop_ = [&asked] { return ++asked > 4; };  // before and behind each item
    EXPECT_FALSE(evaluator_.confirm(points));
    EXPECT_EQ(asked, 5);
    EXPECT_GE(evaluator_.draws_made(), 2U * 384U);
    EXPECT_LT(evaluator_.draws_made(), points.size() * 384U);  // points come in lots, but not all at once
}

TEST_F(EvaluatorTest, GivesUpASweep)
{
    int asked = 0;
    Worker worker(model(), [&asked] {
        if (++asked > 3) {
            throw Stopped("enough");
        }
    });
    EXPECT_THROW(worker.sweep({0, model().designs.space().size()}), Stopped);
    EXPECT_EQ(asked, 4);
}

TEST_F(EvaluatorTest, RangesOfASweepMakeTheWhole)
{
    const std::uint64_t size = model().designs.space().size();
    const Sweep whole = Worker(model()).sweep({0, size});
    std::vector<Bound> feasible;
    std::uint64_t rejected = 0;
    for (std::uint64_t begin = 0; begin < size; begin += 7) {
        evaluator_.submit(std::vector<Request>{SweepRange{begin, std::min(size, begin + 7)}});
        const auto sweep = std::get<Sweep>(evaluator_.next()->answer);
        feasible.insert(feasible.end(), sweep.feasible.begin(), sweep.feasible.end());
        for (const Rejected& reason : sweep.rejected) {
            rejected += reason.count;
        }
    }
    ASSERT_EQ(feasible.size(), whole.feasible.size());
    for (std::size_t i = 0; i < feasible.size(); ++i) {
        EXPECT_EQ(feasible[i].index, whole.feasible[i].index);
        EXPECT_EQ(feasible[i].objectives, whole.feasible[i].objectives);
    }
    EXPECT_EQ(feasible.size() + rejected, size);
}

/// Brute force: each plan swept alone, where it is the best of its number of GPUs.
TEST_F(EvaluatorTest, ASweepReturnsExcludedPlansNearTheBest)
{
    const std::size_t objective = model().near_objective.value();
    const std::vector<std::vector<double>> limits{
        std::vector<double>(model().objectives.size(), 0.0)};  // excludes all
    const NearRequest any{objective, {{0, 1.0}}};
    Worker worker(model());
    std::vector<NearBound> alone;
    std::map<std::uint64_t, double> best;
    for (const std::uint64_t index : feasible_points()) {
        const Sweep sweep = worker.sweep({.begin = index, .end = index + 1, .limits = limits, .near = any});
        ASSERT_EQ(sweep.near.size(), 1U);
        alone.push_back(sweep.near.front());
        const double bound = alone.back().bound.objectives[objective];
        EXPECT_EQ(alone.back().region, model().region(index));
        double& least = best.try_emplace(alone.back().region, bound).first->second;
        least = std::min(least, bound);
    }
    ASSERT_GT(best.size(), 1U);
    std::map<std::uint64_t, double> expected;
    for (const NearBound& near : alone) {
        const double bound = near.bound.objectives[objective];
        if (bound <= (1.0 + near_best) * best[near.region]) {
            expected[near.bound.index] = bound;
        }
    }
    EXPECT_LT(expected.size(), alone.size());

    SweepRange whole{.begin = 0, .end = model().designs.space().size(), .limits = limits, .near = any};
    const Sweep sweep = worker.sweep(whole);
    EXPECT_TRUE(sweep.feasible.empty());
    std::map<std::uint64_t, double> found;
    for (const NearBound& near : sweep.near) {
        found[near.bound.index] = near.bound.objectives[objective];
    }
    EXPECT_EQ(found, expected);
    whole.near = {};
    EXPECT_TRUE(worker.sweep(whole).near.empty()) << "where nobody asks for them";
}

/// A bound that lies above an estimate of a mean would exclude points wrongly.
TEST_F(EvaluatorTest, BoundsLieBelowWhatIsDrawn)
{
    for (const Bound& bound : Worker(model()).sweep({0, model().designs.space().size()}).feasible) {
        const Evaluation evaluation = ask({PointRequest{bound.index, 2}})[0];
        for (std::size_t k = 0; k < bound.objectives.size(); ++k) {
            EXPECT_LE(bound.objectives[k], evaluation.objectives[k].high)
                << bound.index << ", objective " << k;
        }
    }
}

TEST_F(EvaluatorTest, SafeLimitsWidenWithTheNumberOfPoints)
{
    const std::uint64_t point = feasible_points()[3];
    const auto mean_among = [&](std::uint64_t points) {
        evaluator_.compare_at_once(points);
        return ask({PointRequest{point, 2}})[0].objectives[1];
    };
    const Estimate few = mean_among(2);
    const Estimate many = mean_among(100'000);
    EXPECT_EQ(few.low, many.low);
    EXPECT_LT(many.simultaneous_low, few.simultaneous_low);
    EXPECT_LT(few.simultaneous_low, few.low);  // 2 points, 2 rungs, 3 objectives: 0.4 % instead of 5 %
    EXPECT_GT(many.simultaneous_high, few.simultaneous_high);
}

/// The distributions here have a slow mode of one GPU in a hundred: 192 fleets are too few for limits of the
/// mean at the level of many points.
TEST_F(EvaluatorTest, LimitsOfMeansNeedFleetsThatSeeTheSlowMode)
{
    const std::uint64_t point = feasible_points()[3];
    evaluator_.compare_at_once(100'000);
    const Estimate mean = ask({PointRequest{point, 2}})[0].objectives[1];
    EXPECT_EQ(mean.simultaneous_high, std::numeric_limits<double>::infinity());
    EXPECT_LT(mean.high, std::numeric_limits<double>::infinity());
    // A check of an incumbent has four times the fleets of the one before, and fails more often.
    const PointRequest check{point, 5, {Purpose::limits, 1}, 0.01};
    EXPECT_EQ(fleets_of(check, scenario().search.rungs), 64 * 192);
    const Estimate limited = ask({check})[0].objectives[1];
    EXPECT_LT(limited.simultaneous_high, std::numeric_limits<double>::infinity());
    EXPECT_GT(limited.simultaneous_high, limited.value);
}

/// Rounds of limits share no draws with each other, nor with the search.
TEST_F(EvaluatorTest, SourcesHaveDrawsOfTheirOwn)
{
    const std::uint64_t point = feasible_points()[3];
    std::set<double> values;
    const std::vector<DrawSource> sources{{}, {Purpose::scout}, {Purpose::limits, 1}, {Purpose::limits, 2}};
    for (const DrawSource& source : sources) {
        const Evaluation seen = ask({PointRequest{point, 1, source}})[0];
        EXPECT_EQ(seen.source, source);
        values.insert(seen.objectives[0].value);
        values.insert(seen.objectives[1].value);
    }
    EXPECT_EQ(values.size(), 2 * sources.size());
}

}  // namespace
}  // namespace prismopt
