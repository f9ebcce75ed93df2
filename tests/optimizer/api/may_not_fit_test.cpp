/// Plans that would be on the front, but may not fit into memory.

#include "optimizer/api/results.hpp"
#include "optimizer/api/scenarios.hpp"
#include "optimizer/api/search.hpp"

#include "model/hardware/memory_limit.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace prismopt {
namespace {

class MayNotFit : public testing::Test {
protected:
    StudyOptions options(const std::string& name)
    {
        StudyOptions options;
        options.out = folder_.file(name);
        options.posterior = false;
        return options;
    }

    Results found(const std::string& name, const std::string& probability, const std::string& headroom,
                  const std::string& strategy = "exact",
                  const std::string& objectives = R"(["step_time_mean", "gpus"])")
    {
        const Scenario scenario = changed(scenario_, {{"memory.probability", probability},
                                                      {"memory.headroom", headroom},
                                                      {"objectives.minimise", objectives},
                                                      {"search.strategy", "\"" + strategy + "\""}});
        return search(scenario, options(name)).results;
    }

    TemporaryFolder folder_;
    Scenario scenario_ = changed(
        tiny_scenario(
            "gpus = [4, 8, 24]\ntp = [1, 2]\npp = [1, 2, 4]\nmicrobatch = [1, 2, 4]\n"
            "recompute = [\"none\", \"selective\", \"full\"]\nsharding = [\"none\", \"zero1\", \"zero3\"]\n",
            "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }"),
        {{"objectives.minimise", "[\"step_time_mean\", \"gpus\"]"}});
};

std::map<std::uint64_t, double> by_point(const std::vector<FrontPoint>& plans)
{
    std::map<std::uint64_t, double> found;
    for (const FrontPoint& plan : plans) {
        if (!plan.dominated) {
            found[plan.index] = plan.objectives.front().value;
        }
    }
    return found;
}

/// The search with a limit of 90 % is that with a memory which is smaller by the factor.
TEST_F(MayNotFit, LeavesTheFrontOfTheSmallerMemory)
{
    const double share = 0.1;  // of the memory, without the headroom
    MemoryLimit limit = scenario_.memory_limit;
    limit.headroom = 1.0 - share;
    const double factor = memory_capacity(limit, Bytes{1.0}).si;
    ASSERT_LT(factor, share);
    const Results with_limit = found("limit.h5", "0.9", "0.9");
    const Results smaller = found("smaller.h5", "0.5", fmt::format("{:.17g}", 1.0 - factor));
    EXPECT_EQ(by_point(with_limit.front), by_point(smaller.front));
    EXPECT_EQ(with_limit.feasible, smaller.feasible);
    EXPECT_EQ(with_limit.study.outcome_text, smaller.study.outcome_text);
    for (const FrontPoint& plan : with_limit.front) {
        EXPECT_GE(plan.prediction.fit_probability, 0.9);
    }
}

/// The list is what a search of all plans of 20 % and more, which also minimises memory, adds to the front.
TEST_F(MayNotFit, ListsWhatTheFrontLacks)
{
    int listed = 0;
    for (const char* headroom : {"0.89", "0.9", "0.904", "0.908", "0.91", "0.912"}) {
        const std::string name(headroom);
        const Results separate = found(name + ".h5", "0.9", headroom);
        const Results together =
            found(name + "-all.h5", "0.2", headroom, "exact", R"(["step_time_mean", "gpus", "memory"])");
        EXPECT_TRUE(together.may_not_fit.plans.empty());
        std::map<std::uint64_t, double> expected;
        for (const FrontPoint& plan : together.front) {
            if (!plan.dominated && plan.prediction.fit_probability < 0.9) {
                expected[plan.index] = plan.objectives.front().value;
            }
        }
        EXPECT_EQ(by_point(separate.may_not_fit.plans), expected) << name;
        EXPECT_TRUE(separate.may_not_fit.proved) << separate.may_not_fit.outcome;
        for (const FrontPoint& plan : separate.may_not_fit.plans) {
            EXPECT_LT(plan.prediction.fit_probability, 0.9);
            EXPECT_GE(plan.prediction.fit_probability, 0.2);
        }
        listed += static_cast<int>(expected.size());
        EXPECT_EQ(by_point(open_results(folder_.file(name + ".h5")).may_not_fit.plans), expected);
    }
    EXPECT_GT(listed, 0);
}

TEST_F(MayNotFit, IsSearchedButNotProvedAfterARace)
{
    const Results results = found("race.h5", "0.9", "0.908", "racing");
    EXPECT_FALSE(results.may_not_fit.proved);
    EXPECT_THAT(results.may_not_fit.outcome, testing::HasSubstr("evaluated"));
}

TEST_F(MayNotFit, IsNotSearchedByStrategiesThatCheckFewPlans)
{
    const Results results = found("few.h5", "0.9", "0.88", "random");
    EXPECT_TRUE(results.may_not_fit.plans.empty());
    EXPECT_FALSE(results.may_not_fit.proved);
    EXPECT_THAT(results.may_not_fit.outcome, testing::HasSubstr("random"));
}

/// A search that is stopped again and again, and resumed, has the list of one that runs through.
TEST_F(MayNotFit, SurvivesStops)
{
    const Scenario scenario = changed(scenario_, {{"memory.headroom", "0.908"}});
    const Results whole = search(scenario, options("whole.h5")).results;
    ASSERT_FALSE(whole.may_not_fit.plans.empty());
    StudyOptions of = options("stopped.h5");
    of.progress_every_s = 0.0;
    int stops = 0;
    StudyEnd end;
    do {
        std::stop_source source;
        of.stop = source.get_token();
        // What is known is reported again.
        of.progress = [&source, left = 1 + 20 * stops](const SearchProgress&) mutable {
            if (--left == 0) {
                source.request_stop();
            }
        };
        end = stops == 0 ? search(scenario, of) : resume(of.out, of);
        of.resume = true;
        ++stops;
        ASSERT_LT(stops, 500);
    } while (!end.complete);
    EXPECT_GT(stops, 2);
    EXPECT_EQ(by_point(end.results.may_not_fit.plans), by_point(whole.may_not_fit.plans));
    EXPECT_EQ(by_point(end.results.front), by_point(whole.front));
    EXPECT_EQ(end.results.may_not_fit.outcome, whole.may_not_fit.outcome);
}

}  // namespace
}  // namespace prismopt
