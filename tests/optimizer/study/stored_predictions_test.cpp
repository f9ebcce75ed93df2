#include "optimizer/study/stored_predictions.hpp"
#include "io/base/input_error.hpp"
#include "optimizer/api/search.hpp"
#include "optimizer/api/shortlist.hpp"
#include "optimizer/api/watch.hpp"
#include "optimizer/program/release.hpp"
#include "optimizer/study/stored_study.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/older_results.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>

namespace prismopt {
namespace {

class StoredPredictions : public testing::Test {
protected:
    StoredPredictions()
    {
        const Scenario scenario =
            tiny_scenario("gpus = [4, 8]\ntp = [1]\npp = [1, 2]\nmicrobatch = [1, 2]\n",
                          "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }");
        StudyOptions options;
        options.out = folder_.file("tiny.h5");
        options.posterior = false;
        results_ = search(scenario, options).results;
    }

    /// The refusal of the results; empty: they are used.
    static std::string refusal(const Results& results)
    {
        const StoredStudy study(results);
        try {
            refuse_other_predictions(study.model(), results);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }

    double& noise_free_step() { return results_.front.back().prediction.noise_free_step_s; }
    double& mean_step() { return results_.front.front().prediction.step.mean.value; }

    TemporaryFolder folder_;
    Results results_;
};

TEST_F(StoredPredictions, OfThisBuildAreUsed)
{
    ASSERT_FALSE(results_.front.empty());
    EXPECT_EQ(refusal(results_), "");
    EXPECT_EQ(refusal(without_single_axes(results_)), "");
}

TEST_F(StoredPredictions, OfOtherBuildsAreUsedWhereTheyAgree)
{
    results_.study.build = {.version = "0.0.9", .commit = "0123abc-dirty", .catalog = ""};
    noise_free_step() *= 1.005;
    mean_step() *= 0.995;
    EXPECT_EQ(refusal(results_), "");
}

TEST_F(StoredPredictions, WithAnotherNoiseFreeStepAreRefusedWithBothBuilds)
{
    results_.study.build = {.version = "0.0.9", .commit = "0123abc", .catalog = "12"};
    noise_free_step() *= 1.02;
    EXPECT_THAT(refusal(results_), testing::AllOf(testing::HasSubstr("noise-free step"),
                                                  testing::HasSubstr("prismopt 0.0.9 (0123abc, catalog 12)"),
                                                  testing::HasSubstr(build_text(this_build())),
                                                  testing::HasSubstr("init --from")));
}

TEST_F(StoredPredictions, WithAnotherMeanStepAreRefused)
{
    mean_step() *= 0.97;
    EXPECT_THAT(refusal(results_), testing::HasSubstr("mean step"));
}

TEST_F(StoredPredictions, OfProvisionalFrontsAreComparedWithoutDraws)
{
    results_.provisional = true;
    mean_step() *= 0.97;
    EXPECT_EQ(refusal(results_), "");
    noise_free_step() *= 0.98;
    EXPECT_NE(refusal(results_), "");
}

TEST_F(StoredPredictions, ThatAFileDoesNotHaveAreNotCompared)
{
    noise_free_step() = std::numeric_limits<double>::quiet_NaN();
    mean_step() = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(refusal(results_), "");
    results_.front.clear();
    EXPECT_EQ(refusal(results_), "");
}

TEST_F(StoredPredictions, AreCheckedByWhatMixesThemWithNewOnes)
{
    const std::string table = folder_.file("measured.csv");
    std::ofstream(table) << fmt::format("point,step_time_s\n{},{}\n", results_.front.front().index,
                                        mean_step());
    EXPECT_NO_THROW(PlanChoice{results_});
    EXPECT_NO_THROW((PlanChoice{results_, table}));
    EXPECT_NO_THROW((JobWatch{results_, "tiny.h5", {}, "job.log"}));
    noise_free_step() *= 2.0;
    EXPECT_THROW(PlanChoice{results_}, InputError);
    EXPECT_THROW((PlanChoice{results_, table}), InputError);
    EXPECT_THROW((JobWatch{results_, "tiny.h5", {}, "job.log"}), InputError);
}

}  // namespace
}  // namespace prismopt
