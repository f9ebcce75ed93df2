#include "optimizer/api/search.hpp"

#include "io/base/input_error.hpp"
#include "optimizer/api/exports.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/api/scenarios.hpp"
#include "optimizer/api/shortlist.hpp"
#include "optimizer/program/log.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

namespace prismopt {
namespace {

class SearchOfProgram : public testing::Test {
protected:
    StudyOptions options(const std::string& name)
    {
        StudyOptions options;
        options.out = folder_.file(name);
        options.progress_every_s = 0.0;
        return options;
    }

    TemporaryFolder folder_;
    Scenario scenario_ =
        tiny_scenario("gpus = [4, 8]\ntp = [1, 2]\npp = [1, 2]\nmicrobatch = [1]\n",
                      "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }");
};

std::vector<std::uint64_t> numbers_of(const Results& results)
{
    std::vector<std::uint64_t> numbers;
    for (const FrontPoint& point : results.front) {
        numbers.push_back(point.index);
    }
    return numbers;
}

TEST_F(SearchOfProgram, DistinguishesASpaceWithoutAFeasiblePlanFromWrongInput)
{
    const Scenario too_large = changed(scenario_, {{"memory.headroom", "0.99999"}});
    EXPECT_THROW(search(too_large, options("none.h5")), NoFeasiblePlan);
    StudyOptions nowhere = options("none.h5");
    nowhere.out = folder_.file("no/such/folder.h5");
    try {
        search(scenario_, nowhere);
        FAIL();
    } catch (const NoFeasiblePlan&) {
        FAIL();
    } catch (const InputError&) {
    }
}

TEST_F(SearchOfProgram, ReportsItsProgressAndItsNotes)
{
    StudyOptions of = options("a.h5");
    std::vector<SearchProgress> seen;
    std::vector<std::string> notes;
    of.progress = [&seen](const SearchProgress& state) { seen.push_back(state); };
    of.message = [&notes](const std::string& text) { notes.push_back(text); };
    const StudyEnd end = search(scenario_, of);
    ASSERT_TRUE(end.complete);
    ASSERT_FALSE(seen.empty());
    const SearchProgress& last = seen.back();
    EXPECT_TRUE(last.finished);
    EXPECT_EQ(last.evaluated + last.pruned + last.open, last.feasible);
    EXPECT_EQ(last.feasible, end.results.feasible);
    EXPECT_FALSE(notes.empty());
    EXPECT_EQ(numbers_of(open_results(of.out)), numbers_of(end.results));
    EXPECT_TRUE(resume(of.out, {}).nothing_to_do);
}

TEST_F(SearchOfProgram, StopsOnRequestAndIsResumed)
{
    const Results whole = search(scenario_, options("whole.h5")).results;
    std::stop_source source;
    StudyOptions of = options("stopped.h5");
    of.stop = source.get_token();
    bool finished = false;
    of.progress = [&](const SearchProgress& state) {
        source.request_stop();
        finished = state.finished;
    };
    const StudyEnd stopped = search(scenario_, of);
    ASSERT_FALSE(stopped.complete);
    EXPECT_TRUE(finished);
    EXPECT_TRUE(open_results(of.out).provisional);
    EXPECT_EQ(journal_summary(of.out + ".journal").seed, scenario_.seed);
    const StudyEnd resumed = resume(of.out, {});
    ASSERT_TRUE(resumed.complete);
    EXPECT_EQ(numbers_of(resumed.results), numbers_of(whole));
    EXPECT_EQ(resumed.results.front.front().prediction.step.p99.value,
              whole.front.front().prediction.step.p99.value);
}

TEST_F(SearchOfProgram, ResultsHavePlansLaunchesAndShortlists)
{
    const Results results = search(scenario_, options("a.h5")).results;
    const ChosenPlan best = plan_at(results, {});
    EXPECT_EQ(best.plan.gpus(), results.front.front().prediction.gpus);
    EXPECT_THROW(plan_at(results, -1), InputError);

    StudyLaunches launches(results);
    const std::uint64_t number = launches.number({});
    EXPECT_EQ(std::get<Launch>(launches.launch(number)).plan.tp, best.plan.tp);
    EXPECT_THROW(launches.launch(number, 3), InputError);

    PlanChoice choice(results);
    const Shortlists all = choice.shortlists({.cover = 0.95});
    ASSERT_FALSE(all.lists.empty());
    for (const PlanShortlist& list : all.lists) {
        EXPECT_GE(list.plans.back().cover, 0.95);
        EXPECT_GE(list.contenders, list.plans.size());
    }
    EXPECT_THROW(choice.shortlists({.objective = "memory"}), InputError);
}

TEST_F(SearchOfProgram, NeedsAResultsFile) { EXPECT_THROW(search(scenario_, {}), InputError); }

TEST(LogReceiver, ReceivesOnlyWhatItsThreadLogsWhileItLives)
{
    std::vector<std::string> outer;
    std::vector<std::string> inner;
    LogReceiver first([&outer](const std::string& text) { outer.push_back(text); });
    {
        LogReceiver second([&inner](const std::string& text) { inner.push_back(text); });
        log_warning("inside");
        std::thread([] {
            LogReceiver other([](const std::string&) {});
            log_warning("elsewhere");
        }).join();
    }
    log_info("outside");
    EXPECT_EQ(inner, std::vector<std::string>{"inside"});
    EXPECT_EQ(outer, std::vector<std::string>{"outside"});
}

}  // namespace
}  // namespace prismopt
