#include "io/report/report.hpp"

#include "io/report/front/plan_words.hpp"
#include "io/report/legs_text.hpp"
#include "io/report/space_counts.hpp"

#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <limits>
#include <sstream>

namespace prismopt {

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The sample without its axis of labels that need quotes and more than one byte a character.
Results plain()
{
    Results results = sample_results();
    results.axes.pop_back();
    for (FrontPoint& point : results.front) {
        point.point.pop_back();
        point.measured_step_s = std::nan("");
        point.software_low = point.software_high = 1.0;
    }
    results.study.seed = 7;
    return results;
}

std::vector<std::string> lines(const std::string& text)
{
    std::vector<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        all.push_back(line);
    }
    return all;
}

TEST(TextReport, ReportsTheWholeStudy)
{
    EXPECT_EQ(text_report(plain()),
              R"(Study sample: front of 2 points, minimising training_time_p99, gpus
Quantiles are taken over this cluster (the speed of each node is given).

Best training time p99: point 30 on 16384 GPUs
  training time   p50 55.3 days, p90 58.9 days, p99 61.9 days, with the model error
                  p50 55.2 days, p90 57.5 days, p99 58.4 days, assuming the model is exact
  cost            123.4 M USD (electricity 4.1 M USD); energy 2.50 GWh
  power           20.4 MW to provision, 19.9 MW on average; whole cluster 21.5 MW
  sampling error  p99 57.4 to 59.4 days (95 % confidence interval, assuming the model is exact)
  model error     p99 53.7 to 63.1 days, cost 114 to 133 M USD (95 % prediction interval from the fit to measured runs)

point   GPUs  plan                                      p99 training time   cost  step p50/p99     mem               MFU  ETTR
                                                              days (95 %)  M USD             s  free %  % of 989 TFLOP/s     %
   30  16384  tp 8 pp 16 dp 128 v 4 mb 1 interleaved  58.4 (57.4 to 59.4)  123.4   10.21/11.43    12.4              41.3  90.5
  *21  16384  tp 4 pp 16 dp 256 v 4 mb 1 interleaved  60.2 (59.2 to 61.2)  123.4   10.21/11.43    12.4              41.3  90.5
* dominated by another point: kept because the first estimates selected it, or as the best plan of its cluster.
Constants: with what was learned from earlier, 2025-01-01T00:00:00Z (digest 0123456789abcdef).

Space: 32 combinations of values: 3 feasible plans (9.4 %), 29 infeasible (90.6 %); infeasible:
  28  87.5 %  out of memory
   1   3.1 %  dp does not divide the batch

Search: proved complete
  strategy exact; 2 points evaluated, 1 excluded by their lower bounds, 0 open; 2176 step draws, 16384 more to confirm the front
  seed 7, prismopt 0.1.0 (0123abc), 2025-01-02T03:04:05Z, job 42
)");
}

TEST(TextReport, SaysByHowMuchTheNearestMissesWhenNothingIsFeasible)
{
    Results results = plain();
    results.front.clear();
    results.evaluations.clear();
    results.feasible = 0;
    results.study.held = {1};
    results.study.space_parts = 1;
    results.rejected.push_back(Rejected{.reason = "too few layers", .count = 3, .miss = 2.0, .nearest = ""});
    results.study.outcome = {};
    results.study.outcome_text = "nothing to search";
    results.study.job_id = "";
    EXPECT_EQ(text_report(results), R"(Study sample: front of 0 points, minimising training_time_p99, gpus
Quantiles are taken over this cluster (the speed of each node is given).

The front is empty: no plan was evaluated completely.

Space: 32 combinations of values: 0 feasible plans (0.0 %), 32 infeasible (100.0 %); infeasible:
  28  87.5 %  out of memory
   1   3.1 %  dp does not divide the batch
   3   9.4 %  too few layers
No plan is feasible. The nearest miss by reason:
  out of memory: stage 0 needs 81.5 GB, 80.0 GB present
  too few layers: by 2

Search: nothing to search
  strategy exact; 0 points evaluated, 0 excluded by their lower bounds, 0 open; 0 step draws, 0 more to confirm the front
  seed 7, prismopt 0.1.0 (0123abc), 2025-01-02T03:04:05Z
)");
}

