/// Jobs over several buildings.

#include "model/plan/placement.hpp"

#include "tests/support/example_problem.hpp"

#include "model/step/graph/mean_step.hpp"
#include "model/step/sample/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace prismopt {
namespace {

constexpr std::array placement_widths{1, 2, 4, 8};

/// The last of the example's tiers as circuits between buildings of 64 GPUs.
Problem buildings(const Variability& variability, double aggregate = 1e12, double latency_s = 1e-3)
{
    Problem problem = example_problem(variability, 16, placement_widths);
    NetworkTier& circuits = problem.cluster.tiers.back();
    circuits.aggregate = BytesPerSecond{aggregate};
    circuits.latency = Seconds{latency_s};
    return problem;
}

ParallelPlan crossing(ParallelPlan plan, Crossing what, PlacementOrder order = PlacementOrder::tp_pp_dp)
{
    plan.crossing = what;
    plan.order = order;
    return plan;
}

TEST(Placement, PositionIsTheInverseOfGroup)
{
    const Cluster cluster = buildings({}).cluster;
    for (const Crossing what : {Crossing::by_order, Crossing::dp, Crossing::pp, Crossing::pp_interleaved}) {
        for (const PlacementOrder order : {PlacementOrder::tp_pp_dp, PlacementOrder::tp_dp_pp}) {
            for (const auto& [tp, pp, dp] : {std::tuple{2, 4, 16}, {8, 4, 4}, {4, 8, 8}, {2, 4, 12}}) {
                const ParallelPlan plan = crossing(plan_of(tp, pp, dp), what, order);
                const Placement at = place(plan, cluster);
                std::set<int> gpus;
                for (int replica = 0; replica < dp; ++replica) {
                    for (int stage = 0; stage < pp; ++stage) {
                        const Placement::Position position = at.position(at.group(replica, stage));
                        EXPECT_EQ(position.replica, replica);
                        EXPECT_EQ(position.stage, stage);
                        gpus.insert(at.gpu(replica, stage));
                    }
                }
                EXPECT_EQ(gpus.size(), static_cast<std::size_t>(pp) * dp);
            }
        }
    }
}

/// 256 GPUs in four buildings: what crosses changes buildings, the other dimension does not.
TEST(Placement, CrossesByTheGivenDimension)
{
    const Cluster cluster = buildings({}).cluster;
    const auto building = [&](Crossing what, int replica, int stage) {
        const Placement at = place(crossing(plan_of(4, 8, 8), what), cluster);
        EXPECT_EQ(at.building(replica, stage), at.gpu(replica, stage) / 64);
        return at.building(replica, stage);
    };
    EXPECT_EQ(building(Crossing::dp, 3, 7), 1);
    EXPECT_EQ(building(Crossing::dp, 6, 0), 3);
    EXPECT_EQ(building(Crossing::pp, 7, 5), 2);
    EXPECT_EQ(building(Crossing::pp, 0, 1), 0);
    EXPECT_EQ(building(Crossing::pp_interleaved, 7, 5), 1);
    EXPECT_EQ(building(Crossing::pp_interleaved, 0, 4), 0);
    // All 8 replicas' groups of 4 GPUs use the circuit at a boundary; of stages
    // dealt out, both of a building send.
    EXPECT_EQ(place(crossing(plan_of(4, 8, 8), Crossing::pp), cluster).senders(1, 2), 32);
    EXPECT_EQ(place(crossing(plan_of(4, 8, 8), Crossing::pp_interleaved), cluster).senders(1, 2), 64);
    EXPECT_EQ(place(crossing(plan_of(4, 8, 8), Crossing::pp), cluster).senders(0, 1), 4);
}

TEST(Placement, RefusesWhatCannotLieSo)
{
    const Cluster cluster = buildings({}).cluster;
    const auto refused = [&](const ParallelPlan& plan) {
        return placement_problem(plan, cluster).has_value();
    };
    EXPECT_FALSE(refused(crossing(plan_of(4, 8, 8), Crossing::dp)));
    EXPECT_TRUE(refused(crossing(plan_of(4, 8, 5), Crossing::dp)));     // 5 replicas over 3 buildings
    EXPECT_FALSE(refused(crossing(plan_of(4, 8, 6), Crossing::dp)));    // 6 over 3
    EXPECT_TRUE(refused(crossing(plan_of(4, 8, 6), Crossing::pp)));     // 8 stages over 3
    EXPECT_TRUE(refused(crossing(plan_of(4, 8, 8), Crossing::none)));   // 256 GPUs
    EXPECT_FALSE(refused(crossing(plan_of(4, 8, 2), Crossing::none)));  // 64
    ParallelPlan sharded = crossing(plan_of(4, 8, 8), Crossing::dp);
    sharded.sharding = Sharding::zero3;
    EXPECT_TRUE(refused(sharded));
    EXPECT_TRUE(placement_problem(crossing(plan_of(4, 8, 2), Crossing::dp), example_cluster(4096))
                    .has_value());  // one building
}

/// One crossing each way a microbatch where stages are in runs, one a boundary where they are dealt out.
TEST(Placement, StagesInRunsCrossLessOften)
{
    const Problem problem = buildings({});
    const auto crossings = [&](Crossing what) {
        const ExecutionGraph graph = graph_of(problem, crossing(plan_of(8, 4, 4), what));
        return std::count_if(graph.distribution.begin(), graph.distribution.end(),
                             [](const OpDistribution& distribution) {
                                 return distribution.transfer_s >= 1e-3F;
                             });
    };
    EXPECT_EQ(crossings(Crossing::pp), 2);
    EXPECT_EQ(crossings(Crossing::pp_interleaved), 6);
    EXPECT_EQ(crossings(Crossing::dp), 0);
}

/// A circuit that a microbatch's messages keep busy for longer than a stage works sets
/// the pace: m times its seconds.
TEST(Placement, AThinCircuitSetsThePace)
{
    const Problem problem = buildings({}, 1e8, 1e-6);
    const ParallelPlan plan = crossing(plan_of(8, 4, 4), Crossing::pp);
    const ExecutionGraph graph = graph_of(problem, plan);
    const double boundary = 2.0 * 2048 * 2048 / 8;  // bytes per GPU: sequence times hidden, shared by tp
    const double one = boundary * 8 * 4 / (1e8 * problem.cluster.tiers.back().efficiency);
    const double step = noise_free_step(graph).step_s;
    EXPECT_GT(step, 4 * one);  // 4 microbatches
    EXPECT_LT(step, 4 * one + 4 * 2 * one);
}

/// One microbatch through two stages in two buildings: out and back, nothing else varies. So the step is a
/// constant and twice the transfer times the tier's factor.
TEST(Placement, TransfersHaveTheRegimeOfTheirTier)
{
    Problem problem = buildings({});
    const double cv = 0.5;
    Variability variability;
    variability.tier.resize(problem.cluster.tiers.size());
    variability.tier.back() = {LogNormal{cv}, {}, 20.0, "test"};
    problem.noise = build_noise_tables(variability, placement_widths);
    problem.phases.front().global_batch = 8;
    ParallelPlan plan = crossing(plan_of(8, 2, 8), Crossing::pp);
    plan.sharding = Sharding::none;
    const ExecutionGraph graph = graph_of(problem, plan);
    const double mean = noise_free_step(graph).step_s;
    const double transfer =
        static_cast<double>(graph.distribution[graph.distribution_at(1, Pass::forward)].transfer_s);
    ASSERT_GT(transfer, 1e-3);
    auto draws = sample_steps(graph, problem.noise, {0, 4096, 1}, {1, Purpose::search, 8});
    std::sort(draws.begin(), draws.end());
    const double sigma = std::sqrt(std::log1p(cv * cv));
    for (const auto& [p, z] : {std::pair{0.5, 0.0}, {0.9, 1.2816}}) {
        const double factor = std::exp(sigma * z - 0.5 * sigma * sigma);
        // Stratified in blocks of 64: a rank is off by at most 1 / 64 of the
        // probability; here its slope is below 3.
        EXPECT_NEAR((draws[static_cast<std::size_t>(p * 4096)] - mean) / (2.0 * transfer), factor - 1.0,
                    3.0 / 64.0)
            << p;
    }
    const Problem plain = buildings({});
    const auto same =
        sample_steps(graph_of(plain, crossing(plan_of(8, 2, 1), Crossing::dp)), plain.noise, {0, 64, 1}, {});
    EXPECT_EQ(*std::min_element(same.begin(), same.end()), *std::max_element(same.begin(), same.end()));
}

}  // namespace
}  // namespace prismopt
