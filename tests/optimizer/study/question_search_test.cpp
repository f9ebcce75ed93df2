/// Searches with a question against the answer of all plans, drawn with the same draws.

#include "optimizer/api/scenarios.hpp"
#include "optimizer/api/search.hpp"
#include "optimizer/study/worker.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/random_axis.hpp"
#include "tests/optimizer/tiny_study.hpp"
#include "tests/support/random_cases.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr int fleets = 128;

/// A space with some of the values of each axis.
Scenario random_scenario(unsigned seed)
{
    std::mt19937 random(seed);
    std::string space = "gpus = [4, 8, 12, 24]\n";
    space += some_of(random, "tp", {"1", "2"});
    space += some_of(random, "pp", {"1", "2", "4"});
    space += some_of(random, "microbatch", {"1", "2"});
    space += some_of(random, "recompute", {"\"none\"", "\"selective\"", "\"full\""});
    space += some_of(random, "sharding", {"\"none\"", "\"zero1\"", "\"zero3\""});
    space += some_of(random, "checkpoint_interval", {"\"1 min\"", "\"10 min\""});
    const std::string search = fmt::format(
        "rungs = [{{ fleets = 64, steps = 2 }}, {{ fleets = {0}, steps = 2 }}]\nconfirm = {{ fleets = 64, "
        "steps = 2 }}\n"
        "strategy = \"exact\"\nconfidence = 0.99\n",
        fleets);
    return changed(tiny_scenario(space, search),
                   {{"objectives.minimise", R"(["cost"])"}, {"seed", std::to_string(seed)}});
}

/// Cost and promised time of all feasible plans, from the draws with which a search
/// compares plans; and their bounds.
struct DrawnPlan {
    int gpus = 0;
    double cost = 0.0;
    double promised_s = 0.0;
    double most_promised_s = 0.0;  // upper limit that fails once in 20,000
    double bound_s = 0.0;          // of the promised time
};
std::map<std::uint64_t, DrawnPlan> all_plans(const Scenario& scenario)
{
    const StudyModel model(scenario);
    HardwareBench bench(scenario, model.problem);
    Worker worker(model);
    std::map<std::uint64_t, DrawnPlan> all;
    const Sweep sweep =
        worker.sweep({.begin = 0, .end = model.designs.space().size(), .within_limits = false});
    for (const Bound& bound : sweep.feasible) {
        Judgement judgement;
        judgement.point = {.index = bound.index, .rung = 2};
        judgement.steps = 2;
        judgement.draws = worker.draw({{bound.index}, {0, fleets, 2}, {}}).front();
        const Prediction prediction = worker.judge(judgement).drawn->prediction;
        const Point point = model.designs.space().point(bound.index);
        const auto least = bench.of(model.designs.variant(point)).bound(model.designs.plan(point));
        all[bound.index] = {prediction.gpus, prediction.cost_usd.value, prediction.promised.value,
                            prediction.promised.simultaneous_high, std::get<NoiseFree>(least).promised_s};
    }
    return all;
}

/// Of the plans that keep the deadline, the cheapest.
std::uint64_t cheapest(const std::map<std::uint64_t, DrawnPlan>& plans, double deadline)
{
    const std::pair<const std::uint64_t, DrawnPlan>* best = nullptr;
    for (const auto& plan : plans) {
        if (plan.second.promised_s <= deadline && (best == nullptr || plan.second.cost < best->second.cost)) {
            best = &plan;
        }
    }
    return best->first;
}

