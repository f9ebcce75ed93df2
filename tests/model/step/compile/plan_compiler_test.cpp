#include "model/step/compile/plan_compiler.hpp"

#include "model/hardware/collective.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/step/graph/slowest_group.hpp"
#include "tests/support/example_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

namespace prismopt {
namespace {

constexpr std::array compiled_widths{1, 2, 4, 8};

const Problem& problem()
{
    static const Problem p = example_problem(lively_variability(), 64, compiled_widths);
    return p;
}

std::variant<CompiledPlan, Infeasible> compile(const ParallelPlan& plan, double headroom = 0.0)
{
    PlanCompiler compiler({problem().workload, problem().phases.front(), problem().cluster, problem().noise,
                           MemoryLimit{.headroom = headroom}});
    return compiler.compile(plan);
}

ExecutionGraph graph_of(const ParallelPlan& plan) { return graph_of(problem(), plan); }

TEST(Placement, GivesEachGroupItsOwnGpus)
{
    for (const PlacementOrder order : {PlacementOrder::tp_pp_dp, PlacementOrder::tp_dp_pp}) {
        ParallelPlan plan = plan_of(4, 8, 16);
        plan.order = order;
        const Placement at = place(plan, problem().cluster);
        std::set<int> gpus;
        for (int replica = 0; replica < plan.dp; ++replica) {
            for (int stage = 0; stage < plan.pp; ++stage) {
                EXPECT_EQ(at.gpu(replica, stage) % plan.tp, 0);
                gpus.insert(at.gpu(replica, stage));
            }
        }
        EXPECT_EQ(gpus.size(), 128U);
        EXPECT_EQ(*gpus.rbegin(), plan.gpus() - plan.tp);
        // The dimension after tp is the neighbour.
        EXPECT_EQ(order == PlacementOrder::tp_pp_dp ? at.gpu(0, 1) : at.gpu(1, 0), plan.tp);
    }
}

/// Stages of 4 GPUs, two a node: transfers alternate between the node and the network; none into the first
/// forward and the last stage's backward.
TEST(ExecutionGraph, TransfersCrossTheTierBetweenStages)
{
    const ExecutionGraph graph = graph_of(plan_with_replicas_outermost(4, 4, 2));
    const double bytes = 2.0 * 2048.0 * 2048.0 / 4.0;  // 16-bit activations of one sequence, split over tp
    const double inside = bytes / (300e9 * 0.8) + 3e-6;
    const double outside = bytes / (25e9 * 0.8) + 6e-6;
    const std::array forward{0.0, inside, outside, inside};
    const std::array backward{inside, outside, inside, 0.0};
    for (std::size_t stage = 0; stage < 4; ++stage) {
        EXPECT_NEAR(graph.distribution[2 * stage].transfer_s, forward[stage], 1e-6 * outside);
        EXPECT_NEAR(graph.distribution[2 * stage + 1].transfer_s, backward[stage], 1e-6 * outside);
    }
}

/// Interleaved, the last stage feeds the first stage's next chunk.
TEST(ExecutionGraph, ChunksAreFedByTheLastStage)
{
    ParallelPlan plan = plan_of(8, 2, 2);
    plan.schedule = Schedule::interleaved;
    plan.chunks = 2;
    const ExecutionGraph graph = graph_of(plan);
    const auto forward = [&](int stage, int chunk) {
        return graph.distribution[2 * (stage * 2 + chunk)].transfer_s;
    };
    EXPECT_EQ(forward(0, 0), 0.0F);
    EXPECT_GT(forward(1, 0), 0.0F);
    EXPECT_EQ(forward(0, 1), forward(1, 0));
    EXPECT_EQ(forward(1, 1), forward(1, 0));
    // 16 layers in 4 chunks, named by their first slot; slot 0 is the embedding.
    EXPECT_THAT(graph.first_slot, testing::ElementsAre(0, 9, 5, 13));  // stage 0: chunks 0, 2 of the network
}

/// Where interleaved chunks wait for their exchanges: a transfer alone takes as long as ever, and of two
/// each holds the stage for half.
TEST(ExecutionGraph, ExchangesOfChunksHoldTheStage)
{
    ParallelPlan plan = plan_of(8, 2, 2);
    plan.schedule = Schedule::interleaved;
    plan.chunks = 2;
    Problem waiting = problem();
    waiting.cluster.stack.waits_for_chunks = true;
    const ExecutionGraph overlapped = graph_of(plan);
    const ExecutionGraph waits = graph_of(waiting, plan);
    for (std::size_t i = 0; i < overlapped.distribution.size(); ++i) {
        const OpDistribution& usual = overlapped.distribution[i];
        const OpDistribution& held = waits.distribution[i];
        EXPECT_FLOAT_EQ(held.transfer_s, 0.5F * usual.transfer_s);
        EXPECT_FLOAT_EQ(held.communication_s, usual.communication_s + 0.5F * usual.transfer_s);
        EXPECT_FLOAT_EQ(held.communication.mean_s, usual.communication.mean_s + 0.5F * usual.transfer_s);
        // What varies stays as long.
        EXPECT_NEAR(held.communication.mean_s * held.communication.cv,
                    usual.communication.mean_s * usual.communication.cv, 1e-6 * usual.communication.mean_s);
        EXPECT_EQ(held.compute_s, usual.compute_s);
    }
    plan.schedule = Schedule::zb_v;
    EXPECT_EQ(graph_of(waiting, plan).distribution[0].communication_s,
              graph_of(plan).distribution[0].communication_s);
    EXPECT_EQ(graph_of(waiting, plan).distribution[3].transfer_s, graph_of(plan).distribution[3].transfer_s);
}

/// The layers' work is split, not changed: sums over all chunks do not depend on pp and v.
TEST(ExecutionGraph, ChunksSumToTheNetwork)
{
    const auto compute = [](const ExecutionGraph& graph) {
        double sum = 0.0;
        for (const OpDistribution& distribution : graph.distribution) {
            sum += static_cast<double>(distribution.compute_s);
        }
        return sum;
    };
    const double whole = compute(graph_of(plan_of(2, 1, 8)));
    for (const int pp : {2, 4, 8}) {
        EXPECT_NEAR(compute(graph_of(plan_of(2, pp, 2))), whole, 1e-5 * whole) << pp;
    }
}

TEST(ExecutionGraph, GradientsCrossTheReplicas)
{
    ParallelPlan plan = plan_with_replicas_outermost(2, 4, 4);
    plan.microbatch = 2;
    plan.dp_overlap = DataParallelOverlap::off;
    const Problem& p = problem();
    LayerShape on_two;
    on_two.tp = 2;
    // a middle stage
    const double stage_parameters = 4.0 * parameters_of(network_of(p.workload).kinds.front(), on_two).all;
    const Spacing replicas{4, 8};  // four stages of two GPUs apart
    const auto time = [&](Collective kind, double bytes) {
        // A message a layer.
        return 4.0 * collective_time(kind, Bytes{bytes / 4.0}, replicas, p.cluster).time.si;
    };
    const ExecutionGraph sharded = graph_of(plan);
    EXPECT_NEAR(sharded.reduction[1].exposed(), time(Collective::reduce_scatter, 4.0 * stage_parameters),
                1e-6);
    EXPECT_NEAR(sharded.gathering[1].exposed(), time(Collective::all_gather, 2.0 * stage_parameters), 1e-6);
    plan.sharding = Sharding::none;
    const ExecutionGraph whole = graph_of(plan);
    EXPECT_NEAR(whole.reduction[1].exposed(), time(Collective::all_reduce, 4.0 * stage_parameters), 1e-6);
    EXPECT_EQ(whole.gathering[1].exposed(), 0.0F);
    // 38 bytes a parameter at 80 % of 2 TB/s, and a launch; of a quarter of the parameters when sharded.
    EXPECT_NEAR(whole.optimizer_s[1], 38.0 * stage_parameters / 1.6e12 + 4e-6, 1e-8);
    EXPECT_NEAR(sharded.optimizer_s[1], 38.0 * stage_parameters / 4.0 / 1.6e12 + 4e-6, 1e-8);
    const ExecutionGraph alone = graph_of(plan_of(2, 4, 1));
    EXPECT_EQ(alone.reduction[1].exposed(), 0.0F);
    EXPECT_EQ(alone.gathering[1].exposed(), 0.0F);
}

TEST(PlanCompiler, SaysWhatCannotWork)
{
    const auto refusal = [](const ParallelPlan& plan, double headroom = 0.0) {
        auto result = compile(plan, headroom);
        EXPECT_TRUE(std::holds_alternative<Infeasible>(result));
        return std::get<Infeasible>(result);
    };
    EXPECT_EQ(refusal(plan_of(1, 32, 1)).reason(), Reason::layers_and_chunks);
    ParallelPlan two_chunks = plan_of(1, 4, 1);
    two_chunks.chunks = 2;
    EXPECT_EQ(refusal(two_chunks).reason(), Reason::schedule_undefined);

    ParallelPlan heavy = plan_of(1, 2, 1);
    heavy.schedule = Schedule::gpipe;  // 64 microbatches' activations
    const Infeasible memory = refusal(heavy);
    EXPECT_EQ(memory.reason(), Reason::out_of_memory);
    EXPECT_EQ(memory.conflict, Conflict::stage_over_memory);
    EXPECT_EQ(std::get<std::int64_t>(*memory.find(FactKey::stage)), 1);
    const auto bytes = [](const Infeasible& why, FactKey key) { return std::get<double>(*why.find(key)); };
    EXPECT_EQ(bytes(memory, FactKey::usable_bytes), 80e9);
    EXPECT_EQ(bytes(memory, FactKey::need_bytes) - memory.miss, 80e9);
    EXPECT_NEAR(bytes(refusal(heavy, 0.1), FactKey::usable_bytes), 72e9, 1.0);
    EXPECT_EQ(memory.find(FactKey::fit_probability), nullptr);  // the limit has no spread
    EXPECT_NEAR(refusal(heavy, 0.1).miss - memory.miss, 8e9, 1.0);
    EXPECT_GT(memory.miss, 0.0);
}

/// States on the host have the share of its memory that is known.
TEST(PlanCompiler, LimitsWhatHostsHold)
{
    ParallelPlan plan = plan_of(8, 4, 1);
    plan.offload = Offload::optimizer;
    Cluster cluster = problem().cluster;
    cluster.accelerator.host_link = BytesPerSecond{25e9};
    cluster.accelerator.host_memory_bandwidth = BytesPerSecond{50e9};
    const auto compiled = [&] {
        PlanCompiler compiler({problem().workload, problem().phases.front(), cluster, problem().noise});
        return compiler.compile(plan);
    };
    const auto unlimited = compiled();
    ASSERT_TRUE(std::holds_alternative<CompiledPlan>(unlimited));
    double most = 0.0;
    for (const MemoryUse& stage : std::get<CompiledPlan>(unlimited).stages) {
        most = std::max(most, stage.host.si);
    }
    ASSERT_GT(most, 0.0);
    cluster.accelerator.host_memory = Bytes{most};
    EXPECT_TRUE(std::holds_alternative<CompiledPlan>(compiled()));
    cluster.accelerator.host_memory = Bytes{most - 1e6};
    const auto refused = compiled();
    ASSERT_TRUE(std::holds_alternative<Infeasible>(refused));
    EXPECT_EQ(std::get<Infeasible>(refused).reason(), Reason::out_of_host_memory);
    EXPECT_DOUBLE_EQ(std::get<Infeasible>(refused).miss, 1e6);
}

/// Members wait for each other, so a group's mean is longer than one member's; alone it is the
/// same. Stages with equal chunks share their distributions: the first, the last and those between
/// have two each for both passes.
TEST(PlanCompiler, ComposesTheDistributionsOfOps)
{
    for (const int tp : {1, 8}) {
        const ExecutionGraph graph = graph_of(plan_of(tp, 8, 1));
        EXPECT_LE(graph.shapes.size(), 12U);
        for (const OpDistribution& distribution : graph.distribution) {
            if (tp == 1) {
                EXPECT_FLOAT_EQ(distribution.compute.mean_s, distribution.compute_s);
            } else {
                EXPECT_GT(distribution.compute.mean_s, 1.005F * distribution.compute_s);
            }
            EXPECT_FLOAT_EQ(distribution.communication.mean_s, distribution.communication_s);
            EXPECT_GT(distribution.compute.cv, 0.0F);
            ASSERT_LT(distribution.compute.shape, static_cast<int>(graph.shapes.size()));
        }
    }
}

TEST(PlanCompiler, LeavesDistributionsOutOfNoiseFreeSteps)
{
    PlanCompiler compiler({problem().workload, problem().phases.front(), problem().cluster, problem().noise});
    const auto compiled = compiler.compile(plan_of(8, 4, 1), CompileFor::noise_free_step);
    const ExecutionGraph& graph = std::get<CompiledPlan>(compiled).graph;
    EXPECT_TRUE(graph.shapes.empty());
    const ExecutionGraph with_distributions = graph_of(plan_of(8, 4, 1));
    for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
        EXPECT_EQ(graph.distribution[i].compute_s, with_distributions.distribution[i].compute_s);
        EXPECT_EQ(graph.distribution[i].compute.cv, 0.0F);
    }
}

/// With the waiting inside a replica, and no more: coupled replicas wait for each other as well.
TEST(PlanCompiler, MeansForBoundsAreThoseOfDraws)
{
    PlanCompiler compiler({problem().workload, problem().phases.front(), problem().cluster, problem().noise});
    for (const Sharding sharding : {Sharding::zero1, Sharding::zero3}) {
        ParallelPlan plan = plan_of(8, 4, 2);
        plan.sharding = sharding;
        const auto compiled = compiler.compile(plan, CompileFor::bounds);
        const ExecutionGraph& graph = std::get<CompiledPlan>(compiled).graph;
        const ExecutionGraph drawn = graph_of(plan);
        for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
            const float mean = drawn.distribution[i].compute.mean_s;
            EXPECT_LE(graph.distribution[i].compute_s, mean * (1.0F + 1e-6F));
            EXPECT_GE(graph.distribution[i].compute_s,
                      (sharding == Sharding::zero1 ? 1.0F - 1e-6F : 0.97F) * mean);
            EXPECT_GT(graph.distribution[i].compute_s, 1.005F * drawn.distribution[i].compute_s);
            EXPECT_EQ(graph.distribution[i].communication_s, drawn.distribution[i].communication_s);
        }
    }
}

