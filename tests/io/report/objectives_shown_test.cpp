#include "io/html/report_page.hpp"
#include "io/report/report.hpp"
#include "io/report/report_json.hpp"
#include "model/objective.hpp"
#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace prismopt {
namespace {

using testing::HasSubstr;

/// The sample as if this had been minimised, and nothing else.
Results minimising(const Objective& objective)
{
    Results results = sample_results();
    results.objectives = {
        {std::string(objective.name), std::string(objective.units), std::string(objective.long_name)}};
    for (EvaluatedPoint& point : results.evaluations) {
        point.bounds.resize(1);
        point.objectives.resize(std::min<std::size_t>(point.objectives.size(), 1));
    }
    for (FrontPoint& point : results.front) {
        point.objectives = {objective.value(point.prediction)};
    }
    return results;
}

/// The heading of an objective's column in the text report.
std::string heading(const Objective& objective)
{
    static const std::map<std::string_view, std::string> usual{{"training_time_p99", "p99 training time"},
                                                               {"cost", "cost"},
                                                               {"gpus", "GPUs"},
                                                               {"step_time_p50", "step p50/p99"},
                                                               {"step_time_p99", "step p50/p99"}};
    if (const auto found = usual.find(objective.name); found != usual.end()) {
        return found->second;
    }
    std::string name(objective.name);
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

std::string head_of_table(const std::string& report)
{
    const std::size_t begin = report.find("\npoint ");
    return report.substr(begin, report.find('\n', begin + 1) - begin);
}

TEST(ObjectivesShown, EachThatWasMinimisedIsInTextCsvJsonAndPage)
{
    ASSERT_GE(objectives().size(), 19U);
    for (const Objective& objective : objectives()) {
        SCOPED_TRACE(objective.name);
        const Results results = minimising(objective);
        const std::string name(objective.name);
        const double value = results.front.front().objectives.front().value;
        EXPECT_THAT(head_of_table(text_report(results)), HasSubstr(heading(objective)));
        EXPECT_THAT(front_csv(results, "a.h5"), HasSubstr(",objective_" + name));
        const auto json = nlohmann::json::parse(report_json(results, "sample.h5"));
        EXPECT_EQ(json["objectives"][0]["name"], name);
        EXPECT_DOUBLE_EQ(json["front"][0]["objectives"][name]["value"], value);
        const std::string page = report_page({{results, "sample", "sample.h5", {}, ""}}, "prismopt");
        const std::string begin = "id=\"data\">";
        const std::size_t from = page.find(begin) + begin.size();
        const auto data = nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
        EXPECT_EQ(data["studies"][0]["objectives"][0]["name"], name);
        EXPECT_NEAR(data["studies"][0]["front"][0]["objectives"][0][0], value, 1e-6 * value);
    }
}

}  // namespace
}  // namespace prismopt
