/// Compiled plans whose groups lie in different units of the network.

#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/step/sample/sampler.hpp"
#include "tests/support/neighbouring_groups.hpp"
#include "tests/support/random_plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace prismopt {
namespace {

Problem on_nodes(bool mixture, int node)
{
    Problem problem = problem_for_random_plans(mixture);
    problem.cluster.tiers[0].group_gpus = node;
    problem.cluster.tiers[1].group_gpus = 8 * node;
    problem.cluster.gpus = 64 * node;
    problem.cluster.tiers[2].group_gpus = problem.cluster.gpus;
    return problem;
}

std::variant<CompiledPlan, Infeasible> compiled(const Problem& problem, const ParallelPlan& plan,
                                                CompileFor purpose = CompileFor::noise_free_step)
{
    PlanCompiler compiler(
        {problem.workload, problem.phases.front(), problem.cluster, problem.noise, problem.memory_limit});
    return compiler.compile(plan, purpose);
}

double communication_s(const ExecutionGraph& graph)
{
    double sum = 0.0;
    for (const OpDistribution& distribution : graph.distribution) {
        sum += static_cast<double>(distribution.communication_s);
    }
    return sum;
}

/// With eight stages of one GPU each next to each other, the GPUs that share a layer are on different nodes.
TEST(PlacedGroups, AcrossNodesAreAsSlowAsOnNodesOfOneGpu)
{
    for (const bool mixture : {false, true}) {
        const Problem problem = on_nodes(mixture, 8);
        Problem ungrouped = problem;
        ungrouped.cluster.tiers[0].group_gpus = 1;
        ParallelPlan plan = plan_of(1, 8, 8);
        plan.sharding = mixture ? Sharding::zero1 : Sharding::zero3;
        plan.ep = mixture ? 8 : 1;
        plan.order = PlacementOrder::tp_pp_dp;
        const ExecutionGraph graph = std::get<CompiledPlan>(compiled(problem, plan)).graph;
        const ExecutionGraph graph_ungrouped = std::get<CompiledPlan>(compiled(ungrouped, plan)).graph;
        EXPECT_DOUBLE_EQ(communication_s(graph), communication_s(graph_ungrouped)) << mixture;
        const double step_s = noise_free_step(graph).step_s;
        // Messages between stages differ.
        EXPECT_NEAR(noise_free_step(graph_ungrouped).step_s, step_s, 0.01 * step_s) << mixture;
        plan.order = PlacementOrder::tp_dp_pp;
        const ExecutionGraph together = std::get<CompiledPlan>(compiled(problem, plan)).graph;
        EXPECT_LT(communication_s(together), 0.8 * communication_s(graph)) << mixture;
    }
}

/// Racks of 72 GPUs: 9 groups of 64, of which 7 straddle two racks. The step is that of the worst of them.
TEST(PlacedGroups, TheSlowestReplicasSetTheStep)
{
    Problem problem = on_nodes(true, 72);
    problem.phases.front().global_batch = 576;
    problem.workload = example_workload(16, {.count = 64, .active = 4, .feed_forward = 2048});
    ParallelPlan plan = plan_of(1, 1, 576);
    plan.ep = 64;
    const ExecutionGraph graph = std::get<CompiledPlan>(compiled(problem, plan)).graph;
    // The fourth group has GPUs 192 to 255: 24 in the third rack, 40 in the fourth. The
    // second and the eighth have 8 in one.
    const LayerShape shape =
        layer_shape(plan, problem.phases.front().sequence, problem.phases.front().global_batch);
    double slowest_s = 0.0;
    for (int set = 0; set < 9; ++set) {
        std::vector<int> members(64);
        std::iota(members.begin(), members.end(), 64 * set);
        LayerGroups groups = neighbouring_groups(shape, problem.cluster);
        groups.of(GroupKind::expert) = {group_of_members(members, problem.cluster)};
        const LayerCosts costs = layer_costs(network_of(problem.workload), problem.workload.precision, shape,
                                             groups, problem.cluster);
        slowest_s = std::max(slowest_s, costs.typical().forward.communication_s);
    }
    const OpDistribution& forward = graph.distribution[graph.distribution_at(0, Pass::forward)];
    // The ends take a little, too.
    EXPECT_NEAR(static_cast<double>(forward.communication_s), 16.0 * slowest_s, 0.01 * 16.0 * slowest_s);
    ASSERT_EQ(graph.lead_s.size(), 9U);
    EXPECT_EQ(std::count(graph.lead_s.begin(), graph.lead_s.end(), 0.0F), 2);  // with 8 members in a rack
    EXPECT_GT(graph.lead_s.front(), graph.lead_s[3]);  // inside a rack, and half in each of two
}

/// Of three expert groups of 16 GPUs on racks of 24, the second straddles two racks and takes longest; a node
/// of the third, which has a lead, is hardly slower than the others. The noise-free step is that of the
/// second, not that of its groups on the slower node.
TEST(PlacedGroups, ASlowNodeOfAFastReplicaDoesNotRaiseTheBound)
{
    Problem problem = on_nodes(true, 8);
    problem.cluster.gpus = 480;
    problem.cluster.tiers[1].group_gpus = 24;
    problem.cluster.tiers[2].group_gpus = problem.cluster.gpus;
    problem.phases.front().global_batch = 96;
    ParallelPlan plan = plan_of(1, 1, 48);
    plan.ep = 16;
    problem.cluster.node_factors.assign(problem.cluster.nodes(), 1.0);
    const double equal_s = noise_free_step(std::get<CompiledPlan>(compiled(problem, plan)).graph).step_s;
    problem.cluster.node_factors[5] = 1.001;
    const ExecutionGraph graph = std::get<CompiledPlan>(compiled(problem, plan, CompileFor::sampling)).graph;
    ASSERT_EQ(graph.lead_s.size(), 3U);
    EXPECT_EQ(graph.lead_s[1], 0.0F);
    EXPECT_GT(static_cast<double>(graph.lead_s[2]), 0.002 * equal_s);
    EXPECT_DOUBLE_EQ(noise_free_step(graph).step_s, equal_s);
    const double drawn_s = sample_steps(graph, problem.noise, {0, 64, 1}, {}).front();
    EXPECT_LE(noise_free_step(graph).step_s, drawn_s * (1.0 + 1e-6));
}

/// Of three expert groups of 8 GPUs on racks of 12, the second straddles two racks and takes longer. The
/// barrier at the end of a step waits for one slow and two fast sets of replicas, not for three slow ones:
/// against draws of each kind on its own.
TEST(PlacedGroups, ABarrierCountsEachKindOfReplica)
{
    Variability variability;
    set_residuals({0.2, 0.2, 0.2, 0.2, 0.2, 0.2}, variability);
    Problem problem = on_nodes(true, 12);
    constexpr std::array widths{1, 2, 4, 8, 16, 32};
    problem.noise = build_noise_tables(variability, widths);
    problem.phases.front().global_batch = 48;
    ParallelPlan plan = plan_of(1, 1, 24);
    plan.ep = 8;
    plan.sharding = Sharding::none;
    plan.dp_overlap = DataParallelOverlap::off;
    const auto result = compiled(problem, plan, CompileFor::sampling);
    const ExecutionGraph& graph = std::get<CompiledPlan>(result).graph;
    ASSERT_EQ(graph.lead_s.size(), 3U);  // GPUs 0 to 7 in a rack, 8 to 15 in two, 16 to 23 in one
    EXPECT_EQ(graph.lead_s[1], 0.0F);
    EXPECT_GT(graph.lead_s[0], 0.0F);
    constexpr DrawRange draws{0, 4096, 1};
    const auto mean = [&](const ExecutionGraph& of) {
        const std::vector<double> steps = sample_steps(of, problem.noise, draws, {});
        return std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
    };
    ExecutionGraph all_slow = graph;
    all_slow.lead_s.clear();
    ExecutionGraph one = all_slow;  // the slow set alone
    one.placement.replicas = one.placement.coupled;
    EXPECT_LT(mean(graph), mean(all_slow));
    EXPECT_GE(mean(graph), mean(one) * (1.0 - 1e-3));
    // Sets of coupled replicas end independently of each other: the maximum of one slow
    // and two fast ones, drawn separately.
    const std::vector<double> slow = sample_steps(one, problem.noise, draws, {.seed = 11});
    ExecutionGraph two = all_slow;
    two.placement.replicas = 2 * two.placement.coupled;
    const std::vector<double> fast = sample_steps(two, problem.noise, draws, {.seed = 12});
    const auto lead = static_cast<double>(graph.lead_s[0]);
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < slow.size(); ++i) {
        const double longest = std::max(slow[i], fast[i] - lead);
        sum += longest;
        squares += longest * longest;
    }
    const auto count = static_cast<double>(slow.size());
    const double expected = sum / count;
    const double deviation = std::sqrt(std::max(0.0, squares / count - expected * expected));
    // Two means of as many draws, five deviations of their difference, and a thousandth for
    // the fast ones' shorter messages.
    EXPECT_NEAR(mean(graph), expected, 5.0 * deviation * std::sqrt(2.0 / count) + 1e-3 * expected);
}