/// With many microbatches, whose program is shortened for bounds. But for GPipe, a
/// stage holds no more than with few.
TEST(PlanCompiler, MemoryForBoundsIsThatOfTheWholeProgram)
{
    Problem small = problem();
    small.phases.front().global_batch = 16;
    PlanCompiler with_few(
        {small.workload, small.phases.front(), small.cluster, small.noise, no_memory_limit});
    Problem own = problem();
    own.phases.front().global_batch = 512;
    PlanCompiler compiler({own.workload, own.phases.front(), own.cluster, own.noise, no_memory_limit});
    int shortened = 0;
    for (const ScheduleFacts& facts : schedule_facts) {
        for (const LayerSplit split : {LayerSplit::layers, LayerSplit::slots}) {
            ParallelPlan plan = plan_of(4, 4, 1);
            plan.schedule = facts.schedule;
            plan.chunks = facts.chunks == 0 ? 2 : facts.chunks;
            plan.split = split;
            const auto whole = compiler.compile(plan, CompileFor::noise_free_step);
            const auto bounds = compiler.compile(plan, CompileFor::bounds);
            if (std::holds_alternative<Infeasible>(whole)) {
                continue;
            }
            const auto& found = std::get<CompiledPlan>(bounds);
            shortened += found.graph.program->omitted > 0 ? 1 : 0;
            const double memory = found.memory.total().si;
            EXPECT_EQ(memory, std::get<CompiledPlan>(whole).memory.total().si) << name(facts.schedule);
            const auto few = with_few.compile(plan, CompileFor::bounds);
            const double of_few = std::get<CompiledPlan>(few).memory.total().si;
            if (facts.schedule == Schedule::gpipe) {
                EXPECT_GT(memory, of_few);
            } else {
                EXPECT_NEAR(memory, of_few, 1e-9 * of_few) << name(facts.schedule);
            }
        }
    }
    EXPECT_GE(shortened, 8);
}

