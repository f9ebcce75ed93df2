#include "model/network/layer_cost.hpp"
#include "model/sensitivity.hpp"
#include "model/step/graph/mean_step.hpp"
#include "tests/support/example_problem.hpp"
#include "tests/support/neighbouring_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace prismopt {
namespace {

using enum KernelClass;

constexpr std::array widths{1, 2, 4};
constexpr double cv = 0.1;

/// Nothing varies but one class.
Variability only(KernelClass kernel)
{
    Variability v;
    v.residual[static_cast<std::size_t>(kernel)] = Distribution{LogNormal{cv}, {}, 20.0, "test"};
    return v;
}

struct Case {
    std::string name;
    ParallelPlan plan;
    bool experts = false;
    std::set<KernelClass> inside;  // collectives that ops wait for
};

/// Plans of one stage, in which nothing hides a collective unless they say so.
std::vector<Case> cases()
{
    const auto plan = [](int tp, int cp, int dp, Sharding sharding) {
        ParallelPlan p = plan_of(tp, 1, dp);
        p.cp = cp;
        p.sharding = sharding;
        p.dp_overlap = DataParallelOverlap::off;
        return p;
    };
    ParallelPlan whole = plan(2, 1, 1, Sharding::zero1);
    whole.sequence_parallel = SequenceParallel::off;
    ParallelPlan gathered = plan(1, 2, 1, Sharding::zero1);
    gathered.context_exchange = ContextExchange::all_gather;
    ParallelPlan hybrid = plan(1, 1, 4, Sharding::zero3);
    hybrid.shard_gpus = 2;
    ParallelPlan experts = plan(1, 1, 4, Sharding::zero1);
    experts.ep = 4;
    ParallelPlan overlapped = plan(1, 1, 4, Sharding::zero3);
    overlapped.dp_overlap = DataParallelOverlap::on;
    return {{"one GPU", plan(1, 1, 1, Sharding::zero1), false, {}},
            {"tensor", whole, false, {tensor_all_reduce}},
            {"tensor and sequence",
             plan(2, 1, 1, Sharding::zero1),
             false,
             {tensor_all_gather, tensor_reduce_scatter}},
            {"context, gathered", gathered, false, {context_all_gather}},
            {"ring", plan(1, 2, 1, Sharding::zero1), false, {context_p2p}},
            {"ZeRO-2", plan(1, 1, 2, Sharding::zero2), false, {sharded_all_gather, sharded_reduce_scatter}},
            {"ZeRO-3", plan(1, 1, 2, Sharding::zero3), false, {sharded_all_gather, sharded_reduce_scatter}},
            {"ZeRO-3 beside compute", overlapped, false, {sharded_all_gather, sharded_reduce_scatter}},
            {"hybrid", hybrid, false, {sharded_all_gather, sharded_reduce_scatter, sharded_all_reduce}},
            {"experts", experts, true, {expert_all_to_all}}};
}

Problem problem_of(const Case& c, Problem problem = example_problem(Variability{}, 8, widths))
{
    if (c.experts) {
        problem.workload = example_workload(16, {.count = 8, .active = 2, .feed_forward = 2048});
    }
    return problem;
}

LayerCosts costs_of(const Problem& problem, const ParallelPlan& plan)
{
    return layer_costs(network_of(problem.workload), problem.workload.precision,
                       layer_shape(plan, problem.phases.front().sequence,
                                   problem.phases.front().global_batch),
                       layer_groups(plan, problem.cluster), problem.cluster);
}

/// Calls visit(how often, exposed) for the collectives of a pass over all the network.
template <class Visit>
void for_exposed(const LayerCosts& costs, PassCost LayerCost::*pass, Visit&& visit)
{
    const auto each = [&](double count, const LayerCost& cost) {
        for (const Exposed& exposed : (cost.*pass).exposed) {
            visit(count, exposed);
        }
    };
    for (const int kind : costs.layers) {
        each(1.0, costs.kinds[static_cast<std::size_t>(kind)]);
    }
    each(1.0, costs.embedding);
    each(1.0, costs.head);
}

TEST(CollectiveClasses, AreOfThePlansGroups)
{
    for (const Case& c : cases()) {
        const LayerCosts costs = costs_of(problem_of(c), c.plan);
        std::set<KernelClass> found;
        for (PassCost LayerCost::*pass : {&LayerCost::forward, &LayerCost::backward,
                                          &LayerCost::input_gradient, &LayerCost::weight_gradient}) {
            for_exposed(costs, pass, [&](double /*count*/, const Exposed& exposed) {
                double whole = 0.0;
                for (const Exposed::Share& entry : exposed.shares) {
                    found.insert(entry.kind);
                    whole += entry.share;
                }
                EXPECT_NEAR(whole, 1.0, 1e-12) << c.name;
            });
        }
        EXPECT_EQ(found, c.inside) << c.name;
    }
}

/// Variance of a pass's communication: of each collective the square of the deviation that its classes with
/// the distribution have together.
TEST(CollectiveClasses, VaryByTheirOwnDistributions)
{
    for (const KernelClassRow& row : kernel_class_rows) {
        const Problem varied = example_problem(only(row.kernel), 8, widths);
        for (const Case& c : cases()) {
            const LayerCosts costs = costs_of(problem_of(c), c.plan);
            const ExecutionGraph graph = graph_of(problem_of(c, varied), c.plan);
            for (const auto& [pass, cost] :
                 {std::pair{Pass::forward, &LayerCost::forward}, {Pass::backward, &LayerCost::backward}}) {
                double variance = 0.0;
                double mean = 0.0;
                for_exposed(costs, cost, [&](double count, const Exposed& exposed) {
                    double share = 0.0;
                    for (const Exposed::Share& entry : exposed.shares) {
                        share += is_within(entry.kind, row.kernel) ? entry.share : 0.0;
                    }
                    mean += count * exposed.seconds;
                    variance += count * std::pow(share * exposed.seconds * cv, 2);
                });
                const OpDistribution& distribution = graph.distribution[graph.distribution_at(0, pass)];
                const double found = static_cast<double>(distribution.communication.mean_s) *
                                     static_cast<double>(distribution.communication.cv);
                // Grids and floats are good to a thousandth; a distribution that is removed leaves nothing.
                EXPECT_NEAR(found, std::sqrt(variance), 1e-3 * std::sqrt(variance))
                    << c.name << ", " << row.name;
                EXPECT_NEAR(static_cast<double>(distribution.communication.mean_s), mean, 1e-5 * mean)
                    << c.name;
                const bool computes = outermost(row.kernel) == gemm || outermost(row.kernel) == attention ||
                                      outermost(row.kernel) == elementwise;
                EXPECT_TRUE(computes || distribution.compute.cv == 0.0F) << c.name << ", " << row.name;
            }
        }
    }
}

/// Step times of one GPU count whose only noise is a class: they vary by its part of the
/// exchange at the ends of the step.
double deviation(const Problem& problem, const ParallelPlan& plan, KernelClass kernel)
{
    Problem varied = problem;
    varied.noise = build_noise_tables(only(kernel), widths);
    const std::vector<Consequence> found =
        consequences(varied, plan, std::vector<WhatIf>(1), {0, 4096, 2}, {1, Purpose::search, 4});
    return found.front().predicted[static_cast<std::size_t>(Figure::cv)] *
           noise_free_step(graph_of(varied, plan)).step_s;
}

/// Replicas whose exchange nothing hides: the step is a sum with one draw of each collective.
TEST(CollectiveClasses, AtTheEndsOfAStepVaryByTheirOwnDistributions)
{
    const Problem problem = example_problem(Variability{}, 8, widths);
    for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
        for (const int shard_gpus : {0, 2}) {
            ParallelPlan plan = plan_of(1, 1, 4);
            plan.sharding = sharding;
            plan.shard_gpus = sharding == Sharding::none ? 0 : shard_gpus;
            plan.dp_overlap = DataParallelOverlap::off;
            const ExecutionGraph graph = graph_of(problem, plan);
            const auto reduced = static_cast<double>(graph.reduction[0].exposed());
            const auto summed = static_cast<double>(graph.reduction[0].all_reduce);
            const auto gathered = static_cast<double>(graph.gathering[0].exposed());
            EXPECT_EQ(summed > 0.0, sharding == Sharding::none || shard_gpus > 0);
            const auto expect = [&](KernelClass kernel, double of) {
                // Four standard errors of a standard deviation of 8,192 draws; of lognormal distributions of
                // 10 % somewhat more, and floats.
                const double margin =
                    1.2 * 4.0 / std::sqrt(2.0 * 8192.0) * of * cv + 1e-6 * noise_free_step(graph).step_s;
                EXPECT_NEAR(deviation(problem, plan, kernel), of * cv, margin)
                    << name(kernel) << ' ' << shard_gpus;
            };
            expect(dp_all_reduce, reduced * summed);
            expect(dp_reduce_scatter, reduced * (1.0 - summed));
            expect(dp_all_gather, gathered);
            expect(dp_collective, std::hypot(reduced, gathered));
            expect(sharded_collective, 0.0);
            expect(tensor_all_reduce, 0.0);
        }
    }
}

/// A plan's classes, those at the ends of the step among them.
TEST(CollectiveClasses, OfAPlanAreFound)
{
    for (const Case& c : cases()) {
        std::set<KernelClass> expected = c.inside;
        expected.insert({gemm, attention, elementwise, lookup});
        if (c.experts) {
            expected.insert(grouped_gemm);
        }
        if (c.plan.dp * c.plan.cp > 1) {
            expected.insert({dp_all_gather, dp_reduce_scatter});
        }
        if (c.plan.shard_gpus > 0) {
            expected.insert(dp_all_reduce);
        }
        const std::vector<KernelClass> found = kernel_classes_of(problem_of(c), c.plan);
        EXPECT_EQ(std::set<KernelClass>(found.begin(), found.end()), expected) << c.name;
    }
    ParallelPlan pipelined = plan_of(1, 2, 1);
    EXPECT_THAT(kernel_classes_of(example_problem({}, 8, widths), pipelined), testing::Contains(p2p));
}

}  // namespace
}  // namespace prismopt
