/// Replicas in different buildings that exchange every few steps.

#include "model/step/compile/outer_exchange.hpp"

#include "model/plan/placement.hpp"
#include "model/predictor.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/step/sample/sampler.hpp"
#include "tests/support/example_problem.hpp"
#include "tests/support/neighbouring_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {
namespace {

constexpr std::array widths{1, 2, 4, 8};

/// Buildings of 64 GPUs.
Problem buildings(const Variability& variability, int global_batch = 32)
{
    Problem problem = example_problem(variability, global_batch, widths);
    NetworkTier& circuits = problem.cluster.tiers.back();
    circuits.aggregate = BytesPerSecond{1e11};
    circuits.latency = Seconds{1e-3};
    return problem;
}

ParallelPlan with_local_updates(int tp, int pp, int dp, int local_steps)
{
    ParallelPlan plan = plan_of(tp, pp, dp);
    plan.crossing = Crossing::dp;
    plan.local_steps = local_steps;
    return plan;
}

/// No latency, whole bandwidths: times are bytes.
TEST(OuterExchange, TimeIsBytesOverBandwidth)
{
    Cluster cluster = example_cluster(128);
    cluster.tiers = {{"node", 8, BytesPerSecond{100e9}, 1.0, Seconds{0.0}, 1.0},
                     {"campus", 128, BytesPerSecond{10e9}, 1.0, Seconds{0.0}, 1.0}};
    cluster.tiers.back().aggregate = BytesPerSecond{8e9};  // of 8 GPUs
    const Parameters own{.all = 1e9};
    const auto time = [&](const ParallelPlan& plan) {
        return outer_exchange_time(own, plan, exchange_groups(plan_of_building(plan, cluster), cluster),
                                   cluster);
    };
    for (const int count : {2, 4}) {
        ParallelPlan plan = with_local_updates(1, 1, 8 * count, 30);
        const double share = 1e9 / 8.0;
        const double ring = 2.0 * (count - 1) / count * 4.0 * share / 1e9;
        const double update = 38.0 * share / 2e12;
        EXPECT_NEAR(time(plan), ring + update, 1e-9);
        plan.sharding = Sharding::none;
        EXPECT_NEAR(time(plan), ring + update + 7.0 / 8.0 * 4e9 / 100e9, 1e-9);
        plan.offload = Offload::optimizer;
        cluster.accelerator.host_link = BytesPerSecond{16e9};
        EXPECT_NEAR(time(plan), ring + update + 7.0 / 8.0 * 4e9 / 100e9 + share / 1e9, 1e-9);
    }
}

/// Without variability: the step of a building with its share of the batch, and the
/// exchange over the steps between two.
TEST(OuterExchange, AddsItsShareToTheStepOfABuilding)
{
    const Problem problem = buildings({});
    const Problem of_building = buildings({}, 16);
    for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
        for (const DataParallelOverlap overlap : {DataParallelOverlap::on, DataParallelOverlap::off}) {
            const auto with = [&](ParallelPlan plan) {
                plan.sharding = sharding;
                plan.dp_overlap = overlap;
                return plan;
            };
            const ExecutionGraph building = graph_of(of_building, with(plan_of(4, 4, 4)));
            const double inner_s = noise_free_step(building).step_s;
            const auto step_s = [&](int steps) {
                return noise_free_step(graph_of(problem, with(with_local_updates(4, 4, 8, steps)))).step_s;
            };
            EXPECT_NEAR(step_s(10'000), inner_s, 1e-3 * inner_s);
            const double exchange_s = 2.0 * (step_s(2) - inner_s);
            EXPECT_GT(exchange_s, 0.0);
            for (const int steps : {3, 30, 300}) {
                EXPECT_NEAR(step_s(steps), inner_s + exchange_s / steps, 1e-6 * inner_s);
            }
            const NoiseTables& noise = problem.noise;
            const ExecutionGraph graph = graph_of(problem, with(with_local_updates(4, 4, 8, 2)));
            EXPECT_NEAR(sample_steps(graph, noise, {0, 64, 1}, {}).front(), step_s(2), 1e-5 * inner_s);
            EXPECT_GE(noise_free_step(graph).shares.exposed_communication * step_s(2), 0.5 * exchange_s);
            const double synchronous =
                noise_free_step(graph_of(problem, with(with_local_updates(4, 4, 8, 1)))).step_s;
            EXPECT_LT(step_s(300), synchronous) << "the long haul of each step";
        }
    }
}

/// Brute force of rounds of two steps: two buildings, each a fleet of its own, that meet after both steps.
/// The model lets them meet after each step, which only adds to the time.
TEST(OuterExchange, ARoundIsTheSlowestBuilding)
{
    Variability variability;
    variability.gpu = {Normal{0.02}, {}, 20.0, "test"};
    variability.stage = {Gamma{0.01}, {}, 20.0, "test"};
    variability.microbatch = {LogNormal{0.03}, {}, 20.0, "test"};
    const Problem problem = buildings(variability);
    const Problem of_building = buildings(variability, 16);
    const ExecutionGraph graph = graph_of(problem, with_local_updates(4, 4, 8, 2));
    const ExecutionGraph building = graph_of(of_building, plan_of(4, 4, 4));
    constexpr int rounds = 1024;
    const SamplerOptions options{.replicas_simulated = 8, .sampling = Sampling::plain};
    const std::vector<double> steps = sample_steps(building, of_building.noise, {0, 2 * rounds, 2}, options);
    const std::vector<double> model = sample_steps(graph, problem.noise, {0, rounds, 2}, options);
    double brute_s = 0.0;
    double squares = 0.0;
    for (std::size_t r = 0; r < rounds; ++r) {
        const double one = steps[4 * r] + steps[4 * r + 1];
        const double other = steps[4 * r + 2] + steps[4 * r + 3];
        const double round_s = 0.5 * std::max(one, other) + static_cast<double>(graph.outer_s);
        brute_s += round_s / rounds;
        squares += round_s * round_s / rounds;
    }
    double model_s = 0.0;
    for (const double seconds : model) {
        model_s += seconds / static_cast<double>(model.size());
    }
    // Four standard errors of the difference.
    const double error = 4.0 * std::sqrt(2.0 * (squares - brute_s * brute_s) / rounds);
    EXPECT_GT(model_s, brute_s - error);
    EXPECT_LT(model_s, 1.01 * brute_s + error);
}

TEST(OuterExchange, TheOuterOptimizerHasStates)
{
    const Problem problem = buildings({});
    const Problem of_building = buildings({}, 16);
    const auto memory = [](const Problem& of, const ParallelPlan& plan) {
        PlanCompiler compiler({of.workload, of.phases.front(), of.cluster, of.noise});
        return std::get<CompiledPlan>(compiler.compile(plan)).memory;
    };
    for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
        ParallelPlan local = with_local_updates(4, 4, 8, 30);
        ParallelPlan building = plan_of(4, 4, 4);
        local.sharding = building.sharding = sharding;
        const MemoryUse with = memory(problem, local);
        const MemoryUse without = memory(of_building, building);
        EXPECT_EQ(with.parameters.si, without.parameters.si);
        EXPECT_EQ(with.activations.si, without.activations.si);
        // Master copy and two moments have 12 bytes per parameter, the outer states 8.
        EXPECT_NEAR(with.optimizer_state / without.optimizer_state, 20.0 / 12.0, 1e-9);
    }
}

TEST(OuterExchange, NeedsReplicasInOtherBuildings)
{
    const Cluster cluster = buildings({}).cluster;
    EXPECT_FALSE(local_updates_problem(with_local_updates(4, 4, 8, 30), cluster));
    EXPECT_TRUE(local_updates_problem(with_local_updates(4, 4, 4, 30), cluster)) << "one building";
    for (const Crossing other : {Crossing::by_order, Crossing::pp, Crossing::none}) {
        ParallelPlan plan = with_local_updates(4, 4, 8, 30);
        plan.crossing = other;
        EXPECT_TRUE(local_updates_problem(plan, cluster));
        plan.local_steps = 1;
        EXPECT_FALSE(local_updates_problem(plan, cluster));
    }
}

/// More tokens are more steps of the same length, in bounds and in predictions.
TEST(OuterExchange, ItsPriceIsSteps)
{
    Problem problem = buildings(lively_variability());
    problem.reliability = {};
    const auto trained = [](const Problem& of, const ParallelPlan& plan) {
        Predictor predictor(of);
        const PhaseDraws draws = predictor.sample(plan, {0, 64, 2}, {});
        return std::pair{std::get<NoiseFree>(predictor.bound(plan)).training_s,
                         predictor.summarise(plan, draws, 2, {}, {})};
    };
    Problem priced = problem;
    priced.local.by_groups = {1.0, 1.0, 1.5};
    const ParallelPlan plan = with_local_updates(4, 4, 8, 30);
    const auto [bound, free] = trained(problem, plan);
    const auto [dear_bound, dear] = trained(priced, plan);
    EXPECT_NEAR(dear_bound, 1.5 * bound, 1e-9 * bound);
    EXPECT_NEAR(dear.training.mean.value, 1.5 * free.training.mean.value, dear.step.mean.value)
        << "whole steps";
    EXPECT_EQ(dear.step.p99.value, free.step.p99.value);
    EXPECT_LE(bound, free.training.mean.value);
    const ParallelPlan synchronous = with_local_updates(4, 4, 8, 1);
    EXPECT_EQ(trained(priced, synchronous).first, trained(problem, synchronous).first);
}

}  // namespace
}  // namespace prismopt
