/// Speed of the sampler and of what it is made of. Compare rates inside one run: machines are noisy.
/// Rates are op draws (or numbers, or plans) per second.

#include "tests/benchmarks/jobs.hpp"
#include "tests/benchmarks/roofs.hpp"

#include "model/step/graph/mean_step.hpp"
#include "model/step/sample/lane_kernels.hpp"

#include <benchmark/benchmark.h>
#include <omp.h>

namespace prismopt::bench {
namespace {

const PipelineJob& job()
{
    static const PipelineJob pipeline(16, 64);
    return pipeline;
}

void scalar_reference(benchmark::State& state)
{
    const ExecutionGraph graph = job().graph();
    constexpr int draws = 32;  // so many that a processor does not learn the sequence
    for (auto _ : state) {
        benchmark::DoNotOptimize(scalar_steps(graph, draws, state.range(0) != 0));
    }
    state.SetItemsProcessed(state.iterations() * draws *
                            static_cast<std::int64_t>(graph.program->ops.size()));
}
BENCHMARK(scalar_reference)->ArgName("every_factor")->Arg(0)->Arg(1);

/// Plans with distributions of their own, on one block of draws.
void sampler(benchmark::State& state)
{
    const auto graphs = job().candidates(static_cast<std::size_t>(state.range(0)));
    const auto list = pointers(graphs);
    omp_set_num_threads(1);
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            sample_steps(list, job().problem().noise, {0, block_fleets, 1}, {1, Purpose::search, 2}));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0) * block_fleets *
                            static_cast<std::int64_t>(graphs.front().program->ops.size()));
}
BENCHMARK(sampler)->ArgName("plans")->Arg(1)->Arg(16)->Arg(256);

/// Plans whose ops share a distribution up to scale.
void sampler_one_distribution(benchmark::State& state)
{
    static const PipelineJob plain(16, 64, residuals_only());
    const auto graphs = plain.candidates_of_one_distribution(static_cast<std::size_t>(state.range(0)));
    const auto list = pointers(graphs);
    omp_set_num_threads(1);
    constexpr int draws = 1024;
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            sample_steps(list, plain.problem().noise, {0, draws, 1}, {1, Purpose::search, 2}));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0) * draws *
                            static_cast<std::int64_t>(graphs.front().program->ops.size()));
}
BENCHMARK(sampler_one_distribution)->ArgName("plans")->Arg(16)->Arg(1000);

/// One replica of a plan with many: what ranking replicas costs beside simulating four.
void sampler_of_replicas(benchmark::State& state)
{
    ParallelPlan plan = job().plan();
    plan.dp = static_cast<int>(state.range(0));
    Problem problem = job().problem();
    problem.phases.front().global_batch *= plan.dp;
    problem.cluster.gpus *= plan.dp;
    PlanCompiler compiler({problem.workload, problem.phases.front(), problem.cluster, problem.noise});
    const ExecutionGraph graph = std::get<CompiledPlan>(compiler.compile(plan)).graph;
    omp_set_num_threads(1);
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            sample_steps(graph, problem.noise, {0, block_fleets, 1}, {1, Purpose::search, 4}));
    }
    state.SetItemsProcessed(state.iterations() * block_fleets);
}
BENCHMARK(sampler_of_replicas)->ArgName("replicas")->Arg(1)->Arg(16)->Arg(128)->Unit(benchmark::kMicrosecond);

void first_level_cache(benchmark::State& state)
{
    double bytes_per_s = 0.0;
    for (auto _ : state) {
        bytes_per_s = first_level_bytes_per_s();
    }
    state.counters["GB_per_s"] = bytes_per_s * 1e-9;
}
BENCHMARK(first_level_cache)->Unit(benchmark::kMillisecond);

void philox(benchmark::State& state)
{
    Words fleet{};
    Words who{};
    std::array<Words, 4> words;
    std::uint32_t event = 0;
    for (auto _ : state) {
        philox_lanes(1, fleet, who, event++, 0, words);
        benchmark::DoNotOptimize(words);
    }
    state.SetItemsProcessed(state.iterations() * lanes * 4);
}
BENCHMARK(philox);

void table_lookup(benchmark::State& state)
{
    Words bits{};
    Floats out;
    for (int l = 0; l < lanes; ++l) {
        bits.at[l] = static_cast<std::uint32_t>(l) * 67108859U;
    }
    for (auto _ : state) {
        lookup(job().problem().noise.p2p, bits, out);
        benchmark::DoNotOptimize(out);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * lanes);
}
BENCHMARK(table_lookup);

/// Compiling a plan whose schedule is cached, with its noise-free step: what the sweep of a
/// space costs for a feasible tuple.
void compile_and_mean(benchmark::State& state)
{
    PlanCompiler compiler = job().compiler();
    for (auto _ : state) {
        const auto compiled = compiler.compile(job().plan(), CompileFor::noise_free_step);
        benchmark::DoNotOptimize(noise_free_step(std::get<CompiledPlan>(compiled).graph));
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(compile_and_mean)->Unit(benchmark::kMicrosecond);

/// A schedule's orders and their program, p = 128, m = 1,024: once for all plans that share the shape.
void compile_schedule(benchmark::State& state, Schedule schedule, int chunks)
{
    const ScheduleShape shape{schedule, 128, 1024, chunks};
    for (auto _ : state) {
        const TaskOrders orders = std::get<TaskOrders>(task_orders(shape));
        benchmark::DoNotOptimize(compile_program(shape, orders));
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(compile_schedule, gpipe, Schedule::gpipe, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_schedule, 1f1b, Schedule::one_f_one_b, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_schedule, interleaved, Schedule::interleaved, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_schedule, zb_h1, Schedule::zb_h1, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_schedule, zb_h2, Schedule::zb_h2, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_schedule, zb_v, Schedule::zb_v, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_schedule, v_half, Schedule::v_half, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_schedule, v_min, Schedule::v_min, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_schedule, dualpipe, Schedule::dualpipe, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_schedule, dualpipe_v, Schedule::dualpipe_v, 2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace prismopt::bench
