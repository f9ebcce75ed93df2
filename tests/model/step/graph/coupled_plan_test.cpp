/// Compiled plans of every coupling class against brute force: each GPU and each kernel one by one.

#include "tests/support/coupled_plan.hpp"
#include "tests/support/coupled_agreement.hpp"
#include "tests/support/example_problem.hpp"

#include "model/plan/coupling.hpp"

#include <gtest/gtest.h>

#include <variant>

namespace prismopt {
namespace {

Workload small_workload(bool mixture)
{
    return example_workload(8, mixture ? Experts{.count = 8, .active = 2, .feed_forward = 4096} : Experts{});
}

ParallelPlan with_cp(int cp, ParallelPlan plan)
{
    plan.cp = cp;
    return plan;
}

BruteForceJob lively()
{
    BruteForceJob job;
    job.gpu_cv = 0.02;
    job.slow_probability = 0.01;
    job.slow_excess = 0.10;
    job.stage_cv = 0.02;
    job.microbatch_cv = 0.02;
    return job;
}

/// `gather_share`: of a layer's forward pass that the gather of the next one takes.
void expect_agreement(const ParallelPlan& plan, const Workload& workload, int draws,
                      double gather_share = 0.5, double under = 0.0025)
{
    const Phase phase{1e11, 2048, 4 * plan.dp};
    const Cluster cluster = example_cluster(64);
    BruteForceJob job = lively();
    job.widths = {plan.tp, plan.cp};
    const NoiseTables noise = brute_force_noise(job);
    const Setting setting{workload, phase, cluster, noise};
    PlanCompiler compiler(setting);
    const auto compiled = compiler.compile(plan);
    ASSERT_TRUE(std::holds_alternative<CompiledPlan>(compiled))
        << name(std::get<Infeasible>(compiled).conflict);
    const ExecutionGraph& graph = std::get<CompiledPlan>(compiled).graph;
    set_passes(plan, setting, graph, gather_share, job);
    EXPECT_EQ(graph.placement.coupled, job.widths.replicas());
    expect_agreement(job, graph, noise, draws, 3, 0.0025, under);
}

TEST(CoupledPlan, ContextParallelGroupsOfAReplica)
{
    expect_agreement(with_cp(2, plan_of(2, 2, 4)), small_workload(false), 1000);
}

/// Two classes are farther below brute force (docs/methods/coupling.md, exceptions).
constexpr double farther_below = 0.0035;

TEST(CoupledPlan, ContextParallelGroupsAlone)
{
    expect_agreement(with_cp(8, plan_of(1, 1, 2)), small_workload(false), 1500, 0.5, farther_below);
}

TEST(CoupledPlan, ShardedParameters)
{
    ParallelPlan plan = plan_of(1, 1, 16);
    plan.sharding = Sharding::zero3;
    expect_agreement(plan, small_workload(false), 1000);
}

TEST(CoupledPlan, ShardedParametersOfAPipeline)
{
    ParallelPlan plan = plan_of(2, 2, 8);
    plan.sharding = Sharding::zero3;
    expect_agreement(plan, small_workload(false), 1000);
}

TEST(CoupledPlan, ShardedParametersWithBlockingGathers)
{
    ParallelPlan plan = plan_of(1, 1, 16);
    plan.sharding = Sharding::zero3;
    plan.dp_overlap = DataParallelOverlap::off;
    expect_agreement(plan, small_workload(false), 1000);
}

TEST(CoupledPlan, ExpertGroupsAcrossReplicas)
{
    ParallelPlan plan = plan_of(2, 2, 8);
    plan.ep = 8;
    expect_agreement(plan, small_workload(true), 1000, 0.5, farther_below);
}

TEST(CoupledPlan, ExpertGroupsInAReplica)
{
    ParallelPlan plan = plan_of(4, 2, 4);
    plan.ep = 4;
    expect_agreement(plan, small_workload(true), 1000);
}

TEST(CoupledPlan, ExpertGroupsOfShardedReplicas)
{
    ParallelPlan plan = plan_of(1, 1, 16);
    plan.ep = 4;
    plan.sharding = Sharding::zero3;
    expect_agreement(plan, small_workload(true), 1000);
}

/// The class is a function of the plan.
TEST(CoupledPlan, WidthsOfEveryClass)
{
    ParallelPlan plan = with_cp(2, plan_of(2, 4, 12));
    EXPECT_EQ(barrier_widths(plan), (BarrierWidths{2, 2}));
    plan.ep = 4;
    EXPECT_EQ(barrier_widths(plan), (BarrierWidths{2, 2})) << "an expert group fits into a replica";
    plan.ep = 8;
    EXPECT_EQ(barrier_widths(plan), (BarrierWidths{2, 2, 2}));
    plan.etp = 2;
    EXPECT_EQ(barrier_widths(plan), (BarrierWidths{2, 2, 4}));
    plan.sharding = Sharding::zero3;
    EXPECT_EQ(barrier_widths(plan), (BarrierWidths{2, 2, 4, 1, 3}));
    plan.dp_overlap = DataParallelOverlap::off;
    EXPECT_EQ(barrier_widths(plan), (BarrierWidths{2, 2, 4, 3}));
    plan.ep = 3;
    plan.etp = 1;
    EXPECT_EQ(barrier_widths(plan), (BarrierWidths{2, 2, 3, 4}))
        << "groups of 3 end with replicas of 4 after 3 replicas";
    plan.sharding = Sharding::zero2;
    plan.ep = 1;
    EXPECT_EQ(barrier_widths(plan), (BarrierWidths{2, 2, 1, 12}));
    plan.sharding = Sharding::zero1;
    plan.table_shards = 48;
    EXPECT_EQ(barrier_widths(plan), (BarrierWidths{2, 2, 12}))
        << "all replicas exchange rows of tables, whatever ep is";
    plan.table_shards = 0;
    plan.dp = 1;
    EXPECT_EQ(barrier_widths(plan).replicas(), 1);
    plan.sharding = Sharding::zero1;
    plan.dp = 4096;
    EXPECT_EQ(barrier_widths(plan).replicas(), 1) << "replicas synchronise once per step";
}

/// Whatever groups divide the GPUs, the replicas that synchronise divide all replicas: also where
/// DualPipe has two copies of the model.
TEST(CoupledPlan, SynchronisedReplicasDivideTheReplicas)
{
    for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::dualpipe}) {
        for (const Sharding sharding : {Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
            for (const int dp : {1, 2, 3, 4}) {
                for (const int ep : {1, 2, 3, 4, 6, 8, 16}) {
                    ParallelPlan plan = plan_of(4, 2, dp);
                    plan.schedule = schedule;
                    plan.sharding = sharding;
                    plan.ep = ep;
                    EXPECT_EQ(expert_groups_divide(plan), 4 * dp % ep == 0) << dp << " " << ep;
                    if (expert_groups_divide(plan)) {
                        EXPECT_EQ(dp % barrier_widths(plan).replicas(), 0) << dp << " " << ep;
                    }
                }
            }
        }
    }
}

TEST(CoupledPlan, ExpertGroupsThatDoNotDivideTheGpusAreRefused)
{
    ParallelPlan plan = plan_of(1, 1, 6);
    plan.ep = 4;
    const Workload workload = small_workload(true);
    const Phase phase{1e11, 2048, 24};
    const Cluster cluster = example_cluster(64);
    const NoiseTables noise = brute_force_noise(lively());
    PlanCompiler compiler({workload, phase, cluster, noise});
    const auto compiled = compiler.compile(plan);
    ASSERT_TRUE(std::holds_alternative<Infeasible>(compiled));
    EXPECT_EQ(std::get<Infeasible>(compiled).conflict, Conflict::expert_groups_and_stage);
    EXPECT_EQ(std::get<Infeasible>(compiled).facts,
              (Facts{{FactKey::expert_gpus, 4}, {FactKey::stage_gpus, 6}}));
}

}  // namespace
}  // namespace prismopt