/// A shortened program has the first ops of all stages.
TEST(PlanCompiler, StagesBeginAsFarAheadForBoundsAsInTheWholeProgram)
{
    Problem own = problem();
    own.phases.front().global_batch = 256;
    PlanCompiler compiler({own.workload, own.phases.front(), own.cluster, own.noise, no_memory_limit});
    ParallelPlan plan = plan_of(4, 4, 1);
    plan.schedule = Schedule::zb_h2;
    plan.post_validation = PostValidation::on;
    const auto whole = compiler.compile(plan, CompileFor::noise_free_step);
    const std::vector<float>& ahead = std::get<CompiledPlan>(whole).graph.ahead_s;
    const auto compiled = compiler.compile(plan, CompileFor::bounds);
    ExecutionGraph graph = std::get<CompiledPlan>(compiled).graph;
    ASSERT_GT(graph.program->omitted, 0U);
    EXPECT_EQ(graph.ahead_s, ahead);
    EXPECT_GT(ahead.back(), 0.0F);
    const double step = noise_free_step(graph).step_s;
    EXPECT_LE(longest_path(own_stage_paths(graph)), step * (1.0 + 1e-6));  // durations have single precision
    graph.program = std::get<CompiledPlan>(whole).graph.program;
    EXPECT_EQ(noise_free_step(graph).step_s, step);
}

