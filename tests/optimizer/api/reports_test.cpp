#include "optimizer/api/reports.hpp"
#include "io/report/study_notes.hpp"
#include "optimizer/api/search.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/older_results.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace prismopt {
namespace {

Results results_in(const TemporaryFolder& folder)
{
    const Scenario scenario =
        tiny_scenario("gpus = [4, 8]\ntp = [1]\npp = [1, 2]\nmicrobatch = [1, 2]\n",
                      "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }");
    StudyOptions options;
    options.out = folder.file("tiny.h5");
    options.posterior = false;
    return search(scenario, options).results;
}

TEST(AskedSubject, IsWordedByTheAxesOfTheFile)
{
    const TemporaryFolder folder;
    const Results results = results_in(folder);
    const Results older = without_single_axes(results);
    for (std::size_t i = 0; i < results.evaluations.size(); ++i) {
        const auto number = static_cast<std::int64_t>(results.evaluations[i].index);
        const FrontPoint asked = asked_subject(older, number);
        EXPECT_EQ(asked.point, older.evaluations[i].point);
        EXPECT_EQ(asked.prediction.training.p99.value,
                  asked_subject(results, number).prediction.training.p99.value);
    }
}

/// Before schema 1.12, programs assumed no software.
TEST(StudyNotesOfOlderResults, NameNoSoftwareThatTheyDidNotAssume)
{
    const TemporaryFolder folder;
    Results results = results_in(folder);
    std::string& text = results.study.scenario_text;
    const std::string software = "[software]\nname = \"reference\"\n";
    text.erase(text.find(software), software.size());
    EXPECT_THAT(study_notes(results).trained_with, testing::HasSubstr("(assumed)"));
    EXPECT_FALSE(study_notes(results).software.empty());
    results.study.build.catalog.clear();
    for (FrontPoint& point : results.front) {
        point.software_low = point.software_high = std::numeric_limits<double>::quiet_NaN();
    }
    EXPECT_EQ(study_notes(results).trained_with, "no software in particular");
    EXPECT_EQ(study_notes(results).software, "");
}

}  // namespace
}  // namespace prismopt
