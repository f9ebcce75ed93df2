#include "io/compare/compare.hpp"

#include "io/base/csv.hpp"
#include "io/report/deadline_risk.hpp"
#include "tests/io/sample_results.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace prismopt {

namespace {

using testing::HasSubstr;
using testing::Not;

/// Fronts of two exact objectives.
Results with_front(const std::vector<std::pair<double, double>>& values)
{
    Results results = sample_results();
    const FrontPoint member = results.front.front();
    results.front.clear();
    for (const auto& [a, b] : values) {
        results.front.push_back(member);
        results.front.back().objectives = {Estimate::exact(a), Estimate::exact(b)};
    }
    return results;
}

TEST(Compare, MeasuresFrontsInOneBox)
{
    // The box is [1, 4.4] x [1, 2.2]; A dominates (4.4 - 2) * (2.2 - 1) of it, B two
    // rectangles less their overlap.
    const std::vector<NamedResults> studies{{"a.h5", with_front({{2.0, 1.0}})},
                                            {"b.h5", with_front({{1.0, 2.0}, {4.0, 1.5}})}};
    const std::vector<double> volumes = joint_hypervolumes(studies);
    const double box = 3.4 * 1.2;
    EXPECT_NEAR(volumes[0], 2.4 * 1.2 / box, 1e-12);
    EXPECT_NEAR(volumes[1], (3.4 * 0.2 + 0.4 * 0.7 - 0.4 * 0.2) / box, 1e-12);
}

TEST(Compare, ReportsGainsWithWhatTheDrawsSupport)
{
    Results better = with_front({{90.0, 1.0}});
    Results plain = with_front({{100.0, 1.0}});
    better.front.front().objectives.front() = {90.0, 85.0, 95.0, 0.0, 0.0};
    plain.front.front().objectives.front() = {100.0, 94.0, 106.0, 0.0, 0.0};
    EXPECT_THAT(comparison_text({{"a.h5", plain}, {"b.h5", better}}),
                HasSubstr("-10.00 %, confidence intervals overlap"));
    plain.front.front().objectives.front().low = 96.0;
    const std::string text = comparison_text({{"a.h5", plain}, {"b.h5", better}});
    EXPECT_THAT(text, HasSubstr("-10.00 %, confidence intervals disjoint"));
    EXPECT_THAT(text, HasSubstr("equal"));  // the second objective
}

/// Of missing the deadline; its mean and its limits are those of the report.
TEST(Compare, ProbabilitiesIncludeTheModelError)
{
    Results results = sample_results();
    std::string& text = results.study.scenario_text;
    text = read_text(std::string(PRISMOPT_SOURCE_DIR) + "/jobs/scenarios/small.toml");
    const std::string objectives = "[objectives]\n";
    text.replace(text.find(objectives), objectives.size(), objectives + "deadline = \"60 day\"\n");
    results.objectives.front() = {.name = "miss_probability", .units = "1", .long_name = ""};
    for (FrontPoint& point : results.front) {
        point.objectives.front() = point.prediction.run.miss_probability;
    }
    const Comparison comparison = compared({{"a.h5", results}, {"b.h5", results}});
    const auto risk = deadline_risk(results.front.front(), Seconds{60.0 * 86400.0});
    const Estimate& with = comparison.studies.front().best.front().with_model_error;
    EXPECT_EQ(with.value, risk->mean);
    EXPECT_EQ(with.high, risk->high);
    EXPECT_EQ(comparison.gains[1].back(), risk_with_error_text(*risk));
}

TEST(Compare, SaysWhatQuantilesAreOfAndWarnsWhereTheyDiffer)
{
    Results fleet = with_front({{100.0, 1.0}});
    fleet.front.front().objectives.front() = {100.0, 99.0, 101.0, 0.0, 0.0};
    fleet.study.nodes_known = false;
    Results known = with_front({{90.0, 1.0}});
    known.study.nodes_known = false;
    known.front.front().objectives.front() = {90.0, 89.0, 91.0, 0.0, 0.0};
    const std::string of_fleets = comparison_text({{"a.h5", fleet}, {"b.h5", known}});
    EXPECT_THAT(of_fleets, HasSubstr("\nquantiles over the fleet (a random sample of GPUs; the luck of which "
                                     "GPUs the job gets is included)\n"));
    EXPECT_THAT(of_fleets, HasSubstr("-10.00 %, confidence intervals disjoint"));
    EXPECT_THAT(of_fleets, Not(HasSubstr("Warning")));
    known.study.nodes_known = true;
    const std::string of_different = comparison_text({{"a.h5", fleet}, {"b.h5", known}});
    EXPECT_THAT(
        of_different,
        HasSubstr(
            "Warning: these quantiles are taken over different populations: a: the fleet (a random sample of "
            "GPUs; the luck "
            "of which GPUs the job gets is included); b: this cluster (the speed of each node is given).\n"));
    EXPECT_THAT(of_different, HasSubstr("-10.00 %, different nodes"));
    EXPECT_THAT(of_different, Not(HasSubstr("intervals")));
    fleet.study.nodes_known = true;
    EXPECT_THAT(comparison_text({{"a.h5", fleet}, {"b.h5", known}}),
                HasSubstr("-10.00 %, confidence intervals disjoint"));
}

TEST(Compare, SaysWhichPointsAreBeaten)
{
    const std::string text =
        comparison_text({{"a.h5", with_front({{2.0, 2.0}})}, {"b.h5", with_front({{1.0, 1.0}})}});
    EXPECT_THAT(text, HasSubstr("     2     2             b\n"));
}

/// Two seeds of one plan: the values differ by noise, and neither beats the other.
TEST(Compare, DoesNotCallNoiseDominance)
{
    Results a = with_front({{100.0, 5.0}});
    Results b = with_front({{99.0, 5.0}});
    a.front.front().objectives.front() = {100.0, 97.0, 103.0, 0.0, 0.0};
    b.front.front().objectives.front() = {99.0, 96.0, 102.0, 0.0, 0.0};
    EXPECT_THAT(comparison_text({{"a.h5", a}, {"b.h5", b}}),
                HasSubstr("No point dominates another beyond the sampling error.\n"));
    b.front.front().objectives.front() = {90.0, 85.0, 96.0, 0.0, 0.0};
    const std::string disjoint = comparison_text({{"a.h5", a}, {"b.h5", b}});
    EXPECT_THAT(disjoint, HasSubstr("    100     5             b\n"));
    EXPECT_THAT(disjoint, HasSubstr("     90     5\n"));
    b.front.front().objectives.back() = Estimate::exact(6.0);  // for more of the other
    EXPECT_THAT(comparison_text({{"a.h5", a}, {"b.h5", b}}),
                HasSubstr("No point dominates another beyond the sampling error"));
}

/// Provisional points are biased by the draws that chose them, and other jobs are not comparable.
TEST(Compare, LetsNoProvisionalPointsAndNoOtherJobsDominate)
{
    const NamedResults plain{"a.h5", with_front({{100.0, 5.0}}), "a job"};
    NamedResults better{"b.h5", with_front({{50.0, 5.0}}), "a job"};
    EXPECT_THAT(comparison_text({plain, better}), HasSubstr("    100     5             b\n"));
    better.results.provisional = true;
    const std::string text = comparison_text({plain, better});
    EXPECT_THAT(text, HasSubstr("-50.00 %, provisional"));
    EXPECT_THAT(text, HasSubstr("provisional front of 1 point,"));
    EXPECT_THAT(text, HasSubstr("No point dominates another beyond the sampling error"));
    better.results.provisional = false;
    better.job = "another";
    const std::string other = comparison_text({plain, better});
    EXPECT_THAT(other,
                HasSubstr("Warning: these studies train different workloads: a: a job; b: another.\n"));
    EXPECT_THAT(other, HasSubstr("  different workload"));
    EXPECT_THAT(other, HasSubstr("no hypervolumes and no gains: these studies train different workloads\n"));
    EXPECT_THAT(other, Not(HasSubstr("%")));
    EXPECT_THAT(other, HasSubstr("No point dominates another beyond the sampling error"));
    EXPECT_THAT(comparison_text({plain, plain}), Not(HasSubstr("Warning")));
}

/// The second study is better by its draws, but not beyond the prediction interval.
TEST(Compare, ComparesByTheErrorOfTheModelToo)
{
    Results plain = with_front({{100.0, 5.0}});
    Results better = with_front({{90.0, 5.0}});
    plain.front.front().objectives.front() = {100.0, 99.0, 101.0, 0.0, 0.0};
    better.front.front().objectives.front() = {90.0, 89.0, 91.0, 0.0, 0.0};
    const auto rows = [&] { return compared({{"a.h5", plain}, {"b.h5", better}}).gains; };
    ASSERT_EQ(rows().size(), 5U);  // a head, and the time and the GPUs of two studies
    EXPECT_EQ(rows()[1][4], "92 to 108 s");
    EXPECT_EQ(rows()[2][4], "82.8 to 97.2 s, prediction intervals overlap");
    EXPECT_EQ(rows()[3][4], "");
    better.front.front().model_high = 1.01;
    EXPECT_EQ(rows()[2][4], "82.8 to 90.9 s, prediction intervals disjoint");
    for (Results* results : {&plain, &better}) {
        results->front.front().model_low = results->front.front().model_high = std::nan("");
    }
    EXPECT_EQ(rows()[2][4], "");
}

TEST(Compare, HasUnitsForPeople)
{
    const Results run = with_front({{100.0 * 86400.0, 3e6}});
    const std::string text = comparison_text({{"a.h5", run}, {"b.h5", run}});
    EXPECT_THAT(text, HasSubstr(", days "));
    EXPECT_THAT(text, HasSubstr(" 100 "));
}

TEST(Compare, ReportsAxesAndLinesThatDiffer)
{
    Results other = sample_results();
    other.axes[1].labels.emplace_back("16");
    other.axes.push_back({"extra", false, {"on"}});
    other.study.scenario_text = "name = \"sample\"  # the same\nseed = 2\n";
    const std::string text = comparison_text({{"a.h5", sample_results()}, {"b.h5", other}});
    EXPECT_THAT(text, HasSubstr("  tp: a: 4, 8; b: 4, 8, 16\n"));
    EXPECT_THAT(text, HasSubstr("  extra: a: absent; b: on\n"));
    EXPECT_THAT(text, HasSubstr("  b: seed = 2\n"));
    EXPECT_THAT(text, Not(HasSubstr("name = ")));
    const std::string same = comparison_text({{"a.h5", sample_results()}, {"b.h5", sample_results()}});
    EXPECT_THAT(same, HasSubstr("the axes are the same\nthe scenarios are the same\n"));
}

/// Names of scenarios, then of files, then paths.
TEST(Compare, NamesStudies)
{
    const auto named = [](const std::string& file, const std::string& scenario) {
        NamedResults study{file, sample_results()};
        study.results.study.scenario_name = scenario;
        return study;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(study_names({named("x.h5", "small"), named("y.h5", "large")}), (Names{"small", "large"}));
    EXPECT_EQ(study_names({named("x.h5", "small"), named("y.h5", "small"), named("z.h5", "large")}),
              (Names{"x", "y", "large"}));
    EXPECT_EQ(study_names({named("a/x.h5", "small"), named("b/x.h5", "small")}), (Names{"a/x.h5", "b/x.h5"}));
    EXPECT_EQ(study_names({named("x.h5", "y"), named("y.h5", "small"), named("z.h5", "small")}),
              (Names{"y", "y.h5", "z"}));
    EXPECT_EQ(study_names({named("x.h5", "small"), named("x.h5", "small")}), (Names{"x.h5", "x.h5 (2)"}));
}

TEST(Compare, TakesManyStudiesAndGroupsThoseThatHaveTheSame)
{
    std::vector<NamedResults> studies;
    for (int i = 0; i < 60; ++i) {
        studies.push_back({"", with_front({{100.0 + i, 2.0}})});
        studies.back().results.study.scenario_name = fmt::format("s{}", i);
        studies.back().results.axes[1].labels.push_back(i < 50 ? "16" : "32");
    }
    const std::string text = comparison_text(studies);
    EXPECT_THAT(text, HasSubstr("  tp: s0, s1, s2, s3, s4, s5 and 44 others: 4, 8, 16; s50, s51, s52, s53, "
                                "s54, s55 and 4 others: "
                                "4, 8, 32\n"));
    EXPECT_THAT(text, HasSubstr("s0, s1, s2 and 56 others\n"));  // dominate the last
    const Comparison comparison = compared(studies);
    ASSERT_EQ(comparison.studies.size(), 60U);
    EXPECT_EQ(comparison.studies[10].name, "s10");
    EXPECT_DOUBLE_EQ(comparison.studies[10].best[0].change, 110.0 / 100.0 - 1.0);
    EXPECT_TRUE(std::isnan(comparison.studies[0].best[0].change));
}

TEST(Compare, WritesOneRowPerStudy)
{
    Results plain = with_front({{100.0, 2.0}});
    plain.study.scenario_name = "a, \"quoted\"";
    Results empty = with_front({});
    empty.study.scenario_name = "empty";
    const std::vector<NamedResults> studies{{"a.h5", plain}, {"b.h5", empty}};
    const auto rows = csv_fields(comparison_csv(studies), "csv");
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[1][0], "a, \"quoted\"");
    EXPECT_EQ(rows[1][2], "a.h5");
    for (const auto& row : rows) {
        EXPECT_EQ(row.size(), rows[0].size());
    }
    const nlohmann::json json = nlohmann::json::parse(comparison_json(studies));
    EXPECT_EQ(json["studies"][0]["best"][plain.objectives[0].name]["estimate"]["value"], 100.0);
    EXPECT_TRUE(json["studies"][1]["best"].empty());
}

TEST(Compare, ReportsDefaultsThatDiffer)
{
    Results other = sample_results();
    other.study.default_order = PlacementOrder::tp_pp_dp;
    const std::string text = comparison_text({{"a.h5", sample_results()}, {"b.h5", other}});
    EXPECT_THAT(text, HasSubstr("  a: order = \"tp-dp-pp\" where none is given\n"));
    EXPECT_THAT(text, HasSubstr("  b: order = \"tp-pp-dp\" where none is given\n"));
}

TEST(Compare, ReportsOverlaysThatDiffer)
{
    Results other = sample_results();
    other.study.learned_digest = "fedcba9876543210";
    const std::string text = comparison_text({{"a.h5", sample_results()}, {"b.h5", other}});
    EXPECT_THAT(text, HasSubstr("a: learned from earlier, 2025-01-01T00:00:00Z (digest 0123456789abcdef)"));
    EXPECT_THAT(text, HasSubstr("b: learned from earlier, 2025-01-01T00:00:00Z (digest fedcba9876543210)"));
}

TEST(Compare, ComparesByCommonObjectives)
{
    Results other = sample_results();
    std::swap(other.objectives[0], other.objectives[1]);
    for (FrontPoint& point : other.front) {
        std::swap(point.objectives[0], point.objectives[1]);
    }
    other.objectives[1].name = "cost";
    const std::vector<NamedResults> studies{{"a.h5", sample_results()}, {"b.h5", other}};
    EXPECT_EQ(common_objectives(studies), (std::vector<std::string>{"gpus"}));
    const Results reduced = with_objectives(other, {"gpus"});
    ASSERT_EQ(reduced.objectives.size(), 1U);
    EXPECT_EQ(reduced.front.front().objectives.size(), 1U);
    EXPECT_EQ(reduced.front.front().objectives.front().value, 16384.0);
    EXPECT_TRUE(reduced.evaluations.front().objectives.empty());  // only bounded
}

}  // namespace

}  // namespace prismopt