/// Deadlines from the least promised time on. Besides its cheapest plan in time, the front has plans at the
/// limit, and the one that comes nearest to the deadline at a lower cost.
TEST(QuestionSearch, FindsWhatAllPlansWouldAnswer)
{
    TemporaryFolder folder;
    const unsigned spaces = random_cases(10, 30);
    for (unsigned seed = 1; seed <= spaces; ++seed) {
        SCOPED_TRACE(fmt::format("space {}", seed));
        const Scenario scenario = random_scenario(seed);
        const auto with_deadline = [&](double seconds) {
            return changed(
                scenario,
                {{"question.deadline", fmt::format("\"{:.6f} s\"", seconds)},
                 {"question.probability", seed % 3 == 0   ? "0.95"
                                          : seed % 3 == 1 ? "0.9"
                                                          : "0.8"},
                 {"question.model_error", seed % 4 == 0 ? "false" : "true"},
                 {"software.name", seed % 2 == 0 ? R"("megatron-lm")" : R"("reference")"},
                 {"software.assumed", seed % 2 == 0 ? "true" : "false"},
                 {"power.electricity_price", seed % 5 < 2 ? R"("3 USD/kWh")" : R"("1e-6 USD/kWh")"}});
        };
        const std::map<std::uint64_t, DrawnPlan> plans = all_plans(with_deadline(1e9));
        std::vector<double> times;
        for (const auto& [index, plan] : plans) {
            times.push_back(plan.promised_s);
            EXPECT_LE(plan.bound_s, plan.most_promised_s) << index;
            EXPECT_TRUE(plan.bound_s > 0.0 || seed % 2 == 0)
                << index << ": with other software it may be as fast as it likes";
        }
        std::sort(times.begin(), times.end());
        const double deadline = times[times.size() * (seed % 7) / 8] * (1.0 + 1e-4);

        StudyOptions options;
        options.out = folder.file(fmt::format("{}.h5", seed));
        options.posterior = false;
        const Results results = search(with_deadline(deadline), options).results;
        EXPECT_TRUE(results.study.outcome.proved) << results.study.outcome_text;
        const std::uint64_t expected = cheapest(plans, deadline);
        bool found = false;
        bool in_time = false;  // also by the draws that confirm it
        int late = 0;
        for (const FrontPoint& point : results.front) {
            found = found || point.index == expected;
            in_time = in_time || (point.index == expected && point.prediction.promised.value <= deadline);
            const DrawnPlan& plan = plans.at(point.index);
            EXPECT_TRUE(point.index == expected || plan.cost == plans.at(expected).cost ||
                        plan.promised_s > deadline)
                << point.index;
            late += plan.promised_s > 1.1 * deadline ? 1 : 0;
        }
        EXPECT_TRUE(found) << expected;
        EXPECT_LE(late, 1) << "only the plan that comes nearest to the deadline";
        const auto is_smaller = [&](const DrawnPlan& plan) { return plan.gpus < plans.at(expected).gpus; };
        const bool listed =
            std::any_of(results.front.begin(), results.front.end(),
                        [&](const FrontPoint& point) { return is_smaller(plans.at(point.index)); });
        const bool known = std::any_of(plans.begin(), plans.end(),
                                       [&](const auto& plan) { return is_smaller(plan.second); });
        EXPECT_EQ(listed, known && in_time)
            << "fewer GPUs are not enough, although bounds alone exclude them";
    }
}

/// The front of costs with electricity, which decides here, is the one of all plans.
TEST(QuestionSearch, FindsTheFrontOfCostsWithElectricity)
{
    TemporaryFolder folder;
    for (unsigned seed = 1; seed <= 8; ++seed) {
        SCOPED_TRACE(fmt::format("space {}", seed));
        const Scenario scenario =
            changed(random_scenario(seed), {{"objectives.minimise", R"(["cost", "gpus"])"},
                                            {"power.electricity_price", R"("20 USD/kWh")"},
                                            {"power.idle_share", "0.1"}});
        const StudyModel model(scenario);
        std::map<int, std::pair<double, std::uint64_t>> least;  // [GPUs]: of all plans
        for (const auto& [index, plan] : all_plans(scenario)) {
            const int gpus = model.designs.plan(model.designs.space().point(index)).gpus();
            const auto [known, added] = least.try_emplace(gpus, plan.cost, index);
            if (!added) {
                known->second = std::min(known->second, std::pair{plan.cost, index});
            }
        }
        std::set<std::uint64_t> expected;
        double cheapest_so_far = std::numeric_limits<double>::infinity();
        for (const auto& [gpus, plan] : least) {
            if (plan.first < cheapest_so_far) {
                expected.insert(plan.second);
                cheapest_so_far = plan.first;
            }
        }
        StudyOptions options;
        options.out = folder.file(fmt::format("{}.h5", seed));
        options.posterior = false;
        const Results results = search(scenario, options).results;
        EXPECT_TRUE(results.study.outcome.proved) << results.study.outcome_text;
        std::set<std::uint64_t> found;
        for (const FrontPoint& point : results.front) {
            found.insert(point.index);
            EXPECT_GT(point.prediction.run.electricity_usd.value, 0.5 * point.prediction.cost_usd.value);
        }
        for (const std::uint64_t index : expected) {
            EXPECT_TRUE(found.contains(index)) << index;
        }
    }
}

