#include "optimizer/study/plan_posterior.hpp"

#include "model/calibration/fit/goodness.hpp"
#include "model/network/network.hpp"
#include "model/run/loss_gap.hpp"
#include "optimizer/accuracy/possible_software.hpp"
#include "optimizer/accuracy/step_gradients.hpp"
#include "optimizer/api/scenarios.hpp"
#include "optimizer/loop/study.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/learning_error.hpp"
#include "optimizer/study/plan_facts.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace prismopt {
namespace {

class PlanPosteriorOfStudy : public testing::Test {
protected:
    PlanPosteriorOfStudy()
    {
        Communicator team;
        StudyOptions options;
        options.out = folder_.file("tiny.h5");
        options.posterior = false;
        results_ = run_study([this] { return std::optional(scenario_); }, team, options).results;
    }

    TemporaryFolder folder_;
    Scenario scenario_ =
        tiny_scenario("gpus = [4, 8]\ntp = [1, 2]\npp = [1, 2]\nmicrobatch = [1]\n",
                      "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }");
    StudyModel model_{scenario_};
    Results results_;
};

TEST_F(PlanPosteriorOfStudy, HasAnIntervalOfEachPlanThatFits)
{
    ASSERT_TRUE(results_.posterior.plans.empty());
    add_posterior(model_, results_);
    ASSERT_FALSE(results_.posterior.plans.empty());
    for (const PlanChance& plan : results_.posterior.plans) {
        EXPECT_LT(plan.low, plan.value);
        EXPECT_GT(plan.high, plan.value);
    }
}

/// Jobs without spare nodes wait for repairs, which no bound contains. Estimates and draws have the same
/// histories of failures (seed and purpose), so their ratio is that of the productive times, which is the
/// same with and without spares but for where failures fall.
TEST(PlanFacts, EstimatesKnowWhatARunWaitsForNodes)
{
    const Scenario scenario =
        changed(tiny_scenario("gpus = [8]\ntp = [1, 2]\npp = [1, 2]\nmicrobatch = [1, 2]\nspares = [0, 2]\n"),
                {{"objectives.minimise", "[\"training_time_mean\"]"},
                 {"reliability.node_failure_rate", "\"0 /day\""},
                 {"reliability.cause",
                  "[{ name = \"hardware\", rate = \"2 per node-day\", detection = \"1 min\", "
                  "restart = \"5 min\", repair = \"2 h\" }]"}});
    const StudyModel model(scenario);
    Predictor predictor(model.problem);
    FactsRequest request{FactsRequest::Kind::estimates, {}};
    for (std::uint64_t index = 0; index < model.designs.space().size(); ++index) {
        if (model.designs.space().allows_all(model.designs.space().point(index))) {
            request.points.push_back(index);
        }
    }
    const std::vector<PlanFacts> facts = facts_by_own_work(model, [] {})(request);
    struct Times {
        double estimated = 0.0;
        double drawn = 0.0;
        double standard_error = 0.0;  // of the drawn mean, relative
    };
    std::map<std::string, std::map<int, Times>> times;  // [plan][spares]
    const SamplerOptions sampler = model.sampler({Purpose::search});
    for (std::size_t i = 0; i < facts.size(); ++i) {
        ParallelPlan plan = model.designs.plan(model.designs.space().point(request.points[i]));
        const PhaseDraws draws = predictor.sample(plan, {0, 256, 2}, sampler);
        const std::vector<double> runs = predictor.training_times(plan, draws, 2, sampler);
        const double mean = mean_of(runs);
        const double deviation = std::sqrt(variance_of(runs) / static_cast<double>(runs.size()));
        const int spares = std::exchange(plan.spares, 0);
        times[design_text(plan)][spares] = {facts[i].estimates.front(), mean, deviation / mean};
    }
    ASSERT_FALSE(times.empty());
    for (const auto& [plan, by_spares] : times) {
        const Times& without = by_spares.at(0);
        const Times& with = by_spares.at(2);
        EXPECT_GT(without.drawn, 1.2 * with.drawn) << plan;  // a case where waiting matters
        EXPECT_GT(without.estimated, 1.2 * with.estimated) << plan;
        const double one_in_15000 = 4.0;
        EXPECT_NEAR((without.estimated / without.drawn) / (with.estimated / with.drawn), 1.0,
                    one_in_15000 * std::hypot(without.standard_error, with.standard_error))
            << plan;
        EXPECT_LT(with.estimated, with.drawn) << plan;  // noise makes steps longer on average
    }
}

/// Software that was not given is drawn once for all plans: its draws are those without that
/// doubt, times the ratio of the steps.
TEST_F(PlanPosteriorOfStudy, DrawsTheSoftwareOfAllPlansTogether)
{
    const PossibleSoftware same{scenario_.cluster.software, scenario_.cluster.stack,
                                scenario_.cluster.library, 0.75, "test"};
    PossibleSoftware slower = same;
    slower.stack.gemm = 0.5;
    slower.weight = 0.25;
    Scenario unsure = scenario_;
    unsure.cluster.possible = {same, slower};
    const StudyModel model(unsure);
    const PlanPosterior named(model_, results_);
    const PlanPosterior drawn(model, results_);
    Problem half_the_rate = model_.problem;
    half_the_rate.cluster.accelerator.efficiency.gemm *= 0.5;
    const auto log_step = [](const Problem& problem, const ParallelPlan& plan) {
        return log_noise_free_step(setting_of(problem, problem.phases.front()), plan).value();
    };
    ASSERT_EQ(named.contenders().size(), drawn.contenders().size());
    int slow_draws = 0;
    for (std::size_t i = 0; i < named.contenders().size(); ++i) {
        const std::vector<std::size_t> one{i};
        const JointDraws before = named.draws(one, 0, {});
        const JointDraws after = drawn.draws(one, 0, {});
        double ratio = 0.0;
        for (std::size_t d = 0; d < posterior_draws; ++d) {
            const bool slow = drawn_software(unsure.cluster.possible, d) == 1;
            slow_draws += slow ? 1 : 0;
            if (!std::isfinite(before.at(d, 0))) {
                continue;
            }
            const double longer = after.at(d, 0) / before.at(d, 0);
            if (slow && ratio == 0.0) {
                ratio = longer;
            }
            EXPECT_NEAR(longer, slow ? ratio : 1.0, 1e-9);
        }
        const Point point = model.designs.space().point(named.contenders()[i].index);
        const ParallelPlan plan = plan_in_phase(model.designs.plan(point), scenario_.phases.front());
        EXPECT_NEAR(std::log(ratio), log_step(half_the_rate, plan) - log_step(model_.problem, plan), 1e-9);
        EXPECT_GT(ratio, 1.0);
        EXPECT_EQ(named.fits(i), drawn.fits(i));
    }
    EXPECT_GT(slow_draws, 0);
}

/// A plan that the drawn software does not run is impossible in that draw; whether it fits
/// into memory is another question.
TEST_F(PlanPosteriorOfStudy, ExcludesPlansThatTheDrawnSoftwareDoesNotRun)
{
    const PossibleSoftware same{scenario_.cluster.software, scenario_.cluster.stack,
                                scenario_.cluster.library, 0.5, "test"};
    PossibleSoftware other = same;
    other.software.trainer = "torchtitan";  // has no learned positions and layer norms of this network
    Scenario unsure = scenario_;
    unsure.cluster.possible = {same, other};
    const StudyModel model(unsure);
    const PlanPosterior named(model_, results_);
    const PlanPosterior drawn(model, results_);
    for (std::size_t i = 0; i < named.contenders().size(); ++i) {
        const std::vector<std::size_t> one{i};
        const JointDraws before = named.draws(one, 0, {});
        const JointDraws after = drawn.draws(one, 0, {});
        for (std::size_t d = 0; d < posterior_draws; ++d) {
            const bool runs = drawn_software(unsure.cluster.possible, d) == 0;
            EXPECT_EQ(std::isfinite(after.at(d, 0)), runs && std::isfinite(before.at(d, 0)));
        }
        EXPECT_EQ(named.fits(i), drawn.fits(i));
    }
}

/// Training time of each contender in each draw with this error of the critical batch.
std::vector<std::vector<double>> trained_with(const std::string& factor, const Results& results,
                                              double& effect)
{
    const std::string learning =
        "[learning]\nphase = 1\nreference_batch = 4096\ncritical_batch = 20e3\nsource = \"a test\"\nfactor "
        "= " +
        factor + "\n";
    std::string text = results.study.scenario_text;
    text.insert(text.find("[space]"), learning);
    const Scenario scenario = parse_scenario(text, "tiny.toml");
    const StudyModel model(scenario);
    const PlanPosterior posterior(model, results);
    std::vector<std::vector<double>> by_plan;
    for (std::size_t i = 0; i < posterior.contenders().size(); ++i) {
        by_plan.push_back(posterior.draws(std::vector<std::size_t>{i}, 0, {}).values);
    }
    const double batch = 512.0 * scenario.phases.front().global_batch;
    effect = 4096.0 / (20e3 + 4096.0) - batch / (20e3 + batch);  // d log(tokens) / d log(critical batch)
    return by_plan;
}

/// Brute force of the delta method: the deviation of the logarithm is that of the
/// critical batch times its effect.
TEST_F(PlanPosteriorOfStudy, CarriesTheErrorOfTheCriticalBatch)
{
    const auto with_batch = [](std::string text, int batch) {
        const std::string old = "global_batch = 8\n";
        return text.replace(text.find(old), old.size(), "global_batch = " + std::to_string(batch) + "\n");
    };
    Results trained = results_;
    for (const int batch : {8, 32}) {
        trained.study.scenario_text = with_batch(results_.study.scenario_text, batch);
        double effect = 0.0;
        const auto certain = trained_with("1.000001", trained, effect);
        const auto uncertain = trained_with("1.2", trained, effect);
        ASSERT_FALSE(certain.empty());
        const double tokens_of_phase = 1e9 / 1.1e9;
        const double spread = std::log(1.2) / 1.96;
        for (std::size_t i = 0; i < certain.size(); ++i) {
            double squares = 0.0;
            std::size_t count = 0;
            for (std::size_t d = 0; d < certain[i].size(); ++d) {
                if (std::isfinite(certain[i][d])) {
                    squares += std::pow(std::log(uncertain[i][d] / certain[i][d]), 2);
                    ++count;
                }
            }
            const double deviation = std::sqrt(squares / static_cast<double>(count));
            EXPECT_NEAR(deviation, std::abs(effect) * spread * tokens_of_phase,
                        0.1 * std::abs(effect) * spread + 1e-9);
            EXPECT_EQ(deviation == 0.0, batch == 8) << "at the reference batch";
        }
    }
}

/// Each draw is longer by the tokens of its place in the interval; the places are even, and the
/// draws of step times are the same.
TEST_F(PlanPosteriorOfStudy, CarriesTheIntervalOfALossGap)
{
    const auto trained = [](const std::string& numerics) {
        std::string text = tiny_scenario("gpus = [8]\ntp = [1, 2]\n").text;
        text.insert(text.find("[space]") + 8, "precision = [\"bf16\", \"fp8\"]\n");
        const auto accelerator = text.find("accelerator = \"");
        text.replace(accelerator, text.find('\n', accelerator) - accelerator, "accelerator = \"h100-sxm\"");
        text.insert(text.find("[space]"),
                    "[numerics]\nloss_gap = [{ precision = \"fp8\", " + numerics + " }]\n");
        return parse_scenario(text, "gap.toml");
    };
    const Scenario interval = trained("low = 0.001, high = 0.003");
    const Scenario certain = trained("low = 0.002, high = 0.002");
    ASSERT_EQ(interval.variants.size(), 2U);
    for (const double longer : longer_by_learning(interval, interval.variants[0], posterior_draws)) {
        EXPECT_EQ(longer, 1.0) << "bf16 has no gap";
    }
    for (const double longer : longer_by_learning(certain, certain.variants[1], posterior_draws)) {
        EXPECT_NEAR(longer, 1.0, 1e-12);
    }
    std::vector<double> sorted = longer_by_learning(interval, interval.variants[1], posterior_draws);
    std::sort(sorted.begin(), sorted.end());
    const double parameters = parameters_of(network_of(interval.workload));
    const double tokens = interval.phases[0].tokens + interval.phases[1].tokens;
    const double expected = *tokens_despite_gap(parameters, tokens, 0.002);
    for (std::size_t d = 0; d < sorted.size(); ++d) {
        const double gap =
            0.001 + 0.002 * (static_cast<double>(d) + 0.5) / static_cast<double>(posterior_draws);
        EXPECT_NEAR(sorted[d], *tokens_despite_gap(parameters, tokens, gap) / expected, 1e-12);
    }
    TemporaryFolder folder;
    Communicator team;
    StudyOptions options;
    options.out = folder.file("gap.h5");
    options.posterior = false;
    const Results results = run_study([&] { return std::optional(certain); }, team, options).results;
    const StudyModel model_of_interval(interval);
    const StudyModel model_of_certain(certain);
    const PlanPosterior with(model_of_interval, results);
    const PlanPosterior without(model_of_certain, results);
    const std::vector<double> longer = longer_by_learning(interval, interval.variants[1], posterior_draws);
    std::size_t of_fp8 = 0;
    for (std::size_t i = 0; i < with.contenders().size(); ++i) {
        const bool fp8 = with.contenders()[i].variant == 1;
        const JointDraws some = with.draws(std::vector<std::size_t>{i}, 0, {});
        const JointDraws others = without.draws(std::vector<std::size_t>{i}, 0, {});
        for (std::size_t d = 0; d < posterior_draws; ++d) {
            EXPECT_NEAR(some.values[d], others.values[d] * (fp8 ? longer[d] : 1.0), 1e-9 * some.values[d]);
        }
        of_fp8 += fp8 ? 1 : 0;
    }
    EXPECT_GT(of_fp8, 0U);
}

TEST_F(PlanPosteriorOfStudy, StopsAtAnyPause)
{
    int pauses = 0;
    Results whole = results_;
    add_posterior(model_, whole, [&pauses] { ++pauses; });
    ASSERT_GT(pauses, 3);
    for (const int last : {1, pauses / 2, pauses}) {
        int count = 0;
        Results stopped = results_;
        EXPECT_THROW(add_posterior(model_, stopped,
                                   [&count, last] {
                                       if (++count == last) {
                                           throw Stopped("SIGTERM");
                                       }
                                   }),
                     Stopped);
    }
}

}  // namespace
}  // namespace prismopt
