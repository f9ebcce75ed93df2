#include "io/report/report_json.hpp"

#include "io/results/plan_results.hpp"
#include "tests/io/sample_results.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace prismopt {
namespace {

using Json = nlohmann::json;

TEST(ReportJson, HoldsTheFront)
{
    const Json json = Json::parse(report_json(sample_results(), "sample.h5"));
    EXPECT_EQ(json["format"], "prismopt report");
    EXPECT_EQ(json["format_version"], 2);
    EXPECT_EQ(json["provenance"]["file"], "sample.h5");
    EXPECT_EQ(json["provenance"]["seed"], 18446744073709551615U);
    EXPECT_EQ(json["search"]["proved"], true);
    EXPECT_EQ(json["space"]["rejected"][0]["count"], 28);
    EXPECT_EQ(json["named"]["best"], 30);
    ASSERT_EQ(json["front"].size(), 2U);
    const Json& point = json["front"][0];
    EXPECT_EQ(point["point"], 30);
    EXPECT_EQ(point["plan"]["gpus"], 16384);
    EXPECT_EQ(point["plan"]["schedule"], "interleaved");
    EXPECT_EQ(point["gpus"], 16384);
    EXPECT_DOUBLE_EQ(point["estimates"]["training_time_p99"]["value"], 58.4 * 86400.0);
    EXPECT_DOUBLE_EQ(point["objectives"]["training_time_p99"]["low"], 57.4 * 86400.0);
    EXPECT_TRUE(point["estimates"]["cost"]["high"].is_null());  // the draws support no limit
    EXPECT_DOUBLE_EQ(point["completion"]["p90"]["seconds"], 57.5 * 86400.0);
    EXPECT_NEAR(point["completion"]["p90"]["with_model_error"]["seconds"].get<double>(), 58.88 * 86400.0,
                0.05 * 86400.0);
    EXPECT_EQ(json["subject"]["point"], 30);
    EXPECT_EQ(json["subject"]["reason"], "best");
    EXPECT_TRUE(point["question_probability"].is_null());
    EXPECT_TRUE(point["completion"]["p99"]["date"].is_null());  // the scenario has no start
    EXPECT_TRUE(json["job"]["model"].is_null());                // and is not one that this program reads
    EXPECT_EQ(json["front"][1]["dominated"], true);
}

TEST(ReportJson, DescribesEachColumn)
{
    const Json json = Json::parse(report_json(sample_results(), "sample.h5"));
    for (const auto& column : plan_results<Estimate>()) {
        EXPECT_EQ(json["columns"][std::string(column.name)]["units"], column.units);
        EXPECT_TRUE(json["front"][0]["estimates"].contains(std::string(column.name))) << column.name;
    }
    for (const auto& column : plan_results<double>()) {
        EXPECT_EQ(json["columns"][std::string(column.name)]["units"], column.units);
        EXPECT_TRUE(json["front"][0]["numbers"].contains(std::string(column.name))) << column.name;
    }
    EXPECT_EQ(json["probabilities"].size(), json["front"][0]["quantiles"]["step_time_quantile"].size());
}

TEST(ReportJson, SaysWhatIsKnownOfTheEndOfASearch)
{
    Results results = sample_results();
    results.study.outcome.end = SearchEnd::most_drawn;
    Json search = Json::parse(report_json(results, "x"))["search"];
    EXPECT_EQ(search["method"], "exact");
    EXPECT_EQ(search["end"], "most_drawn");
    EXPECT_TRUE(search["complete"].is_boolean());
    EXPECT_TRUE(search["stopped_by"].is_null());
    results.study.stopped_by = "SIGTERM";
    EXPECT_EQ(Json::parse(report_json(results, "x"))["search"]["stopped_by"], "SIGTERM");
    results.study.stopped_by = "";
    results.study.ends_known = false;  // older files
    search = Json::parse(report_json(results, "x"))["search"];
    for (const char* fact : {"method", "complete", "end", "stopped_by"}) {
        EXPECT_TRUE(search[fact].is_null()) << fact;
    }
}

TEST(ReportJson, WritesNullForWhatIsNotThere)
{
    Results results = sample_results();
    results.front.front().model_low = std::numeric_limits<double>::quiet_NaN();
    results.front.front().prediction.step.quantiles.clear();
    const Json point = Json::parse(report_json(results, "x"))["front"][0];
    EXPECT_TRUE(point["numbers"]["model_low"].is_null());
    EXPECT_TRUE(point["quantiles"]["step_time_quantile"].is_null());
    results.front.clear();
    const Json empty = Json::parse(report_json(results, "x"));
    EXPECT_TRUE(empty["front"].is_array() && empty["front"].empty());
    EXPECT_TRUE(empty["named"]["best"].is_null());
}

TEST(SummaryJson, CountsTheFront)
{
    const Json json = Json::parse(summary_json(sample_results(), "sample.h5"));
    EXPECT_EQ(json["format"], "prismopt results summary");
    EXPECT_EQ(json["front_points"], 2);
    EXPECT_EQ(json["space"]["feasible"], 3);
    EXPECT_FALSE(json.contains("front"));
}

}  // namespace
}  // namespace prismopt
