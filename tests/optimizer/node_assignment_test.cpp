#include "optimizer/node_assignment.hpp"

#include "tests/support/example_problem.hpp"

#include "optimizer/seat_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace prismopt {
namespace {

constexpr std::array widths{8};

/// 2 replicas of 2 stages, the second with the loss head; one node is a spare. Without noise, so that every order of the 5 nodes can be
/// judged in full.
TEST(NodeAssignment, IsTheBestOfAllOrders)
{
    Problem problem = example_problem({}, 16, widths);
    problem.cluster.gpus = 40;
    problem.cluster.tiers.resize(2);
    problem.cluster.tiers.back().group_gpus = 40;
    problem.cluster.node_factors = {1.0, 1.2, 1.0, 1.1, 1.4};
    const ExecutionGraph graph = graph_of(problem, plan_of(8, 2, 2));
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
    EXPECT_DOUBLE_EQ(exact.worst_p99_s, most);
    EXPECT_EQ(std::count(exact.node.begin(), exact.node.end(), 1.4F), 0);  // the slowest is the spare

    SeatingOptions moves;
    moves.most_exact = 0;
    const std::vector<std::vector<float>> listed{graph.node};
    EXPECT_DOUBLE_EQ(best_nodes(graph, problem.noise, factors, listed, range, sampler, moves).p99_s, least);
}

/// The seats name each node once, the slowest stand by, and a cluster listed in their order has the p99 that they promise.
TEST(SeatNodes, ListsTheClusterInTheOrderFound)
{
    Problem problem = example_problem({}, 16, widths);
    problem.cluster.gpus = 48;
    problem.cluster.tiers.resize(2);
    problem.cluster.tiers.back().group_gpus = 48;
    problem.cluster.node_factors = {1.0, 1.2, 1.4, 1.1, 1.0, 1.4};
    ParallelPlan plan = plan_of(8, 2, 2);
    plan.spares = 1;
    const DrawRange range{0, 64, 1};
    const SamplerOptions sampler{1, Purpose::search, 2};
    const SeatedNodes seated = seat_nodes(problem, plan, range, sampler);
    EXPECT_TRUE(seated.exact);
    std::set<int> nodes;
    for (const NodeSeat& seat : seated.seats) {
        EXPECT_TRUE(nodes.insert(seat.node).second);
        EXPECT_EQ(seat.factor, problem.cluster.node_factors[seat.node]);
        EXPECT_EQ(seat.first_gpu, 16 * seat.replica + 8 * seat.stage);
    }
    EXPECT_EQ(nodes, (std::set{0, 1, 3, 4}));
    std::vector<double> all = seated.factors;
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector{1.0, 1.0, 1.1, 1.2, 1.4, 1.4}));

    EXPECT_LT(seated.least_p99_s, seated.given_p99_s);
    problem.cluster.node_factors = seated.factors;
    EXPECT_DOUBLE_EQ(sample_steps(graph_of(problem, plan), problem.noise, range, sampler).front(), seated.least_p99_s);
    EXPECT_EQ(seats_csv({{8, 4, 1.25, 0, 1}}), "first_gpu,node,factor,replica,stage\n8,4,1.25,0,1\n");
}

}  // namespace
}  // namespace prismopt
