#include "model/base/parallel.hpp"
#include "optimizer/api/explain.hpp"
#include "optimizer/api/improve.hpp"
#include "optimizer/api/search.hpp"
#include "optimizer/api/sensitivity.hpp"
#include "optimizer/api/shortlist.hpp"
#include "optimizer/parallel/stop.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace prismopt {
namespace {

/// Long answers stop where their pause throws, early and late.
class PausedAnswer : public testing::Test {
protected:
    PausedAnswer()
        : scenario_(
              tiny_scenario("gpus = [4, 8]\ntp = [1]\npp = [1, 2]\nmicrobatch = [1, 2]\n",
                            "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }")),
          plan_(plan_with(scenario_, "gpus=8 pp=2 microbatch=1"))
    {
    }

    static void expect_stops(const std::function<void(const Pause&)>& answer)
    {
        int all = 0;
        answer([&all] { ++all; });
        EXPECT_GE(all, 2);
        for (const int last : {1, all / 2, all}) {
            int pauses = 0;
            const Pause stop = [&] {
                if (++pauses == last) {
                    throw Stopped("enough");
                }
            };
            EXPECT_THROW(answer(stop), Stopped) << "pause " << last << " of " << all;
            EXPECT_EQ(pauses, last);
        }
    }

    TemporaryFolder folder_;
    Scenario scenario_;
    ChosenPlan plan_;
};

TEST_F(PausedAnswer, OfWhyAPlanTakesItsTimeStops)
{
    expect_stops([this](const Pause& pause) { explain(plan_, true, pause); });
    expect_stops([this](const Pause& pause) {
        explain_against(plan_, plan_with(scenario_, "gpus=8 pp=1 microbatch=1"), pause);
    });
}

TEST_F(PausedAnswer, OfBetterPlansStops)
{
    expect_stops([this](const Pause& pause) { improve(plan_, {}, pause); });
}

TEST_F(PausedAnswer, OfWhatTimesDependOnStops)
{
    SensitivityOptions options;
    options.fleets = 128;
    expect_stops([&](const Pause& pause) { sensitivity_of(plan_, options, pause); });
}

TEST_F(PausedAnswer, OfWhichPlansToMeasureStops)
{
    StudyOptions options;
    options.out = folder_.file("tiny.h5");
    options.posterior = false;
    const Results results = search(scenario_, options).results;
    expect_stops([&](const Pause& pause) { PlanChoice(results, pause); });
}

}  // namespace
}  // namespace prismopt