TEST(TextReport, DistinguishesTiesFromPlansThatAreBetter)
{
    Results results = plain();
    EXPECT_THAT(text_report(results), Not(HasSubstr("Ties")));
    FrontPoint third = results.front[0];
    third.index = 22;
    third.prediction.memory_headroom = 0.2;  // not minimised
    results.front.push_back(third);
    EXPECT_THAT(text_report(results),
                HasSubstr("\nTies (all objectives are equal within the sampling error): points 30 = 22. "));
    EXPECT_THAT(front_csv(results, "a.h5"),
                HasSubstr(",ties_with,software,may_not_fit,study,file,seed,hardware\n"));
    EXPECT_THAT(front_csv(results, "a.h5"), HasSubstr(",22,,0,sample,a.h5,"));
    EXPECT_THAT(front_csv(results, "a.h5"), HasSubstr(",30,,0,sample,a.h5,"));
}

TEST(TextReport, ListsPlansThatMayNotFit)
{
    Results results = plain();
    EXPECT_THAT(text_report(results), Not(HasSubstr("may not fit")));
    FrontPoint faster = results.front[0];
    faster.index = 7;
    faster.prediction.fit_probability = 0.64;
    faster.objectives.front().value *= 0.9;
    results.may_not_fit = {.outcome = "proved complete, 3 evaluated",
                           .proved = true,
                           .limit = 0.9,
                           .evaluated = 3,
                           .plans = {faster}};
    const std::string text = text_report(results);
    EXPECT_THAT(
        text,
        HasSubstr("point 7: 10 % less training time p99, but fits into memory with a probability of 64 %\n"));
    EXPECT_THAT(text, HasSubstr("may not fit into memory (proved complete, 3 evaluated):\n"));
    EXPECT_THAT(front_csv(results, "a.h5"), HasSubstr(",1,sample,a.h5,"));
}

TEST(TextReport, ClaimsNothingOfASpaceBeforeItIsCounted)
{
    Results results = plain();
    results.feasible = 0;
    results.rejected.clear();
    results.provisional = true;
    const std::string text = text_report(results);
    EXPECT_THAT(text,
                HasSubstr("\nSpace: 32 combinations of values; how many are feasible was not counted\n\n"));
    EXPECT_THAT(text, testing::Not(HasSubstr("is feasible")));
}

TEST(TextReport, SaysThatASpacePartHasNoFeasiblePlan)
{
    Results results = plain();
    results.front.clear();
    results.feasible = 0;
    results.rejected = {
        Rejected{.reason = "dp does not divide the batch", .count = 8, .miss = 0.0, .nearest = ""}};
    results.study.held = {2};
    EXPECT_THAT(text_report(results), HasSubstr("\nNo plan of part 2 of 4 is feasible: "));
    EXPECT_THAT(text_report(results),
                HasSubstr("dp does not divide the batch\nNo examined combination is feasible.\n\n"));
    results.provisional = true;
    EXPECT_THAT(text_report(results), testing::Not(HasSubstr("No plan of part")));
}

TEST(TextReport, DistinguishesExaminedCombinationsFromTheSpace)
{
    Results results = sample_results();
    results.raw_tuples = 640;  // 32 of them judged
    EXPECT_THAT(text_report(results), HasSubstr("Space: 640 combinations of values, of which 32 were "
                                                "examined: 3 feasible plans (9.4 %), 29 infeasible"));
}