/// Nodes of 8 behind circuits, of 18, or racks of 72 in pods of four: an expert group may leave a pod in
/// equal parts, or only a rack in uneven ones.
Problem nested(bool mixture, int node)
{
    Problem problem = on_nodes(mixture, node);
    if (node == 72) {
        problem.cluster.tiers[1].group_gpus = 288;
        problem.workload = example_workload(
            16, mixture ? Experts{.count = 64, .active = 4, .feed_forward = 2048} : Experts{});
        problem.phases.front().global_batch = 384;
    }
    if (node == 8) {
        problem.cluster.tiers.back().aggregate = BytesPerSecond{1e12};
    }
    return problem;
}

std::vector<ParallelPlan> plans_over_racks(bool mixture)
{
    std::vector<ParallelPlan> plans;
    for (const int ep : {16, 32, 64}) {
        for (const Sharding sharding : {Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
            plans.push_back(plan_of(1, 1, 384));
            plans.back().ep = mixture ? ep : 1;
            plans.back().sharding = sharding;
        }
    }
    return plans;
}

/// Whether the plan is feasible; its bounds are then below it.
bool bounds_hold(const ParallelPlan& plan, PlanCompiler& compiler)
{
    const auto result = compiler.compile(plan, CompileFor::noise_free_step);
    const auto* feasible = std::get_if<CompiledPlan>(&result);
    if (feasible == nullptr) {
        return false;
    }
    const double step_s = noise_free_step(feasible->graph).step_s;
    const auto least_s = compiler.least_constant_step(plan);
    if (least_s && plan.recompute == Recompute::none && plan.offload == Offload::none) {
        EXPECT_LE(*least_s, step_s) << text_of(plan);
    }
    if (const auto least_bytes = compiler.least_memory(plan)) {
        EXPECT_LE(*least_bytes, feasible->memory.total().si * (1.0 + 1e-12)) << text_of(plan);
    }
    return true;
}

/// Bounds that exclude plans hold wherever groups lie.
void expect_bounds_hold(bool mixture, int node)
{
    const Problem problem = nested(mixture, node);
    PlanCompiler compiler(
        {problem.workload, problem.phases.front(), problem.cluster, problem.noise, problem.memory_limit});
    std::vector<ParallelPlan> plans = random_plans(problem, 150, 9);
    if (node == 72) {
        const std::vector<ParallelPlan> more = plans_over_racks(mixture);
        plans.insert(plans.end(), more.begin(), more.end());
    }
    int compared = 0;
    for (ParallelPlan plan : plans) {
        for (const PlacementOrder order : {PlacementOrder::tp_pp_dp, PlacementOrder::tp_dp_pp}) {
            for (const Crossing crossing : {Crossing::by_order, Crossing::dp, Crossing::pp}) {
                plan.order = order;
                plan.crossing = crossing;
                compared += bounds_hold(plan, compiler) ? 1 : 0;
            }
        }
    }
    EXPECT_GE(compared, 300);
}

TEST(PlacedGroups, BoundsHoldOverOrdersAndCrossings)
{
    for (const bool mixture : {false, true}) {
        for (const int node : {8, 18, 72}) {
            expect_bounds_hold(mixture, node);
        }
    }
}

}  // namespace
}  // namespace prismopt
