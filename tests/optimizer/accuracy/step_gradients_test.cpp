#include "optimizer/accuracy/step_gradients.hpp"
#include "io/scenario/scenario.hpp"

#include "io/scenario/reading/scaled_cluster.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

ParallelPlan pipelined()
{
    ParallelPlan plan;
    plan.tp = 2;
    plan.pp = 2;
    plan.dp = 4;
    return plan;
}

const char* const space = "gpus = [16]\ntp = [2]\npp = [2]\nmicrobatch = [1]\n";

TEST(Slowed, MultipliesTheStep)
{
    const Scenario scenario = tiny_scenario(space);
    const StudyModel model(scenario);
    const Problem& problem = model.problem;
    const auto log_step = [&](const Cluster& cluster) {
        return *log_noise_free_step({problem.workload, problem.phases.front(), cluster, problem.noise,
                                     problem.memory_limit},
                                    pipelined());
    };
    EXPECT_NEAR(log_step(slowed(problem.cluster, 1.25)) - log_step(problem.cluster), std::log(1.25), 1e-6);
}

/// Of the library of collectives, too.
TEST(StepGradients, KnowEachConstantThatMovesTheStep)
{
    const Scenario scenario = tiny_scenario(space);
    const StudyModel model(scenario);
    const Setting setting = setting_of(model.problem, model.problem.phases.front());
    const FittedModel fitted = fitted_model();
    StepGradients steps(setting, fitted);
    const std::vector<double> gradient = steps.of(pipelined());
    const double before = *steps.log_step(pipelined());
    constexpr double moved = 1e-3;
    bool of_library = false;
    for (std::size_t k = 0; k < fitted.constants.size(); ++k) {
        const Cluster cluster = scaled(setting.cluster, fitted.constants[k], std::exp(-moved));
        const auto compiled = compiled_without_limit(setting, pipelined());
        const double after = log_step_on(cluster, setting, *compiled, pipelined());
        EXPECT_NEAR(gradient[k], (before - after) / moved, 1e-6) << fitted.constants[k].key;
        of_library = of_library || (gradient[k] != 0.0 && fitted.constants[k].entries.front() == "nccl");
    }
    EXPECT_TRUE(of_library);
}

/// What a compiler forgets, after some plans, changes no step.
TEST(NoiseFreeCompiler, FindsWhatACompilerOfOnePlanFinds)
{
    const Scenario scenario = tiny_scenario(space);
    const StudyModel model(scenario);
    const Setting setting = without_memory_limit(setting_of(model.problem, model.problem.phases.front()));
    ParallelPlan single = pipelined();
    single.pp = 1;
    single.dp = 8;
    const double piped_alone = log_noise_free_step(setting, pipelined()).value();
    const double single_alone = log_noise_free_step(setting, single).value();
    ASSERT_NE(piped_alone, single_alone);
    NoiseFreeCompiler compiler(setting);
    for (int repeat = 0; repeat < 100; ++repeat) {
        ASSERT_EQ(compiler.log_step(pipelined()), piped_alone) << repeat;
        ASSERT_EQ(compiler.log_step(single), single_alone) << repeat;
    }
}

TEST(ModelIntervalOfLearned, IsThatOfMeasuredHardware)
{
    Scenario scenario = tiny_scenario(space);
    scenario.cluster.stack.borrowed = false;  // as software that was measured
    const StudyModel model(scenario);
    const FittedModel fitted = fitted_model();
    Problem learned = model.problem;
    learned.cluster =
        with_learned(learned.cluster, {{"gemm", {"a100-sxm-40gb"}, 0.8}, {"latency", {"ib-hdr"}, 2.0}}, 1.1);
    EXPECT_NE(learned.cluster.accelerator, model.problem.cluster.accelerator);
    EXPECT_DOUBLE_EQ(unlike_catalog(learned.cluster), 0.0);
    const ModelInterval before = model_interval(model.problem, pipelined(), fitted);
    const ModelInterval after = model_interval(learned, pipelined(), fitted);
    EXPECT_TRUE(after.fitted);
    EXPECT_NEAR(std::log(after.high), std::log(before.high), 0.1 * std::log(before.high));
    // What nobody measured is still less certain.
    learned.cluster.accelerator.efficiency.memory *= 0.7;
    EXPECT_GT(unlike_catalog(learned.cluster), 0.0);
    EXPECT_FALSE(model_interval(learned, pipelined(), fitted).fitted);
}

}  // namespace
}  // namespace prismopt
