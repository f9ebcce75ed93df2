#include "optimizer/nodes/node_assignment.hpp"

#include "tests/support/example_problem.hpp"

#include "model/base/estimate.hpp"
#include "optimizer/nodes/assign_nodes.hpp"
#include "optimizer/nodes/assignment_bound.hpp"
#include "optimizer/nodes/assignment_guide.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace prismopt {
namespace {

constexpr std::array widths{8};

/// 2 replicas of 2 stages, the second with the loss head; one node is a spare. Without noise, so that every
/// order of the 5 nodes can be judged in full.
TEST(NodeAssignment, IsTheBestOfAllOrders)
{
    Problem problem = example_problem({}, 16, widths);
    problem.cluster.gpus = 40;
    problem.cluster.tiers.resize(2);
    problem.cluster.tiers.back().group_gpus = 40;
    problem.cluster.node_factors = {1.0, 1.2, 1.0, 1.1, 1.4};
    const ExecutionGraph graph = graph_of(problem, plan_with_replicas_outermost(8, 2, 2));
    const DrawRange range{0, 64, 1};
    const SamplerOptions sampler{1, Purpose::search, 2};
    std::vector<float> factors(problem.cluster.node_factors.begin(), problem.cluster.node_factors.end());
    std::sort(factors.begin(), factors.end());
    double least = 1e9;
    double most = 0.0;
    std::vector<float> order = factors;
    do {
        ExecutionGraph ordered = graph;
        ordered.node.assign(order.begin(), order.begin() + 4);
        const double seconds = sample_steps(ordered, problem.noise, range, sampler).front();
        least = std::min(least, seconds);
        most = std::max(most, seconds);
    } while (std::next_permutation(order.begin(), order.end()));

    const NodeAssignment exact = best_nodes(graph, problem.noise, factors, {}, range, sampler, {});
    EXPECT_TRUE(exact.exact);
    EXPECT_DOUBLE_EQ(exact.p99_s, least);
    EXPECT_EQ(exact.bound_s, exact.p99_s);
    EXPECT_DOUBLE_EQ(exact.worst_p99_s, most);
    EXPECT_EQ(std::count(exact.node.begin(), exact.node.end(), 1.4F), 0);  // the slowest is the spare

    AssignmentOptions moves;
    moves.most_exact = 0;
    const std::vector<std::vector<float>> listed{graph.node};
    const NodeAssignment moved = best_nodes(graph, problem.noise, factors, listed, range, sampler, moves);
    EXPECT_DOUBLE_EQ(moved.p99_s, least);
    EXPECT_LE(moved.bound_s, least);
}

/// Steps without noise of a graph on each of the lists of nodes.
std::vector<double> steps_on(const ExecutionGraph& graph, std::span<const std::vector<float>> lists,
                             const NoiseTables& noise)
{
    std::vector<ExecutionGraph> graphs(lists.size(), graph);
    std::vector<const ExecutionGraph*> pointers;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        graphs[i].node = lists[i];
        pointers.push_back(&graphs[i]);
    }
    std::vector<double> steps;
    for (const auto& draws : sample_steps(pointers, noise, {0, 64, 1}, {1, Purpose::search, 4})) {
        steps.push_back(draws.front());
    }
    return steps;
}

double step_on(const ExecutionGraph& graph, const std::vector<float>& nodes, const NoiseTables& noise)
{
    return steps_on(graph, std::span(&nodes, 1), noise).front();
}