/// A plan that no stage can hold has a least step, too, and a schedule that is not defined has none.
TEST(PlanCompiler, LeastStepsAreBelowTheNoiseFreeStepAndNeedADefinedSchedule)
{
    PlanCompiler compiler({problem().workload, problem().phases.front(), problem().cluster, problem().noise});
    const ParallelPlan plan = plan_of(8, 4, 2);
    const double step =
        noise_free_step(std::get<CompiledPlan>(compiler.compile(plan, CompileFor::bounds)).graph).step_s;
    EXPECT_LE(compiler.least_step(plan).value(), step);
    EXPECT_GE(compiler.least_step(plan).value(), 0.8 * step);
    PlanCompiler strict({problem().workload, problem().phases.front(), problem().cluster, problem().noise,
                         MemoryLimit{.headroom = 0.999}});
    EXPECT_EQ(strict.least_step(plan), compiler.least_step(plan));
    ParallelPlan undefined = plan;
    undefined.schedule = Schedule::dualpipe_v;
    undefined.chunks = 1;
    EXPECT_EQ(compiler.least_step(undefined), std::nullopt);
}

/// Plans with every schedule, sharding, recompute and offload, also where the host launches slowly:
/// visit(compiler, plan, compiled) for the feasible ones. Returns their number.
template <class Visit>
int for_plans(Visit&& visit)
{
    int plans = 0;
    for (const double host_s : {0.0, 20e-6}) {
        Problem own = problem();
        own.cluster.stack.host = Seconds{host_s};
        own.cluster.accelerator.host_link = BytesPerSecond{25e9};
        PlanCompiler compiler({own.workload, own.phases.front(), own.cluster, own.noise, no_memory_limit});
        for (const ScheduleFacts& facts : schedule_facts) {
            for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
                for (const Offload offload : {Offload::none, Offload::activations, Offload::optimizer}) {
                    for (const Sharding sharding :
                         {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
                        ParallelPlan plan = plan_of(4, 4, 2);
                        plan.schedule = facts.schedule;
                        plan.chunks = facts.chunks == 0 ? 2 : facts.chunks;
                        plan.recompute = recompute;
                        plan.offload = offload;
                        plan.sharding = sharding;
                        const auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
                        if (const auto* found = std::get_if<CompiledPlan>(&compiled)) {
                            ++plans;
                            visit(compiler, plan, *found);
                        }
                    }
                }
            }
        }
    }
    return plans;
}

