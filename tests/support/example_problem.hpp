#pragma once

/// A small job with every kind of noise, for tests that need a whole problem.

#include "model/network/transformer.hpp"
#include "tests/support/residual_distributions.hpp"

#include "model/predictor.hpp"

#include <array>
#include <stdexcept>
#include <utility>
#include <variant>

namespace prismopt {

inline Variability lively_variability()
{
    Variability v;
    v.gpu = {Normal{0.02}, {0.01, 0.10}, 20.0, "test"};
    v.node = {Normal{0.01}, {}, 20.0, "test"};
    v.site = {LogNormal{0.005}, {}, 20.0, "test"};
    v.common_compute = {Normal{0.01}, {}, 20.0, "test"};
    v.common_communication = {LogNormal{0.10}, {}, 20.0, "test"};
    v.stage = {Gamma{0.01}, {}, 20.0, "test"};
    v.microbatch = {LogNormal{0.03}, {}, 20.0, "test"};
    set_residuals({0.03, 0.04, 0.04, 0.15, 0.30, 0.15}, v);
    return v;
}

/// Nodes of 8 GPUs, pods of 64, on figures of the A100 generation.
inline Cluster example_cluster(int gpus)
{
    using namespace literals;
    Cluster cluster;
    cluster.accelerator = {
        "example", 312_TFLOP_per_s,        108, 80_GB, 2_GB, BytesPerSecond{2e12}, Watts{400},
        4_us,      {0.8, 0.55, 0.45, 0.8}, 0.05};
    cluster.gpus = gpus;
    cluster.tiers = {{"node", 8, 300_GB_per_s, 0.8, 3_us, 1.0},
                     {"pod", 64, 25_GB_per_s, 0.8, 6_us, 1.0},
                     {"cluster", gpus, 25_GB_per_s, 0.8, 8_us, 4.0}};
    cluster.gpu_price = DollarsPerSecond{2.0 / 3600.0};
    return cluster;
}

inline Workload example_workload(int layers = 16, const Experts& experts = {})
{
    Transformer w;
    w.name = "example";
    w.layers = layers;
    w.hidden = 2048;
    w.heads = 16;
    w.kv_heads = 16;
    w.feed_forward = 8192;
    w.vocabulary = 32000;
    w.experts = experts;
    return workload_of(w);
}

inline Problem example_problem(const Variability& variability, int global_batch, std::span<const int> widths)
{
    Problem problem;
    problem.workload = example_workload();
    problem.phases = {{1e11, 2048, global_batch}};
    problem.cluster = example_cluster(4096);
    problem.reliability = {PerSecond{4e-3 / 86400.0}, Seconds{600.0}, Seconds{3600.0}, Seconds{30.0}};
    problem.noise = build_noise_tables(variability, widths);
    return problem;
}

/// The plan compiled for the problem's first phase. Throws std::logic_error where it cannot work.
inline ExecutionGraph graph_of(const Problem& problem, const ParallelPlan& plan)
{
    PlanCompiler compiler({problem.workload, problem.phases.front(), problem.cluster, problem.noise});
    auto compiled = compiler.compile(plan);
    if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
        throw std::logic_error(refusal->category());
    }
    return std::get<CompiledPlan>(std::move(compiled)).graph;
}

/// Tensor, pipeline and data parallel degrees; the rest as by default.
inline ParallelPlan plan_of(int tp, int pp, int dp)
{
    ParallelPlan plan;
    plan.tp = tp;
    plan.pp = pp;
    plan.dp = dp;
    return plan;
}

/// The same with the stages of a replica next to each other.
inline ParallelPlan plan_with_replicas_outermost(int tp, int pp, int dp)
{
    ParallelPlan plan = plan_of(tp, pp, dp);
    plan.order = PlacementOrder::tp_pp_dp;
    return plan;
}

}  // namespace prismopt