/// Never above the best of all orders, and equal to it where the slow nodes leave no choice: none, one, or a
/// stage's worth of them. 4 replicas of 2 stages.
TEST(AssignmentBound, IsBelowAllOrders)
{
    Problem problem = example_problem({}, 32, widths);
    problem.cluster = example_cluster(64);
    problem.cluster.node_factors.assign(8, 1.0);
    const ExecutionGraph graph = graph_of(problem, plan_with_replicas_outermost(8, 2, 4));
    const NodesJudge judge = [&](std::span<const std::vector<float>> lists) {
        return steps_on(graph, lists, problem.noise);
    };
    struct Case {
        std::vector<float> factors;
        bool tight;
    };
    for (const Case& c : {Case{{1, 1, 1, 1, 1, 1, 1, 1}, true},
                          {{1, 1, 1, 1, 1, 1, 1, 1.3F}, true},
                          {{1, 1, 1, 1, 1.2F, 1.2F, 1.2F, 1.2F}, true},
                          {{1, 1, 1, 1.2F, 1.2F, 1.2F, 1.2F, 1.2F}, false},
                          {{1, 1, 1.1F, 1.1F, 1.1F, 1.2F, 1.2F, 1.4F}, false},
                          {{1, 1.05F, 1.05F, 1.05F, 1.05F, 1.05F, 1.3F, 1.3F}, false}}) {
        std::vector<std::vector<float>> orders;
        std::vector<float> order = c.factors;
        do {
            orders.push_back(order);
        } while (std::next_permutation(order.begin(), order.end()));
        const std::vector<double> steps = judge(orders);
        const double least = *std::min_element(steps.begin(), steps.end());
        const double bound = assignment_bound(graph.placement, c.factors, judge, 64);
        EXPECT_LE(bound, least);
        EXPECT_GE(bound, step_on(graph, std::vector<float>(8, 1.0F), problem.noise));
        if (c.tight) {
            EXPECT_DOUBLE_EQ(bound, least);
        }
        EXPECT_LE(assignment_bound(graph.placement, c.factors, judge, 1), bound);
    }
}

/// Of replicas one by one, or of all of them; and it ranks where one slow node may sit as the steps do.
TEST(AssignmentGuide, RanksPositionsAsTheirSteps)
{
    Problem problem = example_problem({}, 32, widths);
    problem.cluster = example_cluster(64);
    problem.cluster.node_factors.assign(8, 1.0);
    const ExecutionGraph graph = graph_of(problem, plan_with_replicas_outermost(8, 4, 2));
    AssignmentGuide guide(graph, 1.0F);
    EXPECT_DOUBLE_EQ(guide(std::vector<float>(4, 1.0F)), 1.0);
    EXPECT_DOUBLE_EQ(guide(std::vector<float>(8, 1.0F)), 2.0);
    std::vector<std::pair<double, double>> both;  // step, guide
    for (std::size_t stage = 0; stage < 4; ++stage) {
        std::vector<float> nodes(8, 1.0F);
        nodes[stage] = 1.2F;
        both.emplace_back(step_on(graph, nodes, problem.noise),
                          guide(std::span<const float>(nodes).first(4)));
        EXPECT_NEAR(guide(nodes), both.back().second + 1.0, 1e-9 * both.back().second);
    }
    std::sort(both.begin(), both.end());
    EXPECT_LT(both.front().first, both.back().first);
    for (std::size_t i = 1; i < both.size(); ++i) {
        EXPECT_LE(both[i - 1].second, both[i].second);
    }
}

