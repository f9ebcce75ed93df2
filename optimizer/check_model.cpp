#include "optimizer/check_model.hpp"

#include "model/predictor.hpp"
#include "optimizer/design_map.hpp"

#include <array>

namespace prismopt {

namespace {

constexpr DrawRange draws{0, 128, 2};  // the mean of 256 steps is good to some 0.1 %

CheckedRun check(const PublishedRun& run)
{
    ParallelPlan plan = parse_design(run.design, run.scenario);
    plan.sequence_parallel = run.sequence_parallel;
    Problem problem;
    problem.workload = run.scenario.workload;
    problem.phases = run.scenario.phases;
    problem.cluster = run.scenario.cluster;
    problem.memory_headroom = -1e3;  // no limit
    problem.noise = build_noise_tables(run.scenario.variability, std::array{plan.tp});
    Predictor predictor(problem);
    const SamplerOptions options{1, Purpose::confirm, 4};
    const Prediction prediction =
        predictor.summarise(plan, predictor.sample(plan, draws, options), draws.steps, options, Confidence{});

    CheckedRun result{run, run.step_time.si, prediction.step.mean.value, prediction.memory.total().si};
    if (result.measured_s == 0.0) {
        const Phase& phase = problem.phases.front();
        const double flops = model_flops_per_sequence(problem.workload, phase.sequence) * phase.global_batch;
        result.measured_s = flops / plan.gpus() / run.compute_rate.si;
    }
    return result;
}

}  // namespace

std::vector<CheckedRun> check_model()
{
    std::vector<CheckedRun> results;
    for (const PublishedRun& run : published_runs()) {
        results.push_back(check(run));
    }
    return results;
}

}  // namespace prismopt
