/// What a program pays that calls the library; python_speed.py compares the Python module with it.

#include "optimizer/api/prismopt.hpp"
#include "optimizer/study/study_model.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

namespace prismopt::bench {

namespace {

const Scenario& scenario()
{
    static const Scenario read = read_scenario(PRISMOPT_SOURCE_DIR "/jobs/scenarios/llama3-405b-16k.toml");
    return read;
}

constexpr std::size_t plans_known = 3000;
constexpr std::size_t plan_step = 30;  // python_speed.py takes the same plans

/// Noise-free step, memory and feasibility of plans of a scenario.
void noise_free_plans(benchmark::State& state)
{
    const std::vector<PlanInSpace> plans = feasible_plans(scenario(), plans_known);
    const StudyModel model(scenario());
    Predictor predictor(model.problem);
    std::int64_t bounded = 0;
    for (auto _ : state) {
        for (std::size_t i = 0; i < plans.size(); i += plan_step) {
            auto bound = predictor.bound(plans[i].plan);
            benchmark::DoNotOptimize(bound);
            ++bounded;
        }
    }
    state.SetItemsProcessed(bounded);
}
BENCHMARK(noise_free_plans)->Unit(benchmark::kMillisecond);

/// One plan with 1,024 draws, and all that follows from them.
void predict_plan(benchmark::State& state)
{
    const std::string words = feasible_plans(scenario(), 1).front().design;
    const ScenarioPredictor predictor(scenario());
    for (auto _ : state) {
        auto prediction = predictor.predict(words, 1024);
        benchmark::DoNotOptimize(prediction);
    }
}
BENCHMARK(predict_plan)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace prismopt::bench
