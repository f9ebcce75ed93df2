#include "io/report/study_notes.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"

#include "io/report/report.hpp"
#include "io/scenario/constants/fitted_model.hpp"
#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The sample as if it were of a scenario that ships, with `more` behind it.
Results sample_of(const std::string& scenario, const std::string& more = "")
{
    std::ifstream file(std::string(PRISMOPT_SOURCE_DIR) + "/jobs/scenarios/" + scenario);
    Results results = sample_results();
    results.study.scenario_text =
        std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()} + more;
    results.study.scenario_path = scenario;
    return results;
}

TEST(StudyNotes, SayOfWhichPhaseStepsAre)
{
    const std::string second = "\n[[phase]]\ntokens = 1e9\nsequence_length = 2048\nglobal_batch = 64\n";
    const Results two = sample_of("small.toml", second);
    EXPECT_EQ(study_notes(two).phases, 2);
    EXPECT_THAT(text_report(two),
                HasSubstr("\nStep times, MFU and step breakdowns are of the first of 2 phases; "));
    EXPECT_THAT(front_csv(two, "a.h5"), HasSubstr(",this cluster,1 of 2,8192,"));
    EXPECT_THAT(svg_report(two), HasSubstr("Distribution of the step time, this cluster, phase 1 of 2"));
    const Results one = sample_of("small.toml");
    EXPECT_EQ(study_notes(one).phases, 1);
    EXPECT_THAT(text_report(one), Not(HasSubstr("phases")));
    EXPECT_THAT(front_csv(one, "a.h5"), HasSubstr(",this cluster,1 of 1,8192,"));
    EXPECT_EQ(study_notes(sample_results()).phases, 0);  // of another version
    EXPECT_THAT(front_csv(sample_results(), "a.h5"), HasSubstr(",this cluster,,8192,"));
}

TEST(StudyNotes, SayWhatIsTrainedAndWhen)
{
    Results results = sample_of("small.toml");
    StudyNotes notes = study_notes(results);
    EXPECT_EQ(notes.model, "gpt-small");
    EXPECT_EQ(notes.accelerator, "a100-sxm-40gb");
    EXPECT_DOUBLE_EQ(notes.tokens, 1e10);
    EXPECT_FALSE(notes.start);
    EXPECT_THAT(text_report(results), Not(HasSubstr("done by")));
    results.study.scenario_text = "start = 2027-01-15\n" + results.study.scenario_text;
    notes = study_notes(results);
    ASSERT_TRUE(notes.start);
    const std::string text = text_report(results);
    EXPECT_THAT(text, HasSubstr("p50 55.2 days (2027-03-11), p90 57.5 days (2027-03-13), p99 58.4 days "
                                "(2027-03-14), assuming the "
                                "model is exact\n"));
    EXPECT_THAT(text, HasSubstr("done by"));
    EXPECT_THAT(text, Not(HasSubstr("deadline")));
    EXPECT_THAT(front_csv(results, "a.h5"),
                HasSubstr(",4968000,2027-03-11,2027-03-13,2027-03-14,,no software in particular,0,"));
}

TEST(StudyNotes, SayHowProbableItIsToMissTheDeadline)
{
    Results results = sample_of("small.toml");
    const std::string objectives = "[objectives]\n";
    std::string& text = results.study.scenario_text;
    text.replace(text.find(objectives), objectives.size(), objectives + "deadline = \"60 day\"\n");
    EXPECT_DOUBLE_EQ(study_notes(results).deadline.si, 60.0 * 86400.0);
    EXPECT_THAT(text_report(results),
                HasSubstr("missed after 60 days with this probability: including the model error, 4.7 % "
                          "(less than 0.1 % to 49 % "
                          "at the limits of its interval); assuming the model is exact, 2 %\n"));
    EXPECT_THAT(text_report(results), HasSubstr("miss probability"));
    EXPECT_THAT(text_report(results), HasSubstr("with model error"));
    // Limits of the risk with the model error.
    EXPECT_THAT(front_csv(results, "a.h5"), HasSubstr(",0.001,0.4"));
}

TEST(StudyNotes, SayOnWhichMoeRunsTheModelIntervalRests)
{
    int all = 0;
    int matching = 0;
    const FittedModel model = fitted_model();
    for (const FittedMoe& moe : model.moe) {
        EXPECT_GT(moe.rows, 0);
        all += moe.rows;
        matching += moe.accelerator == "h100-sxm" && moe.stack == "megatron-bridge" ? moe.rows : 0;
    }
    EXPECT_GT(matching, 0);
    EXPECT_LT(all, model.rows / 5);  // most runs are dense
    Results moe_results = sample_of("deepseek-v3-2048.toml");
    const std::string begin = std::to_string(all) + " of the " + std::to_string(model.rows) +
                              " runs in the fit train mixtures of experts, " + std::to_string(matching) +
                              " of them on h100-sxm with megatron-bridge 26.04; ";
    EXPECT_THAT(study_notes(moe_results).moe_note, StartsWith(begin));
    EXPECT_THAT(text_report(moe_results), HasSubstr(begin));
    EXPECT_EQ(study_notes(sample_of("small.toml")).moe_note, "");
    for (FrontPoint& point : moe_results.front) {
        point.model_fitted = 0.0;  // of an accelerator that was not measured: no less to be warned of
    }
    EXPECT_THAT(study_notes(moe_results).moe_note, StartsWith(begin));
}

TEST(StudyNotes, SayThatNoMixtureWasMeasuredOnAMachine)
{
    const Scenario scenario =
        parse_scenario(sample_of("deepseek-v3-2048.toml").study.scenario_text, "deepseek.toml");
    Cluster other = scenario.cluster;
    other.accelerator.name = "a100-sxm-80gb";
    EXPECT_THAT(moe_text(fitted_model(), {&scenario.workload}, {&other, &scenario.cluster}),
                HasSubstr(", none of them on a100-sxm-80gb with megatron-bridge 26.04, "));
}

}  // namespace
}  // namespace prismopt
