#include "model/step/compile/memory.hpp"

#include "tests/support/workload_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace prismopt {
namespace {

ParallelPlan pipeline_plan(Schedule schedule, int pp, int v, int dp)
{
    ParallelPlan plan;
    plan.schedule = schedule;
    plan.pp = pp;
    plan.chunks = v;
    plan.dp = dp;
    return plan;
}

MemoryUse memory_of(LayerCosts costs, int layers, const ParallelPlan& plan, int microbatches,
                    const OptimizerSettings& optimizer = {}, const MemoryRules& rules = {})
{
    costs.layers.assign(layers, 0);
    const auto program = std::get<std::shared_ptr<const Program>>(
        compiled_program({plan.schedule, plan.pp, microbatches, plan.chunks}));
    std::vector<ChunkContents> chunks;
    const auto layers_of = layout(layers, plan);
    for (const Chunk& chunk : std::get<std::vector<Chunk>>(layers_of)) {
        chunks.emplace_back(chunk, costs);
    }
    Accelerator accelerator;
    accelerator.memory_reserved = Bytes{3e9};
    accelerator.memory = Bytes{80e9};
    SoftwareStack stack;
    stack.holds = rules;
    return fullest(memory_by_stage(*program, chunks, plan, {accelerator, stack, optimizer}));
}

/// Layers that save one byte, so that bytes count layers times microbatches. Parameters as given.
LayerCosts counting(double parameters = 0.0)
{
    LayerCosts c;
    c.kinds.resize(1);
    c.kinds.front().saved_bytes = 1.0;
    c.kinds.front().parameters.all = parameters;
    return c;
}

/// 1F1B's first stage holds p microbatches of L / p layers: all L (Korthikanti et al., arXiv 2205.05198,
/// section 4.2.3); interleaved L (1 + (p - 1) / (p v)); GPipe m microbatches where there is a pipeline.
TEST(Memory, HoldsTheActivationsOfTheFirstStage)
{
    const int layers = 64;
    for (const int p : {1, 2, 4, 8}) {
        const double one_stage = static_cast<double>(layers) / p;
        EXPECT_EQ(memory_of(counting(), layers, pipeline_plan(Schedule::one_f_one_b, p, 1, 1), 4 * p)
                      .activations.si,
                  layers);
        const double held = p == 1 ? 1.0 : 4.0 * p;  // microbatches: without a pipeline one at a time
        EXPECT_EQ(
            memory_of(counting(), layers, pipeline_plan(Schedule::gpipe, p, 1, 1), 4 * p).activations.si,
            held * one_stage);
        if (p > 1) {
            EXPECT_NEAR(memory_of(counting(), layers, pipeline_plan(Schedule::interleaved, p, 4, 1), 4 * p)
                            .activations.si,
                        layers * (1.0 + (p - 1.0) / (p * 4.0)), 1e-9);
        }
    }
    // Fewer microbatches than stages: no more than there are.
    EXPECT_EQ(memory_of(counting(), layers, pipeline_plan(Schedule::one_f_one_b, 8, 1, 1), 3).activations.si,
              3.0 * 8.0);
}

/// Stage s of 1F1B holds p - s microbatches: with the head's weight on the last stage it becomes the fullest.
TEST(Memory, OfStageSHoldsFewerMicrobatches)
{
    LayerCosts costs = counting();
    const ParallelPlan plan = pipeline_plan(Schedule::one_f_one_b, 4, 1, 1);
    EXPECT_EQ(memory_of(costs, 16, plan, 8).stage, 0);
    costs.head.saved_bytes = 100.0;
    const MemoryUse last = memory_of(costs, 16, plan, 8);
    EXPECT_EQ(last.stage, 3);
    EXPECT_EQ(last.activations.si, 1.0 * (4.0 + 100.0));
    costs.embedding.saved_bytes = 50.0;
    const MemoryUse first = memory_of(costs, 16, plan, 8);
    EXPECT_EQ(first.stage, 0);
    EXPECT_EQ(first.activations.si, 4.0 * (4.0 + 50.0));
}

/// Rajbhandari et al., arXiv 1910.02054: 16 bytes a parameter, of which the optimizer's 12 are shared by
/// replicas; and the gradients here in 32 bits, 18 in all.
TEST(Memory, CountsTheBytesOfAParameter)
{
    ParallelPlan plan = pipeline_plan(Schedule::one_f_one_b, 4, 1, 8);
    const MemoryUse shared = memory_of(counting(1e6), 16, plan, 8);
    EXPECT_DOUBLE_EQ(shared.parameters.si, 2.0 * 4e6);
    EXPECT_DOUBLE_EQ(shared.gradients.si, 4.0 * 4e6);
    EXPECT_DOUBLE_EQ(shared.optimizer_state.si, 12.0 * 4e6 / 8.0);
    EXPECT_DOUBLE_EQ(shared.reserved.si, 3e9);
    plan.sharding = Sharding::none;
    const MemoryUse whole = memory_of(counting(1e6), 16, plan, 8);
    EXPECT_DOUBLE_EQ(whole.optimizer_state.si, 12.0 * 4e6);
    EXPECT_DOUBLE_EQ(whole.total().si, 18.0 * 4e6 + whole.activations.si + 3e9);
}

/// "AdamW, all fp32": 16 bytes, 8 + 8/d sharded (Megatron-Core, docs/user-guide/features/dist_optimizer.md);
/// with 16-bit parameters 6 + 12/d.
TEST(Memory, FollowsThePrecision)
{
    const auto per_parameter = [](Precision precision, int dp) {
        Workload w = workload_of(gpt(2, 1024, 16));
        w.precision = precision;
        const MemoryUse use = memory_of(counting(1e6), 1, pipeline_plan(Schedule::one_f_one_b, 1, 1, dp), 8,
                                        network_of(w).optimizer);
        return (use.parameters + use.gradients + use.optimizer_state).si / 1e6;
    };
    for (const Precision precision : {Precision::fp32, Precision::tf32}) {
        EXPECT_DOUBLE_EQ(per_parameter(precision, 1), 16.0);
        EXPECT_DOUBLE_EQ(per_parameter(precision, 8), 8.0 + 8.0 / 8.0);
    }
    for (const Precision precision : {Precision::bf16, Precision::fp8, Precision::nvfp4}) {
        EXPECT_DOUBLE_EQ(per_parameter(precision, 8), 6.0 + 12.0 / 8.0);
    }
}

/// Rows of tables have the type of their block, and neither gradients nor moments.
TEST(Memory, HoldsTablesInTheirType)
{
    LayerCosts costs = counting();
    costs.kinds.front().parameters = {.all = 1e6, .rows = 1e6, .row_bytes = 2e6};
    const MemoryUse use = memory_of(costs, 3, pipeline_plan(Schedule::one_f_one_b, 1, 1, 1), 1);
    EXPECT_DOUBLE_EQ(use.parameters.si, 3.0 * 2e6);
    EXPECT_DOUBLE_EQ(use.gradients.si + use.optimizer_state.si, 0.0);
}

/// All parameters of the network on one GPU; a tied embedding is there once.
TEST(Memory, OfOneStageHoldsTheWholeNetwork)
{
    for (const bool tied : {false, true}) {
        Transformer w = gpt(8, 1024, 16);
        w.tied_embedding = tied;
        const LayerCosts costs = layer_costs(w, {{}, 1024}, products_only());
        const MemoryUse use = memory_of(costs, w.layers, pipeline_plan(Schedule::one_f_one_b, 1, 1, 1), 4);
        EXPECT_NEAR(use.parameters.si / (2.0 * parameters_of(w)), 1.0, 1e-12) << (tied ? "tied" : "untied");
    }
}

TEST(Memory, TakesTheLargestWorkspace)
{
    LayerCosts costs = counting();
    costs.kinds.front().workspace_bytes = 10.0;
    costs.head.workspace_bytes = 7.0;
    EXPECT_EQ(memory_of(costs, 8, pipeline_plan(Schedule::one_f_one_b, 2, 1, 1), 4).workspace.si, 10.0);
    costs.head.workspace_bytes = 1e6;
    const MemoryUse last = memory_of(costs, 8, pipeline_plan(Schedule::one_f_one_b, 2, 1, 1), 4);
    EXPECT_EQ(last.stage, 1);
    EXPECT_EQ(last.workspace.si, 1e6);
}

/// ZeRO-2 divides gradients too, ZeRO-3 also parameters but for the layer in work and the next
/// (Rajbhandari et al., figure 1).
TEST(Memory, ShardingLevelsDivideTheirStates)
{
    ParallelPlan plan = pipeline_plan(Schedule::one_f_one_b, 1, 1, 8);
    const auto use = [&plan](Sharding sharding) {
        plan.sharding = sharding;
        return memory_of(counting(1e6), 16, plan, 8);
    };
    EXPECT_DOUBLE_EQ(use(Sharding::zero2).parameters.si, 2.0 * 16e6);
    EXPECT_DOUBLE_EQ(use(Sharding::zero2).gradients.si, 4.0 * 16e6 / 8.0);
    EXPECT_DOUBLE_EQ(use(Sharding::zero3).parameters.si, 2.0 * (16e6 / 8.0 + 2e6));
    EXPECT_DOUBLE_EQ(use(Sharding::zero3).optimizer_state.si, 12.0 * 16e6 / 8.0);
    plan.shard_gpus = 2;
    EXPECT_DOUBLE_EQ(use(Sharding::zero1).optimizer_state.si, 12.0 * 16e6 / 2.0);
}

/// Experts that two of eight replicas share divide their optimizer state by two.
TEST(Memory, ExpertsAreDividedByTheirCopies)
{
    ParallelPlan plan = pipeline_plan(Schedule::one_f_one_b, 1, 1, 8);
    plan.sharding = Sharding::zero1;
    plan.ep = 4;
    LayerCosts costs = counting(1e6);
    costs.kinds.front().parameters.expert = 1e6;
    EXPECT_DOUBLE_EQ(memory_of(costs, 16, plan, 8).optimizer_state.si, 12.0 * 16e6 / 2.0);
}

/// All in 16 bits: weights, gradients and two moments.
constexpr OptimizerSettings pure{
    .states = NumberType::bf16, .master = MasterCopy::none, .gradients = NumberType::bf16};
constexpr MemoryRules pytorch{.loss_saved = 4.0,
                              .loss_peak = 12.0,
                              .loss_peak_divided = 16.0,
                              .loss_cached = 2.0,
                              .gradient_buffers = false,
                              .layer_gradients = true,
                              .only_masters = true,
                              .whole_gradients = WholeGradients::pipelines,
                              .update_copies = 1.0};

double allocated(const MemoryUse& use) { return (use.total() - use.reserved).si; }

/// AdamW in 16 bits: 10 bytes per parameter where PyTorch updates with foreach, 8 with fused kernels
/// (fms-acceleration: Mistral 7B of
/// 7.242e9 parameters peaks at 72.43 GB on one GPU and at 36.23 GB on two);
/// moments of 8 bits with scales 6.03.
TEST(Memory, IncludesTheUpdate)
{
    const auto bytes = [](const OptimizerSettings& optimizer, int dp) {
        ParallelPlan plan = pipeline_plan(Schedule::one_f_one_b, 1, 1, dp);
        plan.sharding = dp > 1 ? Sharding::zero3 : Sharding::none;
        return allocated(memory_of(counting(1e6), 100, plan, 1, optimizer, pytorch)) / 100e6;
    };
    EXPECT_DOUBLE_EQ(bytes(pure, 1), 10.0);
    EXPECT_DOUBLE_EQ(bytes(pure, 2), 5.0);
    OptimizerSettings fused = pure;
    fused.fused = true;
    EXPECT_NEAR(bytes(fused, 1), 8.0, 1e-6);
    OptimizerSettings few_bits = pure;
    few_bits.states = NumberType::int8;
    EXPECT_NEAR(bytes(few_bits, 1), 4.0 + 2.0 * (1.0 + 4.0 / 256.0), 1e-6);
    // Updated layer by layer, gradients of one of 100 layers are there (torchtune,
    // docs/source/tutorials/memory_optimizations.rst).
    OptimizerSettings in_backward = pure;
    in_backward.in_backward = true;
    EXPECT_NEAR(bytes(in_backward, 1), 6.0 + 2.0 / 100.0, 1e-6);
}

/// Without buffers there are no gradients while a single microbatch saves most; with several
/// there are those of earlier ones.
TEST(Memory, OfGradientsIsThatOfTheMoment)
{
    LayerCosts costs = counting(1e6);
    costs.kinds.front().saved_bytes = 100e6;
    const ParallelPlan plan = pipeline_plan(Schedule::one_f_one_b, 1, 1, 1);
    EXPECT_EQ(memory_of(costs, 4, plan, 1, pure, pytorch).gradients.si, 0.0);
    EXPECT_EQ(memory_of(costs, 4, plan, 2, pure, pytorch).gradients.si, 2.0 * 4e6);
    EXPECT_EQ(memory_of(costs, 4, plan, 1, pure).gradients.si, 2.0 * 4e6);
}

/// FSDP stores 32-bit shards (16 bytes per parameter with gradients and moments, no 16-bit ones), gathers two
/// layers, and the gradients of a layer are whole in 16 bits and in the 32 bits of the reduction.
TEST(Memory, OfFsdpHasTheLayerInWork)
{
    LayerCosts costs = counting(1e6);
    costs.kinds.front().saved_bytes = 100e6;
    ParallelPlan plan = pipeline_plan(Schedule::one_f_one_b, 1, 1, 8);
    plan.sharding = Sharding::zero3;
    const MemoryUse use = memory_of(costs, 16, plan, 8, {}, pytorch);
    EXPECT_DOUBLE_EQ(use.parameters.si, 2.0 * 2e6);
    EXPECT_DOUBLE_EQ(use.gradients.si, 4.0 * 16e6 / 8.0);
    EXPECT_DOUBLE_EQ(use.optimizer_state.si, 12.0 * 16e6 / 8.0);
    EXPECT_DOUBLE_EQ(use.workspace.si, (2.0 + 4.0) * 1e6);
    // An embedding and a head of 3e6 are gathered beside a layer, not together.
    costs.embedding.parameters = {.all = 3e6, .ends = 3e6};
    costs.head.parameters = {.all = 3e6, .ends = 3e6};
    EXPECT_DOUBLE_EQ(memory_of(costs, 16, plan, 8, {}, pytorch).parameters.si, 2.0 * (1e6 + 3e6));
}

/// PyTorch's pipelines reduce gradients after the last microbatch: until then they are whole, in 32 bits.
/// 405B on tp 8, pp 8: 6.24e9 x 4 = 25 GB.
TEST(Memory, OfPipelinesHasWholeGradients)
{
    LayerCosts costs = counting(1e6);
    costs.kinds.front().saved_bytes = 100e6;
    ParallelPlan plan = pipeline_plan(Schedule::one_f_one_b, 2, 1, 8);
    plan.sharding = Sharding::zero3;
    EXPECT_DOUBLE_EQ(memory_of(costs, 16, plan, 8, {}, pytorch).gradients.si, 4.0 * 8e6);
    EXPECT_DOUBLE_EQ(memory_of(costs, 16, plan, 1, {}, pytorch).gradients.si, 0.0);
    plan.pp = 1;
    EXPECT_DOUBLE_EQ(memory_of(costs, 16, plan, 8, {}, pytorch).gradients.si, 4.0 * 16e6 / 8.0);
    MemoryRules accelerate = pytorch;
    accelerate.whole_gradients = WholeGradients::accumulation;
    EXPECT_DOUBLE_EQ(memory_of(costs, 16, plan, 8, {}, accelerate).gradients.si, 4.0 * 16e6);
}

/// Weights of 12 GB, states of 24 and activations of 50 beside 3 that the accelerator
/// reserves: 9 of 89 GB move to the host.
TEST(Memory, PagesStatesThatDoNotFit)
{
    OptimizerSettings paged = pure;
    paged.paged = true;
    LayerCosts costs = counting(0.6e9);
    costs.kinds.front().saved_bytes = 5e9;
    const MemoryUse use =
        memory_of(costs, 10, pipeline_plan(Schedule::one_f_one_b, 1, 1, 1), 1, paged, pytorch);
    EXPECT_DOUBLE_EQ(use.total().si, 80e9);
    EXPECT_DOUBLE_EQ(use.host.si, 9e9);
    EXPECT_DOUBLE_EQ((use.optimizer_state + use.host).si, 24e9);
}

/// 12 bytes of master copy and moments per parameter on the host; with parameters there, 2 + 4 more, and two
/// layers on the accelerator. Llama 2 70B on 8 GPUs: 12 x 69e9 = 828 GB for the node.
TEST(Memory, OfTheHostHoldsWhatIsOffloaded)
{
    ParallelPlan plan = pipeline_plan(Schedule::one_f_one_b, 1, 1, 8);
    plan.sharding = Sharding::zero3;
    plan.offload = Offload::optimizer;
    const MemoryUse states = memory_of(counting(69e9 / 80.0), 80, plan, 1);
    EXPECT_NEAR(8.0 * states.host.si, 828e9, 1.0);
    EXPECT_EQ(states.optimizer_state.si, 0.0);
    plan.offload = Offload::parameters;
    const MemoryUse all = memory_of(counting(69e9 / 80.0), 80, plan, 1);
    EXPECT_NEAR(8.0 * all.host.si, 18.0 * 69e9, 1.0);
    EXPECT_NEAR(all.parameters.si, 2.0 * 2.0 * 69e9 / 80.0, 1.0);
    EXPECT_EQ(all.gradients.si + all.optimizer_state.si, 0.0);
    plan.offload = Offload::nvme;
    const MemoryUse drives = memory_of(counting(69e9 / 80.0), 80, plan, 1);
    EXPECT_EQ(drives.host.si + drives.optimizer_state.si, 0.0);
}

/// GaLore, arXiv 2403.03507, table 1: states of m x n with m <= n are m r + 2 n r
/// numbers; embeddings have AdamW's.
TEST(Memory, OfProjectedGradientsFollowsTheRank)
{
    LayerCosts costs = counting();
    costs.kinds.front().parameters = {.all = 4096.0 * 11008.0, .projected = 4096.0 + 2.0 * 11008.0};
    OptimizerSettings galore = pure;
    galore.kind = Optimizer::galore;
    galore.rank = 1024;
    const MemoryUse use = memory_of(costs, 3, pipeline_plan(Schedule::one_f_one_b, 1, 1, 1), 1, galore);
    EXPECT_DOUBLE_EQ(use.optimizer_state.si, 3.0 * 2.0 * 1024.0 * (4096.0 + 2.0 * 11008.0));
}

}  // namespace
}  // namespace prismopt