/// The positions name each node once, the slowest stand by, and a cluster listed in their order
/// has the p99 that they promise.
TEST(AssignNodes, ListsTheClusterInTheOrderFound)
{
    Problem problem = example_problem({}, 16, widths);
    problem.cluster.gpus = 48;
    problem.cluster.tiers.resize(2);
    problem.cluster.tiers.back().group_gpus = 48;
    problem.cluster.node_factors = {1.0, 1.2, 1.4, 1.1, 1.0, 1.4};
    ParallelPlan plan = plan_with_replicas_outermost(8, 2, 2);
    plan.spares = 1;
    const DrawRange range{0, 64, 1};
    const SamplerOptions sampler{1, Purpose::search, 2};
    const AssignedNodes assigned = assign_nodes(problem, plan, range, sampler);
    EXPECT_TRUE(assigned.exact);
    std::set<int> nodes;
    for (const NodePosition& position : assigned.positions) {
        EXPECT_TRUE(nodes.insert(position.node).second);
        EXPECT_EQ(position.factor, problem.cluster.node_factors[position.node]);
        EXPECT_EQ(position.first_gpu, 16 * position.replica + 8 * position.stage);
    }
    EXPECT_EQ(nodes, (std::set{0, 1, 3, 4}));
    std::vector<double> all = assigned.factors;
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector{1.0, 1.0, 1.1, 1.2, 1.4, 1.4}));

    EXPECT_LT(assigned.least_p99_s, assigned.given_p99_s);
    problem.cluster.node_factors = assigned.factors;
    EXPECT_DOUBLE_EQ(sample_steps(graph_of(problem, plan), problem.noise, range, sampler).front(),
                     assigned.least_p99_s);
    EXPECT_EQ(assignment_csv({{8, 4, 1.25, 0, 1}}), "first_gpu,node,factor,replica,stage\n8,4,1.25,0,1\n");
}

/// 16 slow nodes are listed first, 16 others stand idle beside 64: the p99 is that of a job whose 16 slowest
/// are its spares, and nothing is below it.
TEST(AssignNodes, LeavesSlowNodesIdleWhereOthersAreFree)
{
    Problem problem = example_problem(lively_variability(), 128, widths);
    problem.cluster = example_cluster(640);
    problem.cluster.node_factors.assign(80, 1.0);
    for (int i = 0; i < 16; ++i) {
        problem.cluster.node_factors[4 * i] = 1.05 + 0.02 * i;
    }
    const DrawRange range{0, 64, 1};
    const SamplerOptions sampler{1, Purpose::search, 2};
    ParallelPlan plan = plan_with_replicas_outermost(8, 8, 8);
    const AssignedNodes assigned = assign_nodes(problem, plan, range, sampler);
    for (const NodePosition& position : assigned.positions) {
        EXPECT_EQ(position.factor, 1.0);
    }
    plan.spares = 16;
    const auto draws = sample_steps(graph_of(problem, plan), problem.noise, range, sampler);
    EXPECT_DOUBLE_EQ(assigned.least_p99_s,
                     quantile_estimate(draws, Clusters{1, block_fleets}, 0.99, Confidence{}).value);
    EXPECT_DOUBLE_EQ(assigned.bound_p99_s, assigned.least_p99_s);
    EXPECT_LT(assigned.least_p99_s, assigned.given_p99_s);
}

/// Twice as many slow nodes as idle ones: the fastest get positions, and the best assignment
/// is near its lower bound.
TEST(AssignNodes, PositionsTheFastestAndSaysHowFarTheBestMayBe)
{
    Problem problem = example_problem(lively_variability(), 128, widths);
    problem.cluster = example_cluster(544);
    problem.cluster.node_factors.assign(68, 1.0);
    for (int i = 0; i < 8; ++i) {
        problem.cluster.node_factors[5 * i] = 1.05 + 0.02 * i;
    }
    const DrawRange range{0, 64, 1};
    const SamplerOptions sampler{1, Purpose::search, 2};
    const AssignedNodes assigned =
        assign_nodes(problem, plan_with_replicas_outermost(8, 8, 8), range, sampler);
    EXPECT_FALSE(assigned.exact);
    double slowest = 0.0;
    for (const NodePosition& position : assigned.positions) {
        slowest = std::max(slowest, position.factor);
    }
    EXPECT_DOUBLE_EQ(slowest, 1.05 + 0.02 * 3);
    EXPECT_LE(assigned.bound_p99_s, assigned.least_p99_s);
    EXPECT_LT(assigned.least_p99_s, 1.02 * assigned.bound_p99_s);
    EXPECT_LT(assigned.least_p99_s, assigned.given_p99_s);
}

}  // namespace
}  // namespace prismopt
