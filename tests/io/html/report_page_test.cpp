#include "io/html/report_page.hpp"

#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace prismopt {

namespace {

using testing::HasSubstr;
using testing::Not;

ReportedStudy reported(Results results) { return {std::move(results), "sample", "sample.h5", {}, ""}; }

nlohmann::json data_of(const std::string& page)
{
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(ReportPage, HoldsTheStudy)
{
    const std::string page = report_page({reported(sample_results())}, "prismopt 1.2.3");
    const nlohmann::json data = data_of(page);
    const nlohmann::json& study = data["studies"][0];
    EXPECT_EQ(study["name"], "sample");
    EXPECT_EQ(study["front"].size(), 2U);
    EXPECT_EQ(study["front"][0]["id"], "30");
    EXPECT_EQ(study["front"][1]["dominated"], true);
    EXPECT_EQ(study["front"][0]["labels"],
              (nlohmann::json{"16384", "8", "16", "4", "1", "interleaved", "IB 400"}));
    EXPECT_DOUBLE_EQ(study["front"][0]["estimates"]["training_time_p99"][0], 58.4 * 86400.0);
    EXPECT_TRUE(study["front"][0]["estimates"]["cost"][2].is_null());  // an infinite limit
    EXPECT_EQ(study["trust"]["seed"], "18446744073709551615");
    EXPECT_EQ(study["trust"]["draws"], 2176);
    EXPECT_EQ(study["space"]["examined"], 32);
    EXPECT_TRUE(study["accuracy"].is_array());
    EXPECT_EQ(data["program"], "prismopt 1.2.3");
    EXPECT_THAT(page, HasSubstr("Licensed to the Apache Software Foundation"));
    for (const char* mark :
         {"@title@", "@heading@", "@answer@", "@style@", "@licences@", "@data@", "@library@", "@program@"}) {
        EXPECT_THAT(page, Not(HasSubstr(mark)));
    }
}

TEST(ReportPage, IsAboutThePlanAskedFor)
{
    Results results = sample_results();
    EXPECT_EQ(data_of(report_page({reported(results)}, "prismopt"))["studies"][0]["subject"]["reason"],
              "best");
    results.subject = results.front.front();
    results.subject->index = 7;
    const nlohmann::json study = data_of(report_page({reported(results)}, "prismopt"))["studies"][0];
    EXPECT_EQ(study["subject"]["id"], "7");
    EXPECT_EQ(study["subject"]["reason"], "asked");
    EXPECT_EQ(study["off_front"][0]["id"], "7");
    EXPECT_EQ(study["front"].size(), 2U);
}

TEST(ReportPage, SaysWithoutScriptsWhatItIsOfAndTheAnswer)
{
    Results results = sample_results();
    results.study.scenario_name = "a <b> & c";
    const std::string page = report_page({reported(results)}, "prismopt 1.2.3");
    const std::string before_scripts = page.substr(0, page.find("<script"));
    EXPECT_THAT(before_scripts, HasSubstr("<title>a &lt;b> &amp; c – prismopt</title>"));
    EXPECT_THAT(before_scripts, HasSubstr("<h1 id=\"title\">a &lt;b> &amp; c</h1>"));
    EXPECT_THAT(before_scripts,
                HasSubstr("<noscript>\n<pre>Best training time p99: point 30 on 16384 GPUs\n"));
    const std::string both = report_page({reported(results), reported(sample_results())}, "prismopt 1.2.3");
    EXPECT_THAT(both, HasSubstr("<title>sample vs. sample – prismopt</title>"));
    const std::vector<ReportedStudy> many(5, reported(results));
    EXPECT_THAT(report_page(many, "prismopt 1.2.3"), HasSubstr("<h1 id=\"title\">5 studies compared</h1>"));
}

TEST(ReportPage, SaysWhatQuantilesAreOf)
{
    const Results known = sample_results();
    Results fleet = known;
    fleet.study.nodes_known = false;
    const nlohmann::json studies =
        data_of(report_page({reported(fleet), reported(known)}, "prismopt"))["studies"];
    EXPECT_EQ(studies[0]["quantiles_of"], "fleet");
    EXPECT_EQ(studies[0]["population"],
              "the fleet (a random sample of GPUs; the luck of which GPUs the job gets is included)");
    EXPECT_EQ(studies[1]["quantiles_of"], "this cluster");
    EXPECT_EQ(studies[1]["population"], "this cluster (the speed of each node is given)");
}

TEST(ReportPage, SaysThatAFrontIsProvisional)
{
    Results results = sample_results();
    EXPECT_FALSE(data_of(report_page({reported(results)}, "prismopt"))["studies"][0]["provisional"]);
    results.provisional = true;
    const nlohmann::json study = data_of(report_page({reported(results)}, "prismopt"))["studies"][0];
    EXPECT_TRUE(study["provisional"]);
    EXPECT_EQ(study["trust"]["confirming"], 0);
}

TEST(ReportPage, HoldsComparisonsAndSensitivities)
{
    ReportedStudy study = reported(sample_results());
    study.sensitivity = R"({"design": "tp=8", "effects": []})";
    study.sensitivity_point = 30;
    const nlohmann::json data = data_of(report_page({study, reported(sample_results())}, "prismopt",
                                                    {{{"best", "A"}, {"cost", "1"}}, "volumes", "axes"}));
    EXPECT_EQ(data["comparison"]["gains"][1][0], "cost");
    EXPECT_EQ(data["comparison"]["differences"], "axes");
    EXPECT_TRUE(data["comparison"]["studies"].empty());
    EXPECT_EQ(data["studies"][0]["sensitivity"]["point"], "30");
    EXPECT_FALSE(data["studies"][1].contains("sensitivity"));
}

TEST(ReportPage, TakesTextsAsTexts)
{
    Results results = sample_results();
    results.study.scenario_text = "# </script><script>alert(1)</script> <!-- @program@";
    const std::string page = report_page({reported(results)}, "prismopt");
    EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
    EXPECT_EQ(data_of(page)["studies"][0]["trust"]["scenario_text"], results.study.scenario_text);
}

TEST(ReportPage, StaysBelowItsSize)
{
    ReportedStudy study = reported(sample_results_of(300'000));
    study.timelines.resize(2);
    for (StepTimeline& timeline : study.timelines) {
        timeline = {std::vector<TimelineEvent>(8'000, {0, TimelineStream::compute, Activity::forward, 0, 0,
                                                       0.0, 1.0}),
                    1, 1.0};
    }
    study.timelines.back().events.resize(400'000, study.timelines.back().events.front());
    const std::string page = report_page({study}, "prismopt");
    EXPECT_LT(page.size(), most_page_bytes);
    EXPECT_GT(page.size(), most_page_bytes * 9 / 10);
    const nlohmann::json data = data_of(page);
    EXPECT_TRUE(data["studies"][0]["front"][0].contains("timeline"));
    EXPECT_FALSE(data["studies"][0]["front"][1].contains("timeline"));
    EXPECT_THAT(data["studies"][0]["timeline_note"].get<std::string>(),
                HasSubstr("1 plan has too many operations"));
}

}  // namespace

}  // namespace prismopt
