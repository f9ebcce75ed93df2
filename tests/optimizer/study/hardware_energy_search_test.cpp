/// Searches of hardware whose energy follows the work, against all of its plans, drawn with the same draws.

#include "io/scenario/variants.hpp"
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
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>

namespace prismopt {
namespace {

constexpr int drawn_fleets = 128;

constexpr const char* hardware_choices = R"(
[[knob]]
of = "compute"
values = ["312 TFLOP/s", "624 TFLOP/s"]
price = { per = "312 TFLOP/s", cost = "0.50 USD/h" }

[[knob]]
of = "failure_rate"
values = ["1e-2 /day", "4e-2 /day"]
price = { per = "3e-2 /day", cost = "0.05 USD/h" }

[[bundle]]
name = "optics"

[[bundle.option]]
name = "pluggable"

[[bundle.option]]
name = "cpo"
price = "0.20 USD/h"
set = [
  { of = "bandwidth", tier = "cluster", value = "100 GB/s", energy = "34 pJ/bit" },
  { of = "latency", tier = "cluster", value = "3 us" },
  { of = "group", tier = "node", value = 12 },
]
)";

/// A space with some of the values of each axis, on hardware to choose from.
Scenario random_hardware(unsigned seed)
{
    std::mt19937 random(seed);
    std::string space = "gpus = [4, 8, 12, 24]\n";
    space += some_of(random, "tp", {"1", "2"});
    space += some_of(random, "pp", {"1", "2", "4"});
    space += some_of(random, "microbatch", {"1", "2"});
    space += some_of(random, "recompute", {"\"none\"", "\"selective\"", "\"full\""});
    space += some_of(random, "sharding", {"\"none\"", "\"zero1\"", "\"zero3\""});
    const std::string search = fmt::format(
        "rungs = [{{ fleets = 64, steps = 2 }}, {{ fleets = {0}, steps = 2 }}]\nconfirm = {{ fleets = 64, "
        "steps = 2 }}\n"
        "strategy = \"exact\"\nconfidence = 0.99\n{1}",
        drawn_fleets, hardware_choices);
    return changed(tiny_scenario(space, search),
                   {{"objectives.minimise", R"(["energy", "gpus"])"}, {"seed", std::to_string(seed)}});
}

TEST(HardwareEnergySearch, FindsTheFrontOfEnergyOfAllPlansAndHardware)
{
    TemporaryFolder folder;
    std::size_t fast = 0;
    const unsigned cases = random_cases(7, 20);
    for (unsigned seed = 1; seed <= cases; ++seed) {
        SCOPED_TRACE(fmt::format("space {}", seed));
        const Scenario scenario = random_hardware(seed);
        ASSERT_EQ(scenario.variants.size(), 8U);
        const StudyModel model(scenario);
        HardwareBench bench(scenario, model.problem);
        Worker worker(model);
        std::map<int, std::pair<double, std::uint64_t>> least;  // [GPUs]: energy of all plans
        for (const Bound& bound :
             worker.sweep({.begin = 0, .end = model.designs.space().size(), .within_limits = false})
                 .feasible) {
            Judgement judgement;
            judgement.point = {.index = bound.index, .rung = 2};
            judgement.steps = 2;
            judgement.draws = worker.draw({{bound.index}, {0, drawn_fleets, 2}, {}}).front();
            const Prediction prediction = worker.judge(judgement).drawn->prediction;
            const Point point = model.designs.space().point(bound.index);
            const auto of_plan = bench.of(model.designs.variant(point)).bound(model.designs.plan(point));
            EXPECT_LE(std::get<NoiseFree>(of_plan).energy_j, prediction.run.energy_j.simultaneous_high)
                << bound.index;
            const std::pair found{prediction.run.energy_j.value, bound.index};
            const auto [known, added] = least.try_emplace(prediction.gpus, found);
            if (!added) {
                known->second = std::min(known->second, found);
            }
        }
        std::set<std::uint64_t> expected;
        double so_far = std::numeric_limits<double>::infinity();
        for (const auto& [gpus, plan] : least) {
            if (plan.first < so_far) {
                expected.insert(plan.second);
                so_far = plan.first;
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
            const std::string words = model.designs.variant_words(model.designs.space().point(point.index));
            fast += words.find("compute=624TFLOP/s") != std::string::npos ? 1 : 0;
            EXPECT_NE(words.find("optics="), std::string::npos) << words;
        }
        for (const std::uint64_t index : expected) {
            EXPECT_TRUE(found.contains(index))
                << index << ' ' << model.designs.variant_words(model.designs.space().point(index));
        }
    }
    EXPECT_GT(fast, 0U);
}

}  // namespace
}  // namespace prismopt