/// 2 of the 24 GPUs: the same limit of the power allows more of them for the job than for
/// the cluster, whose others wait.
TEST(QuestionSearch, LimitsThePowerOfTheJobOrOfTheCluster)
{
    TemporaryFolder folder;
    const std::string small =
        "gpus = [1, 2, 4]\ntp = [1]\npp = [1]\nmicrobatch = [1]\nrecompute = [\"none\"]\nsharding = "
        "[\"none\"]\n";
    const std::string rungs = "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }\n";
    const auto front_of = [&](const std::string& scope, double watts) {
        StudyOptions options;
        options.out = folder.file(scope + ".h5");
        options.posterior = false;
        return search(changed(tiny_scenario(small, rungs),
                              {{"objectives.minimise", R"(["training_time_p99", "gpus"])"},
                               {"question.minimise", R"("time")"},
                               {"question.power_limit", fmt::format("\"{:.1f} W\"", watts)},
                               {"question.power_limit_of", fmt::format("\"{}\"", scope)}}),
                      options)
            .results.front;
    };
    const Scenario scenario = tiny_scenario(small, rungs);
    const double board_w = scenario.cluster.accelerator.power.si;
    const double host_w = scenario.power.host.si;
    const double busy_w = scenario.power.pue * (scenario.power.board_share * board_w + host_w);
    const double idle_w = scenario.power.pue * (scenario.power.idle_share * board_w + host_w);
    const double limit_w = 2.0 * busy_w + 22.0 * idle_w + 1.0;
    int most_of_job = 0;
    for (const FrontPoint& point : front_of("job", limit_w)) {
        most_of_job = std::max(most_of_job, point.prediction.gpus);
        EXPECT_NEAR(point.prediction.run.power_w, point.prediction.gpus * busy_w, 1e-6 * limit_w);
    }
    int most_of_cluster = 0;
    for (const FrontPoint& point : front_of("cluster", limit_w)) {
        most_of_cluster = std::max(most_of_cluster, point.prediction.gpus);
        EXPECT_LE(point.prediction.run.cluster_power_w, limit_w);
    }
    EXPECT_EQ(most_of_cluster, 2);
    EXPECT_EQ(most_of_job, 4);
}

/// A search that would rank plans by a placeholder leaves nothing behind.
TEST(QuestionSearch, RefusesPlaceholders)
{
    TemporaryFolder folder;
    StudyOptions options;
    options.out = folder.file("placeholder.h5");
    for (const std::string key : {"cluster.gpu_price", "power.electricity_price"}) {
        const std::string price =
            key == "cluster.gpu_price" ? "\"1 USD/h (placeholder)\"" : "\"0.1 USD/kWh (placeholder)\"";
        const Scenario scenario = changed(random_scenario(1), {{key, price}});
        EXPECT_THROW(search(scenario, options), InputError) << key;
        EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(options.out).parent_path())) << key;
    }
}

/// Where no plan is in time, the front is that of a search without the question.
TEST(QuestionSearch, GoesOnWithoutADateThatNoPlanKeeps)
{
    TemporaryFolder folder;
    const auto front_of = [&](const std::string& name, const std::string& deadline) {
        StudyOptions options;
        options.out = folder.file(name);
        options.posterior = false;
        std::set<std::uint64_t> front;
        const Scenario scenario = changed(random_scenario(1), {{"question.deadline", deadline}});
        for (const FrontPoint& point : search(scenario, options).results.front) {
            front.insert(point.index);
        }
        return front;
    };
    const std::set<std::uint64_t> too_soon = front_of("soon.h5", "\"1 min\"");
    EXPECT_FALSE(too_soon.empty());
    EXPECT_EQ(too_soon, front_of("late.h5", "\"10000 day\""));
}

}  // namespace
}  // namespace prismopt