/// Recompute and offload only add to passes, so the least step without them is a bound of plans with them.
TEST(PlanCompiler, ConstantLeastStepsHoldForEveryRecomputeAndOffload)
{
    const int plans =
        for_plans([&](PlanCompiler& compiler, const ParallelPlan& plan, const CompiledPlan& compiled) {
            ParallelPlan least = plan;
            least.recompute = Recompute::none;
            least.offload = Offload::none;
            const double bound = compiler.least_constant_step(least).value();
            EXPECT_LE(bound, compiler.least_constant_step(plan).value())
                << name(plan.schedule) << ' ' << name(plan.recompute);
            EXPECT_LE(bound, noise_free_step(compiled.graph).step_s) << name(plan.schedule);
        });
    EXPECT_GT(plans, 300);
}

/// The factor of groups is then the same with every sharding and offload.
TEST(PlanCompiler, ShardingDoesNotChangeTheKernelsOfLayers)
{
    std::map<std::tuple<double, Schedule, Recompute, Offload>, double> segment_cv;
    for_plans([&](PlanCompiler& compiler, const ParallelPlan& plan, const CompiledPlan& compiled) {
        const double own = compiled.graph.segment_cv;
        const auto key =
            std::tuple(compiler.setting().cluster.stack.host.si, plan.schedule, plan.recompute, plan.offload);
        EXPECT_GT(own, 0.0);
        EXPECT_EQ(segment_cv.try_emplace(key, own).first->second, own) << name(plan.sharding);
    });
}

TEST(PlanCompiler, LeastMemoryIsBelowTheMemoryAndLeastWithTheHighestSharding)
{
    const int plans =
        for_plans([&](PlanCompiler& compiler, const ParallelPlan& plan, const CompiledPlan& compiled) {
            constexpr double rounding = 1.0 + 1e-12;  // sums in another order
            const double least = compiler.least_memory(plan).value();
            EXPECT_LE(least, compiled.memory.total().si * rounding)
                << name(plan.schedule) << ' ' << name(plan.sharding);
            ParallelPlan highest = plan;
            highest.sharding = Sharding::zero3;
            EXPECT_LE(compiler.least_memory(highest).value(), least * rounding) << name(plan.sharding);
        });
    EXPECT_GT(plans, 300);
}

TEST(PlanCompiler, NeedsTablesForEachWidth) { EXPECT_THROW(compile(plan_of(16, 1, 1)), std::out_of_range); }

}  // namespace
}  // namespace prismopt
