/// Clusters whose nodes are known.

#include "model/plan/node_order.hpp"

#include "tests/support/example_problem.hpp"
#include "tests/support/reference_sampler.hpp"

#include "model/step/graph/mean_step.hpp"
#include "model/step/sample/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace prismopt {
namespace {

using testing::ElementsAre;

constexpr std::array widths{1, 2, 4, 8};

/// Four nodes with these factors; 2 replicas of 2 stages of a node each, unless fewer are used.
Cluster four_nodes(std::vector<double> factors)
{
    Cluster cluster = example_cluster(static_cast<int>(factors.size()) * 8);
    cluster.tiers.pop_back();
    cluster.tiers.back().group_gpus = cluster.gpus;
    cluster.node_factors = std::move(factors);
    return cluster;
}

std::vector<int> ordered(NodeOrder order, const Cluster& cluster, int dp = 2, int spares = 0)
{
    ParallelPlan plan = plan_with_replicas_outermost(8, 2, dp);
    plan.node_order = order;
    plan.spares = spares;
    return nodes_in_order(plan, cluster);
}

/// Places are (replica 0, stage 0), (0, 1), (1, 0), (1, 1).
TEST(NodeOrder, PutsTheSlowestWhereItSays)
{
    const Cluster cluster = four_nodes({1.0, 1.1, 1.0, 1.3});
    EXPECT_THAT(ordered(NodeOrder::as_listed, cluster), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(ordered(NodeOrder::packed, cluster), ElementsAre(3, 1, 0, 2));
    EXPECT_THAT(ordered(NodeOrder::spread, cluster), ElementsAre(3, 0, 2, 1));
    EXPECT_THAT(ordered(NodeOrder::first_stage, cluster), ElementsAre(3, 0, 1, 2));
    EXPECT_THAT(ordered(NodeOrder::last_stage, cluster), ElementsAre(0, 3, 2, 1));
}

TEST(NodeOrder, SparesAreTheSlowest)
{
    const Cluster cluster = four_nodes({1.0, 1.1, 1.0, 1.3});
    EXPECT_THAT(ordered(NodeOrder::as_listed, cluster, 1, 1), ElementsAre(0, 1));
    EXPECT_THAT(ordered(NodeOrder::as_listed, cluster, 1, 2), ElementsAre(0, 2));
    ParallelPlan plan = plan_of(8, 2, 1);
    plan.spares = 2;
    EXPECT_FALSE(node_problem(plan, cluster));
    plan.spares = 3;
    ASSERT_TRUE(node_problem(plan, cluster));
    EXPECT_EQ(node_problem(plan, cluster)->reason(), Reason::spares_and_nodes);
    plan.spares = 1;
    EXPECT_FALSE(node_problem(plan, example_cluster(64)));
    plan.node_order = NodeOrder::packed;
    EXPECT_EQ(node_problem(plan, example_cluster(64))->reason(), Reason::no_known_nodes);
}

/// A slow node at each stage of one replica: draw by draw the plain simulation,
/// with everything varying beside it.
TEST(NodeOrder, ASlowNodeAtAStageIsWhatThePlainSimulationSays)
{
    Problem problem = example_problem(lively_variability(), 16, widths);
    for (int slow = 0; slow < 4; ++slow) {
        problem.cluster.node_factors.assign(problem.cluster.nodes(), 1.0);
        problem.cluster.node_factors[4 + slow] = 1.3;  // of the second replica
        const ExecutionGraph graph = graph_of(problem, plan_with_replicas_outermost(8, 4, 2));
        EXPECT_NEAR(graph.mean_factor(1, slow), 1.3, 1e-6);
        EXPECT_NEAR(graph.mean_factor(0, slow), 1.0, 1e-6);
        const SamplerOptions options{7, Purpose::confirm, 2};
        const auto draws = sample_steps(graph, problem.noise, {0, 64, 1}, options);
        for (const std::uint32_t fleet : {0U, 17U, 63U}) {
            const double reference = ReferenceStep(graph, problem.noise, options, fleet, 0).seconds();
            EXPECT_NEAR(draws[fleet], reference, 1e-5 * reference) << slow;  // single precision
        }
    }
}

/// The same where the other nodes are drawn, for tensor parallel groups of part
/// of a node, of one, and of two.
TEST(NodeOrder, DrawnNodesBesideAKnownOneAreWhatThePlainSimulationSays)
{
    const std::array wide{1, 2, 4, 8, 16};
    Problem problem = example_problem(lively_variability(), 16, wide);
    problem.cluster.node_factors.assign(problem.cluster.nodes(), Cluster::drawn_node);
    problem.cluster.node_factors[3] = 1.1;
    for (const int tp : {4, 8, 16}) {
        const ExecutionGraph graph = graph_of(problem, plan_with_replicas_outermost(tp, 4, 2));
        EXPECT_GT(graph.group_mean, 1.0);
        EXPECT_EQ(graph.mean_factor(0, 0), graph.group_mean);
        const SamplerOptions options{7, Purpose::confirm, 2};
        const auto draws = sample_steps(graph, problem.noise, {0, 64, 1}, options);
        for (const std::uint32_t fleet : {0U, 17U, 63U}) {
            const double reference = ReferenceStep(graph, problem.noise, options, fleet, 0).seconds();
            EXPECT_NEAR(draws[fleet], reference, 1e-5 * reference) << tp;  // single precision
        }
        EXPECT_LT(noise_free_step(graph).step_s, std::accumulate(draws.begin(), draws.end(), 0.0) / 64.0);
    }
}

/// A list of one node that is hardly slow changes hardly anything: the others are
/// as they were, on the same draws.
TEST(NodeOrder, OneListedNodeLeavesTheOthersDrawn)
{
    Problem problem = example_problem(lively_variability(), 256, widths);
    const ParallelPlan plan = plan_of(8, 8, 8);
    const auto p99 = [&] {
        std::vector<double> draws =
            sample_steps(graph_of(problem, plan), problem.noise, {0, 1024, 1}, {3, Purpose::confirm, 8});
        std::nth_element(draws.begin(), draws.begin() + 10, draws.end(), std::greater{});
        return draws[10];
    };
    const double drawn = p99();
    problem.cluster.node_factors.assign(problem.cluster.nodes(), Cluster::drawn_node);
    problem.cluster.node_factors[5] = 1.0001;
    EXPECT_NEAR(p99(), drawn, 0.002 * drawn);
    problem.cluster.node_factors.assign(problem.cluster.nodes(), 1.0);
    problem.cluster.node_factors[5] = 1.0001;
    EXPECT_LT(p99(), 0.99 * drawn);  // whose nodes are all nominal
}

/// A node so hot that it outweighs the loss head's stage has a path that no slow GPU's is like: simulating it
/// with few other replicas must be enough. Same draws, so hardly any noise.
TEST(NodeOrder, AHotNodeNeedsNoMoreSimulatedReplicas)
{
    Variability variability;
    variability.residual[static_cast<std::size_t>(KernelClass::gemm)] =
        Distribution{LogNormal{0.1}, {}, 20.0, "test"};
    Problem problem = example_problem(variability, 256, widths);
    problem.cluster.node_factors.assign(problem.cluster.nodes(), 1.0);
    problem.cluster.node_factors[3] = 2.0;
    const ExecutionGraph graph = graph_of(problem, plan_of(8, 8, 8));
    const auto p99 = [&](int simulated) {
        std::vector<double> draws =
            sample_steps(graph, problem.noise, {0, 1024, 1}, {3, Purpose::confirm, simulated});
        std::nth_element(draws.begin(), draws.begin() + 10, draws.end(), std::greater{});
        return draws[10];
    };
    const double brute_force = p99(8);
    EXPECT_NEAR(p99(2), brute_force, 0.0025 * brute_force);
    EXPECT_NEAR(p99(4), brute_force, 0.0025 * brute_force);
}

/// Without noise: (m + p - 1) equal ops, of which the slow stage's are longer,
/// and the bound is the step itself.
TEST(NodeOrder, WithoutNoiseTheBoundIsTheStep)
{
    Problem problem = example_problem({}, 16, widths);
    problem.cluster.node_factors.assign(problem.cluster.nodes(), 1.0);
    problem.cluster.node_factors[6] = 1.5;
    for (const NodeOrder order :
         {NodeOrder::packed, NodeOrder::spread, NodeOrder::first_stage, NodeOrder::last_stage}) {
        ParallelPlan plan = plan_of(8, 4, 2);
        plan.node_order = order;
        const ExecutionGraph graph = graph_of(problem, plan);
        const auto draws = sample_steps(graph, problem.noise, {0, 64, 1}, {1, Purpose::search, 2});
        EXPECT_NEAR(draws.front(), noise_free_step(graph).step_s, 1e-5 * draws.front());
    }
}

/// 512 nodes of 8 normal GPUs: the mean of a largest of 8 is 1.4236 deviations above the distribution's.
TEST(NodeOrder, DrawnNodesHaveTheSpatialDistribution)
{
    Variability variability;
    const double cv = 0.02;
    variability.gpu = {Normal{cv}, {}, 20.0, "test"};
    const Cluster cluster = example_cluster(4096);
    const std::vector<double> factors =
        drawn_node_factors(variability, cluster.nodes(), cluster.gpus_per_node(), 3);
    ASSERT_EQ(factors.size(), 512U);
    double mean = 0.0;
    for (const double factor : factors) {
        mean += factor / 512.0;
    }
    constexpr double largest_of_8 = 1.4236;
    constexpr double deviation_of_largest = 0.6107;
    EXPECT_NEAR(mean, 1.0 + largest_of_8 * cv, 4.0 * deviation_of_largest * cv / std::sqrt(512.0));
    EXPECT_EQ(factors, drawn_node_factors(variability, cluster.nodes(), cluster.gpus_per_node(), 3));
    EXPECT_NE(factors, drawn_node_factors(variability, cluster.nodes(), cluster.gpus_per_node(), 4));
}

}  // namespace
}  // namespace prismopt