/// Combinations that repeat a plan, or name no schedule, do not count as plans; what a later
/// phase cannot run is infeasible.
TEST(TextReport, CountsEachCombinationOnce)
{
    Results results = sample_results();
    results.raw_tuples = 92;
    const auto reject = [&results](const std::string& reason, std::uint64_t count) {
        results.rejected.push_back(Rejected{.reason = reason, .count = count, .miss = 0.0, .nearest = ""});
    };
    reject(category(Reason::same_plan, 1), 20);
    reject(category(Reason::schedule_undefined, 1), 30);
    reject(category(Reason::schedule_undefined, 2), 10);
    EXPECT_EQ(space_counts(results.feasible, results.rejected),
              (SpaceCounts{.examined = 92, .feasible = 3, .infeasible = 39, .not_plans = 50}));
    const std::string text = text_report(results);
    EXPECT_THAT(text, HasSubstr("Space: 92 combinations of values: 3 feasible plans (3.3 %), 39 infeasible "
                                "(42.4 %), 50 duplicate or "
                                "undefined (54.3 %); infeasible:\n"));
    EXPECT_THAT(text, HasSubstr("schedule not defined in phase 2"));
    EXPECT_THAT(text, testing::Not(HasSubstr("same plan under another name")));
}

/// Of three combinations as written, one of them excluded; nlopt tuned a third level.
TEST(TextReport, CountsTunedVariantsBesideThoseAsWritten)
{
    const Infeasible why{Conflict::no_power_left, {{FactKey::power_w, -5.0}}};
    const VariantCounts counts{.combinations = 3, .excluded = {{.why = why, .first = "", .count = 1}}};
    EXPECT_THAT(variants_text(counts, 3), HasSubstr("choices before tuning, which added 1, of which 1 are"));
    EXPECT_EQ(variants_text(counts, 2), variants_text(counts));
    EXPECT_EQ(variants_text({.combinations = 3}, 4), "");
}

/// 29 of the 40 tuples are rejected, 3 feasible: one pruned, one evaluated, one still drawn.
TEST(TextReport, SaysThatTheFrontOfAStoppedSearchIsProvisionalAndCountsEachTupleOnce)
{
    Results results = plain();
    results.raw_tuples = 40;
    results.provisional = true;
    results.study.outcome = {.confidence = 0.95, .pruned = 1, .evaluated = 1, .open = 1};
    results.study.outcome_text = "stopped by SIGUSR1";
    const std::string counts =
        "of 40 combinations of values: 0 duplicate or undefined, 29 infeasible, 1 excluded by their lower "
        "bounds, 1 evaluated, 1 "
        "open, 8 not examined\n";
    EXPECT_THAT(text_report(results), StartsWith("Study sample: provisional front of 2 points"));
    EXPECT_THAT(text_report(results), HasSubstr("Provisional: the search was stopped"));
    EXPECT_THAT(text_report(results), HasSubstr(counts));
    EXPECT_THAT(text_report(results), HasSubstr("2176 step draws, none to confirm the front"));
    EXPECT_THAT(summary(results), HasSubstr("Provisional front of 2 points"));
    EXPECT_THAT(summary(results), HasSubstr("Counts: " + counts));
    EXPECT_THAT(lines(front_csv(results, "a.h5"))[1], HasSubstr(",16384,0,1,this cluster,,8192,"));
}

/// Half an hour is no fraction of a day.
TEST(TextReport, ReadsShortRunsInMinutes)
{
    Results results = plain();
    for (FrontPoint& point : results.front) {
        point.prediction.training.p99 = {1770.0, 1760.0, 1780.0};
        point.prediction.step.p50.value = 0.25;
        point.prediction.step.p99.value = 0.5;
    }
    const std::string text = text_report(results);
    EXPECT_THAT(text, HasSubstr("29.5 (29.3 to 29.7)"));
    EXPECT_THAT(text, HasSubstr("min (95 %)"));
    EXPECT_THAT(text, HasSubstr("250.0/500.0"));
    EXPECT_THAT(text, HasSubstr(", p99 29.5 min, assuming the model is exact\n"));
    EXPECT_THAT(text, HasSubstr("  sampling error  p99 29.3 to 29.7 min (95 % confidence interval"));
    EXPECT_THAT(
        text,
        HasSubstr("  model error     p99 27.1 to 31.9 min, cost 114 to 133 M USD (95 % prediction interval"));
    EXPECT_THAT(summary(results), HasSubstr("p99 training time 29.5 to 29.5 min"));
}

