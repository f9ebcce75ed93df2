/// Speed of the sampler and of what it is made of. Compare rates inside one run: machines are noisy.
/// Rates are op draws (or numbers, or plans) per second.

#include "tests/support/example_problem.hpp"

#include "model/step/lane_kernels.hpp"
#include "model/step/mean_step.hpp"
#include "model/step/sampler.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace prismopt {
namespace {

constexpr std::array widths{1, 2, 4, 8};

/// One replica, 16 stages, 64 microbatches: 2,048 compute ops and 1,920 transfers, all with noise.
ParallelPlan pipeline_plan()
{
    ParallelPlan plan;
    plan.tp = 8;
    plan.pp = 16;
    return plan;
}

const Problem& pipeline_problem()
{
    static const Problem problem = example_problem(lively_variability(), 64, widths);
    return problem;
}

Setting pipeline_setting()
{
    const Problem& p = pipeline_problem();
    return {p.workload, p.phases.front(), p.cluster, p.noise, 0.0};
}

ExecutionGraph pipeline_graph()
{
    PlanCompiler compiler(pipeline_setting());
    return std::get<CompiledPlan>(compiler.compile(pipeline_plan())).graph;
}

/// The plain way: standard library generators, one draw at a time, in double precision; without spatial and common factors.
void scalar_reference(benchmark::State& state)
{
    const ExecutionGraph graph = pipeline_graph();
    std::mt19937_64 engine(1);
    const auto lognormal = [&engine](double cv) {
        const double variance = std::log1p(cv * cv);
        return std::lognormal_distribution<double>(-0.5 * variance, std::sqrt(variance))(engine);
    };
    std::vector<double> stage_end(graph.stages());
    std::vector<double> slot(graph.program->slots);
    std::int64_t draws = 0;
    for (auto _ : state) {
        std::fill(stage_end.begin(), stage_end.end(), 0.0);
        for (const ProgramOp& op : graph.program->ops) {
            const OpLaw& law = graph.law_of(op);
            double start = stage_end[op.stage];
            if (op.in >= 0) {
                start = std::max(start, slot[op.in] + static_cast<double>(law.transfer_s) * lognormal(0.3));
            }
            stage_end[op.stage] = start + static_cast<double>(law.compute_s) * lognormal(0.03) +
                                  static_cast<double>(law.communication_s) * lognormal(0.1);
            if (op.out >= 0) {
                slot[op.out] = stage_end[op.stage];
            }
        }
        benchmark::DoNotOptimize(stage_end.data());
        draws += static_cast<std::int64_t>(graph.program->ops.size());
    }
    state.SetItemsProcessed(draws);
}
BENCHMARK(scalar_reference);

void sampler(benchmark::State& state)
{
    const ExecutionGraph graph = pipeline_graph();
    const DrawRange range{0, block_fleets, 1};
    for (auto _ : state) {
        benchmark::DoNotOptimize(sample_steps(graph, pipeline_problem().noise, range, {1, Purpose::search, 4}));
    }
    state.SetItemsProcessed(state.iterations() * range.fleets * static_cast<std::int64_t>(graph.program->ops.size()));
}
BENCHMARK(sampler);

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
        look_up(pipeline_problem().noise.p2p, bits, out);
        benchmark::DoNotOptimize(out);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * lanes);
}
BENCHMARK(table_lookup);

/// Compiling a plan whose schedule is cached, with its noise-free step: what the sweep of a space costs for a feasible tuple.
void compile_and_mean(benchmark::State& state)
{
    PlanCompiler compiler(pipeline_setting());
    for (auto _ : state) {
        const auto compiled = compiler.compile(pipeline_plan(), CompileFor::noise_free_step);
        benchmark::DoNotOptimize(noise_free_step(std::get<CompiledPlan>(compiled).graph));
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(compile_and_mean)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace prismopt