TEST(TextReport, NamesDominatedPointsOnlyWhereThereAreSome)
{
    Results results = plain();
    results.front.back().dominated = false;
    EXPECT_THAT(text_report(results), Not(HasSubstr("*21")));
    EXPECT_THAT(text_report(results), Not(HasSubstr("dominated")));
}

TEST(TextReport, ReportsFurtherAxesThatVary)
{
    EXPECT_THAT(text_report(sample_results()),
                HasSubstr("tp 8 pp 16 dp 128 v 4 mb 1 interleaved link IB 400  58.4"));
}

TEST(TextReport, ShowsAsManyDigitsAsTheLimitsSupport)
{
    constexpr double day = 86400.0;
    Results results = plain();
    Estimate& time = results.front.front().prediction.training.p99;
    time.low = 58.37 * day;
    time.high = 58.43 * day;
    EXPECT_THAT(text_report(results), HasSubstr("58.40 (58.37 to 58.43)"));
    time.high = std::numeric_limits<double>::infinity();
    EXPECT_THAT(text_report(results), HasSubstr("58.4 (58.4 to inf)"));
}

TEST(PlanWords, OmitWhatAWayToRecomputeDoesNotUse)
{
    Results results = plain();
    results.axes.push_back({"recompute", false, {"none", "selective", "full"}});
    results.axes.push_back({"recompute_modules", false, {"mlp", "mlp layernorm"}});
    results.axes.push_back({"recomputed_layers", true, {"4", "8"}});
    const auto words = [&results](int recompute) {
        FrontPoint point = results.front.front();
        point.point.insert(point.point.end(), {recompute, 0, 1});
        return plan_words(results, point);
    };
    EXPECT_THAT(words(0), EndsWith(" recompute none"));
    EXPECT_THAT(words(1), EndsWith(" recompute selective recompute_modules mlp"));
    EXPECT_THAT(words(2), EndsWith(" recompute full recomputed_layers 8"));
}

TEST(FrontCsv, HasTheChoicesOfHardwareVariantsOneByOne)
{
    Results results = plain();
    results.axes.push_back({"variant",
                            false,
                            {"global_batch=512 precision=fp8 node.bandwidth=900GB/s",
                             "global_batch=1024 precision=bf16 node.bandwidth=900GB/s"}});
    results.front[0].point.push_back(1);
    results.front[1].point.push_back(0);
    const std::vector<std::string> csv = lines(front_csv(results, "a.h5"));
    EXPECT_THAT(csv[0], HasSubstr(",schedule,variant,global_batch,precision,node.bandwidth,total_gpus,"));
    EXPECT_THAT(
        csv[1],
        HasSubstr(
            ",interleaved,global_batch=1024 precision=bf16 node.bandwidth=900GB/s,1024,bf16,900GB/s,16384,"));
    EXPECT_THAT(csv[2], HasSubstr(",512,fp8,900GB/s,16384,"));
    EXPECT_TRUE(variant_choices(plain()).empty());
}

TEST(FrontCsv, HasOneLineAPointAndUnitsInItsHeader)
{
    const std::vector<std::string> csv = lines(front_csv(plain(), "a.h5"));
    ASSERT_EQ(csv.size(), 3U);
    EXPECT_THAT(
        csv[0],
        StartsWith(
            "point,gpus,tp,pp,v,microbatch,schedule,total_gpus,dominated,provisional,quantiles_of,step_of_"
            "phase,draws,step_time_mean_s,"
            "step_time_mean_low_s,step_time_mean_high_s,"));
    EXPECT_THAT(csv[0],
                HasSubstr(
                    ",training_time_p99_s,training_time_p99_low_s,training_time_p99_high_s,promised_time_s,"
                    "promised_time_low_s,promised_time_high_s,cost_usd,cost_low_usd,cost_high_usd,expected_"
                    "cost_usd,"));
    EXPECT_THAT(csv[0], HasSubstr(",memory_parameters_bytes,"));
    EXPECT_THAT(
        csv[1],
        StartsWith(
            "30,16384,8,16,4,1,interleaved,16384,0,0,this cluster,,8192,2,1.75,2.5,10.214,10.1,10.3,"));
    EXPECT_THAT(csv[1], HasSubstr(",5045760,4959360,5132160,10,9.75,10.5,123400000,121000000,inf,"));
    EXPECT_THAT(csv[1], HasSubstr(",0.92,1.08,1,"));
    EXPECT_THAT(csv[0], EndsWith(",objective_gpus,objective_gpus_low,objective_gpus_high,miss_probability_"
                                 "with_model_error,miss_probability_"
                                 "model_low,miss_probability_model_high,training_time_p50_with_model_error_s,"
                                 "training_time_p90_with_model_"
                                 "error_s,training_time_p99_with_model_error_s,done_p50_with_model_error,"
                                 "done_p90_with_model_error,done_p99_"
                                 "with_model_error,question_probability,price_given,power_given,training_"
                                 "time_p90_s,done_p50,done_p90,done_"
                                 "p99,ties_with,software,may_not_fit,study,file,seed,hardware"));
    EXPECT_THAT(csv[1], HasSubstr(",16384,16384,16384,,,,4778467"));  // p50 with the model error
    EXPECT_THAT(csv[1], EndsWith(",,,,,unknown,unknown,4968000,,,,,,0,sample,a.h5,7,"));
    EXPECT_THAT(csv[2], StartsWith("21,16384,4,16,4,1,interleaved,16384,1,0,this cluster,,8192,"));
    for (const std::string& line : csv) {
        EXPECT_EQ(std::count(line.begin(), line.end(), ','), std::count(csv[0].begin(), csv[0].end(), ','));
    }
}

/// Files from before have no energy.
TEST(FrontCsv, OmitsWhatIsNotKnown)
{
    Results results = plain();
    results.front.front().prediction.run.energy_j = Estimate::exact(std::numeric_limits<double>::quiet_NaN());
    EXPECT_THAT(lines(front_csv(results, "a.h5"))[1], Not(HasSubstr("nan")));
}

TEST(FrontCsv, SaysWhatQuantilesAreOf)
{
    Results results = plain();
    results.study.nodes_known = false;
    EXPECT_THAT(lines(front_csv(results, "a.h5"))[1], HasSubstr(",16384,0,0,fleet,,8192,"));
}

TEST(FrontCsv, QuotesWhatWouldBreakALine)
{
    Results results = plain();
    results.axes.back().labels[1] = "a, \"b\"";
    EXPECT_THAT(lines(front_csv(results, "a.h5"))[1],
                StartsWith("30,16384,8,16,4,1,\"a, \"\"b\"\"\",16384,"));
}

TEST(FrontCsv, OfAnEmptyFrontIsItsHeader)
{
    Results results = plain();
    results.front.clear();
    EXPECT_EQ(lines(front_csv(results, "a.h5")).size(), 1U);
}

TEST(Summary, IsOneParagraphAndItsLegs)
{
    EXPECT_THAT(summary(plain()), EndsWith("Outcome: proved complete\n" + legs_text(plain().legs)));
    Results results = plain();
    results.legs.clear();
    EXPECT_EQ(summary(results),
              "Study sample (seed 7, prismopt 0.1.0, 2025-01-02T03:04:05Z): 32 combinations of values, 3 "
              "feasible plans, 2 "
              "evaluated with 2176 step draws. Front of 2 points, p99 training time 58.4 to 60.2 days (this "
              "cluster). Outcome: "
              "proved complete\n");
    results.front.clear();
    EXPECT_EQ(summary(results),
              "Study sample (seed 7, prismopt 0.1.0, 2025-01-02T03:04:05Z): 32 combinations of values, 3 "
              "feasible plans, 2 "
              "evaluated with 2176 step draws. The front is empty. Outcome: proved complete\n");
}

}  // namespace

}  // namespace prismopt
