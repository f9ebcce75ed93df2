#include "io/export/launch.hpp"
#include "model/plan/plan_axes.hpp"

#include "tests/support/workload_shapes.hpp"

#include "io/export/target_names.hpp"
#include "io/scenario/layout_text.hpp"
#include "io/trainers/megatron_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace prismopt {

namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Llama 3 405B as it was trained on 16,384 GPUs (arXiv 2407.21783, table 4):
/// 126 layers, 16 stages of 8 slots.
Launch llama()
{
    Launch launch;
    launch.study = "llama";
    launch.point = "7";
    launch.design = "tp=8 pp=16";
    launch.program = "prismopt 1.2.3";
    launch.plan = {
        .tp = 8, .pp = 16, .dp = 128, .chunks = 8, .order = PlacementOrder::tp_pp_dp};  // section 3.3.2
    launch.plan.schedule = Schedule::interleaved;
    launch.plan.split = LayerSplit::slots;
    launch.plan.recompute = Recompute::selective;
    launch.plan.recompute_modules = ModuleSet{Module::mlp};
    launch.job.workload = workload_of(prismopt::llama(126, 16384, 128, 53248));
    launch.phase = {.tokens = 15.6e12, .sequence = 8192, .global_batch = 2048};
    NetworkTier node;
    node.name = "node";
    node.group_gpus = 8;
    NetworkTier all;
    all.name = "cluster";
    all.group_gpus = 16384;
    launch.job.cluster.gpus = 16384;
    launch.job.cluster.tiers = {node, all};
    launch.step_s = 6.25;
    launch.checkpoint_interval_s = 1800.0;
    return launch;
}

/// With the layers of its chunks.
Launch laid_out(Launch launch)
{
    launch.chunks = std::get<std::vector<Chunk>>(
        layout(launch.job.workload.layers(), launch.plan, launch.job.workload.layouts));
    return launch;
}

std::vector<std::string> lines(const Exported& exported, std::size_t file = 0)
{
    std::vector<std::string> all;
    std::istringstream stream(std::get<std::vector<ExportFile>>(exported).at(file).text);
    for (std::string line; std::getline(stream, line);) {
        all.push_back(line);
    }
    return all;
}

std::string text(const Exported& exported)
{
    return std::get<std::vector<ExportFile>>(exported).front().text;
}

std::string refusal(const Exported& exported)
{
    std::string all;
    if (const auto* why = std::get_if<Refusals>(&exported)) {
        for (const std::string& reason : *why) {
            all += reason + "\n";
        }
    }
    return all;
}

TEST(Megatron, HasTheArgumentsOfThePublishedPlan)
{
    const auto arguments = lines(megatron_arguments(laid_out(llama())));
    for (const char* line : {"--tensor-model-parallel-size 8",
                             "--pipeline-model-parallel-size 16",
                             "--num-virtual-stages-per-pipeline-rank 8",
                             "--account-for-embedding-in-pipeline-split",
                             "--account-for-loss-in-pipeline-split",
                             "--sequence-parallel",
                             "--use-tp-pp-dp-mapping",
                             "--use-distributed-optimizer",
                             "--overlap-grad-reduce",
                             "--overlap-param-gather",
                             "--recompute-granularity selective",
                             "--micro-batch-size 1",
                             "--global-batch-size 2048",
                             "--seq-length 8192",
                             "--num-layers 126",
                             "--num-query-groups 8",
                             "--kv-channels 128",
                             "--swiglu",
                             "--normalization RMSNorm",
                             "--untie-embeddings-and-output-weights",
                             "--disable-bias-linear",
                             "--attention-dropout 0.0",
                             "--hidden-dropout 0.0",
                             "--save-interval 288"}) {
        EXPECT_THAT(arguments, Contains(line));
    }
    EXPECT_THAT(arguments, Contains("--train-iters 929832"));
    const std::string all = text(megatron_arguments(laid_out(llama())));
    EXPECT_THAT(all, Not(HasSubstr("context-parallel")));
    EXPECT_THAT(all, Not(HasSubstr("layout")));
    EXPECT_THAT(all, Not(HasSubstr("moe")));
    EXPECT_THAT(all, HasSubstr("000c4ac24f61"));
    EXPECT_THAT(all, HasSubstr("Study llama, point 7"));
}

TEST(Megatron, LaysOutLayersThatDoNotDivide)
{
    Launch launch = llama();
    launch.plan.split = LayerSplit::layers;
    launch.plan.chunks = 1;
    launch.plan.schedule = Schedule::one_f_one_b;
    launch.job.workload.sequence = {
        {0, 124}};  // 16 * 7 + 12: the two first and the two last stages hold one layer less
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))),
                HasSubstr("--pipeline-model-parallel-layout "
                          "\"Et*7|t*7|t*8|t*8|t*8|t*8|t*8|t*8|t*8|t*8|t*8|t*8|t*8|t*8|t*7|t*7L\"\n"));
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), Not(HasSubstr("virtual")));
    launch.job.workload.sequence = {{0, 126}};  // as if the embedding and the head were a layer each
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))),
                Contains("--account-for-loss-in-pipeline-split"));
}

TEST(Megatron, TakesALayoutAsItIsGiven)
{
    Launch launch = llama();
    launch.job.workload.sequence = {{0, 12}};
    launch.plan.pp = 4;
    launch.plan.chunks = 1;
    launch.plan.schedule = Schedule::one_f_one_b;
    launch.plan.split = LayerSplit::given;
    launch.job.workload.layouts = {std::get<std::vector<Chunk>>(parse_layout("Ett,(|t*4)*2|ttL"))};
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))),
                HasSubstr("--pipeline-model-parallel-layout \"Et*2|t*4|t*4|t*2L\"\n"));
}

TEST(Megatron, RefusesWhatItDoesNotHave)
{
    Launch launch = llama();
    launch.plan.chunks = 1;
    for (const Schedule schedule :
         {Schedule::gpipe, Schedule::zb_h1, Schedule::zb_h2, Schedule::zb_v, Schedule::v_half,
          Schedule::v_min, Schedule::dualpipe, Schedule::dualpipe_v}) {
        launch.plan.schedule = schedule;
        EXPECT_THAT(refusal(megatron_arguments(laid_out(launch))),
                    HasSubstr("no pipeline schedule " + std::string(name(schedule))));
        EXPECT_THAT(refusal(bridge_overrides(laid_out(launch))), HasSubstr("no pipeline schedule"));
    }
    launch.plan.post_validation = PostValidation::on;
    launch.plan.offload = Offload::activations;
    const std::string why = refusal(megatron_arguments(laid_out(launch)));
    EXPECT_EQ(std::count(why.begin(), why.end(), '\n'), 3);  // all reasons at once
    launch = llama();
    launch.plan.recompute = Recompute::full;
    launch.plan.recomputed_layers = 100;  // of 128 chunks
    EXPECT_THAT(refusal(megatron_arguments(laid_out(launch))), HasSubstr("100 layers do not divide"));
}

/// GPT-3 as it was trained has biases and dropout, which are Megatron's defaults.
TEST(Megatron, HasBiasesAndDropoutAsTheWorkload)
{
    Launch launch = llama();
    change_decoder(launch.job.workload, [](Transformer& t) { t.activation = Activation::gelu; });
    launch.job.workload.dropout = true;
    const auto arguments = lines(megatron_arguments(laid_out(launch)));
    EXPECT_THAT(arguments, Contains("--attention-dropout 0.1"));
    EXPECT_THAT(arguments, Contains("--hidden-dropout 0.1"));
    EXPECT_THAT(arguments, Not(Contains("--disable-bias-linear")));
}

/// By the assertion of its parallel_state: 2,048 / (1 * 16 * 8) = 16 replicas of
/// experts beside 128 of attention.
TEST(Megatron, PutsReplicasOutermostOnlyWhereExpertsHaveAsMany)
{
    Launch launch = llama();
    launch.plan = {.tp = 2, .pp = 8, .dp = 128, .order = PlacementOrder::tp_pp_dp, .ep = 16, .etp = 1};
    change_decoder(launch.job.workload,
                   [](Transformer& t) { t.experts = {.count = 256, .active = 8, .feed_forward = 2048}; });
    EXPECT_THAT(refusal(megatron_arguments(laid_out(launch))),
                HasSubstr("as many replicas as attention, 128, but with this context and expert parallelism "
                          "they have 16; search "
                          "order = [\"tp-dp-pp\"]"));
    EXPECT_THAT(refusal(bridge_overrides(laid_out(launch))), HasSubstr("they have 16"));
    launch.plan.order = PlacementOrder::tp_dp_pp;
    EXPECT_EQ(refusal(megatron_arguments(laid_out(launch))), "");
    launch.plan.order = PlacementOrder::tp_pp_dp;
    launch.plan.ep = 2;  // beside tensor parallelism of 2
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))), Contains("--use-tp-pp-dp-mapping"));
    EXPECT_EQ(refusal(bridge_overrides(laid_out(launch))), "");
    launch = llama();
    launch.plan.cp = 2;
    EXPECT_THAT(refusal(megatron_arguments(laid_out(launch))),
                HasSubstr("attention, 128, but with this context and expert parallelism they have 256"));
}

TEST(Launch, SaysThatItsPlanIsProvisional)
{
    Launch launch = llama();
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), Not(HasSubstr("PROVISIONAL")));
    EXPECT_FALSE(nlohmann::json::parse(text(launch_json(laid_out(launch))))["provisional"]);
    launch.provisional = true;
    for (const Exported& exported :
         {megatron_arguments(laid_out(launch)), bridge_overrides(laid_out(launch)), slurm_script(launch)}) {
        EXPECT_THAT(text(exported), HasSubstr("# PROVISIONAL: the search was stopped"));
    }
    EXPECT_TRUE(nlohmann::json::parse(text(launch_json(laid_out(launch))))["provisional"]);
}

/// Between the probability with which plans must fit and that below which they are infeasible, a
/// plan is exported with a warning.
TEST(Launch, SaysThatItsPlanMayNotFit)
{
    Launch launch = laid_out(llama());
    launch.job.memory_limit.probability = 0.9;
    launch.fit_probability = 0.9;
    EXPECT_THAT(text(megatron_arguments(launch)), Not(HasSubstr("MAY NOT FIT")));
    launch.fit_probability = 0.64;
    EXPECT_THAT(text(megatron_arguments(launch)),
                HasSubstr("# MAY NOT FIT: it fits into memory with a probability of 64 %\n"));
    EXPECT_EQ(nlohmann::json::parse(text(launch_json(launch)))["fit_probability"], 0.64);
}

TEST(Megatron, NamesExpertsAndLatentAttention)
{
    Launch launch = llama();
    launch.plan.order = PlacementOrder::tp_dp_pp;
    launch.plan.ep = 64;
    launch.plan.cp = 2;
    change_decoder(launch.job.workload, [](Transformer& t) {
        t.experts = {.count = 256, .active = 8, .feed_forward = 2048, .shared = 2048, .dense_layers = 3};
        t.latent = {1536, 512, 64, 128, 128};
    });
    const auto arguments = lines(megatron_arguments(laid_out(launch)));
    for (const char* line :
         {"--expert-model-parallel-size 64", "--expert-tensor-parallel-size 1", "--num-experts 256",
          "--moe-router-topk 8", "--moe-layer-freq \"([0]*3+[1]*123)\"", "--multi-latent-attention",
          "--q-lora-rank 1536", "--kv-lora-rank 512", "--qk-head-dim 128", "--qk-pos-emb-head-dim 64",
          "--v-head-dim 128", "--cp-comm-type p2p", "--moe-grouped-gemm", "--disable-bias-linear"}) {
        EXPECT_THAT(arguments, Contains(line));
    }
}

/// cp_comm_type: a2a of all members, or of neighbours and rings of such groups; Transformer Engine does
/// not replicate key/value heads.
TEST(Megatron, NamesTheExchangeOfHeads)
{
    Launch launch = llama();
    launch.plan.order = PlacementOrder::tp_dp_pp;
    launch.plan.tp = 2;
    launch.plan.cp = 4;
    launch.plan.ulysses = 0;
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))), Contains("--cp-comm-type a2a"));
    EXPECT_THAT(text(bridge_overrides(laid_out(launch))), HasSubstr("model.cp_comm_type=a2a"));
    EXPECT_THAT(refusal(torchtitan_config(laid_out(launch))), HasSubstr("search ulysses = [1]"));
    launch.plan.ulysses = 2;
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))),
                AllOf(Contains("--cp-comm-type a2a+p2p"),
                      Contains("--hierarchical-context-parallel-sizes 2 2")));
    EXPECT_THAT(text(bridge_overrides(laid_out(launch))),
                HasSubstr("model.hierarchical_context_parallel_sizes=[2,2]"));
    launch.plan.context_exchange = ContextExchange::all_gather;
    EXPECT_THAT(refusal(megatron_arguments(laid_out(launch))),
                HasSubstr("(a2a+p2p); search context_exchange = [\"ring\"]"));
    launch.plan.context_exchange = ContextExchange::ring;
    launch.plan.cp = 8;
    launch.plan.ulysses = 8;
    EXPECT_THAT(refusal(megatron_arguments(laid_out(launch))),
                HasSubstr("tp*ulysses = 16 does not divide 8; search ulysses of at most 4"));
}

/// What it cannot run is named, with its block and layer.
TEST(Megatron, NamesWhatOfTheNetworkItLacks)
{
    const auto why = [](const auto& change) {
        Launch launch = laid_out(llama());
        change(launch.job.workload);
        return refusal(megatron_arguments(launch));
    };
    const auto with_block = [&why](std::size_t place, const BlockDescription& block) {
        return why([&](Workload& w) { w.kinds.front().blocks[place] = block; });
    };
    EXPECT_EQ(why([](Workload&) {}), "");
    EXPECT_THAT(with_block(0, Mamba2Block{.heads = 128, .head = 64}),
                HasSubstr("block \"mamba2\" in layer \"dense\" cannot be exported"));
    EXPECT_THAT(with_block(0, AttentionBlock{.heads = 128, .window = 512}),
                HasSubstr("a window of block \"attention\""));
    EXPECT_THAT(with_block(0, AttentionBlock{.heads = 128, .context = 77}),
                HasSubstr("cross attention of block"));
    EXPECT_THAT(with_block(0, AttentionBlock{.heads = 128, .causal = false}),
                HasSubstr("without a causal mask"));
    EXPECT_THAT(with_block(1, MlpBlock{4096, Activation::geglu}),
                HasSubstr("activation geglu of block \"mlp\""));
    EXPECT_THAT(with_block(1, ExpertsBlock{.count = 8, .active = 2, .inner = 512, .latent = 64}),
                HasSubstr("latent experts"));
    EXPECT_THAT(why([](Workload& w) { w.kinds.front().blocks.pop_back(); }),
                HasSubstr("layer \"dense\", which is not attention followed"));
    EXPECT_THAT(why([](Workload& w) { w.kinds.front().frozen = true; }),
                HasSubstr("frozen layers such as \"dense\""));
    EXPECT_THAT(why([](Workload& w) { w.kinds.front().parallel = true; }),
                HasSubstr("parallel blocks of layer \"dense\""));
    EXPECT_THAT(why([](Workload& w) { w.norms = NormPlace::sandwich; }),
                HasSubstr("norms = \"sandwich\" cannot"));
    EXPECT_THAT(why([](Workload& w) { w.task = WorkloadTask::inference; }),
                HasSubstr("task = \"inference\" cannot"));
    EXPECT_THAT(why([](Workload& w) { w.optimizer.kind = Optimizer::muon; }), HasSubstr("only AdamW"));
    EXPECT_THAT(
        why([](Workload& w) {
            LayerDescription wider = w.kinds.front();
            wider.name = "wide";
            wider.blocks[1] = MlpBlock{4096, Activation::swiglu};
            w.kinds.push_back(wider);
        }),
        HasSubstr("block \"mlp\" in layer \"wide\" that differs from that of layer \"dense\" cannot"));
}

TEST(Megatron, ListsTheLayersWithExperts)
{
    Launch launch = llama();
    launch.plan.order = PlacementOrder::tp_dp_pp;
    change_decoder(launch.job.workload, [](Transformer& t) {
        t.experts = {.count = 8, .active = 2, .feed_forward = 2048, .every = 2};
    });
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))),
                Contains("--moe-layer-freq \"([0]*1+[1]*1)*63\""));
    launch.job.workload.sequence = {{0, 1}, {1, 5}, {0, 120}};
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))),
                Contains("--moe-layer-freq \"([0]*1+[1]*5+[0]*120)\""));
}

/// Modules are layers of the kind of the last, and in layouts stand before the loss.
TEST(Megatron, ExportsPredictionModules)
{
    Launch launch = llama();
    launch.job.workload.prediction = {{0, 1}};
    launch.job.workload.predictions = 1;
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))), Contains("--mtp-num-layers 1"));
    EXPECT_THAT(text(bridge_overrides(laid_out(launch))), HasSubstr("model.mtp_num_layers=1\n"));
    launch.plan = {.tp = 8, .pp = 4, .dp = 512, .order = PlacementOrder::tp_pp_dp};
    launch.plan.split = LayerSplit::given;
    launch.job.workload.layouts = {std::get<std::vector<Chunk>>(parse_layout("Et*30|t*33|t*32|t*31mL", 1))};
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))),
                Contains("--pipeline-model-parallel-layout \"Et*30|t*33|t*32|t*31mL\""));
    launch.job.workload.prediction = {{0, 2}};
    EXPECT_THAT(refusal(megatron_arguments(laid_out(launch))),
                HasSubstr("a prediction module that is not one layer"));
    launch.job.workload.predictions = 0;
    EXPECT_THAT(text(bridge_overrides(laid_out(launch))), HasSubstr("model.mtp_num_layers=null\n"));
}

TEST(Megatron, ShardsFurtherByItsFsdp)
{
    Launch launch = llama();
    launch.plan.sharding = Sharding::zero3;
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))),
                HasSubstr("--data-parallel-sharding-strategy optim_grads_params\n"));
    launch.plan.sharding = Sharding::zero1;
    launch.plan.shard_gpus = 32;
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))),
                HasSubstr("--num-distributed-optimizer-instances 4\n"));
}

/// Megatron asserts sequence parallelism with it, and switches that off with one GPU.
TEST(Megatron, OverlapsTensorParallelismOnlyWhereThereIsSome)
{
    Launch launch = llama();
    launch.plan.tp_overlap = TensorParallelOverlap::on;
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))), Contains("--tp-comm-overlap"));
    launch.plan.tp = 1;
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))), Not(Contains("--tp-comm-overlap")));
}

/// validate_args() refuses options that count in the other unit.
TEST(Megatron, NamesTheOptionsThatItsLengthExcludes)
{
    Launch launch = llama();
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))),
                HasSubstr("# Remove --train-samples, --lr-decay-samples and --lr-warmup-samples, and "
                          "--rampup-batch-size: "));
    EXPECT_THAT(text(bridge_overrides(laid_out(launch))), Not(HasSubstr("train_iters to null")));
    launch.phases = 2;
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))),
                HasSubstr("# Remove --train-iters, --lr-decay-iters and --lr-warmup-iters: "));
    EXPECT_THAT(text(bridge_overrides(laid_out(launch))), HasSubstr("train_iters to null"));
}

Launch with_experts()
{
    Launch launch = llama();
    launch.plan.order = PlacementOrder::tp_dp_pp;
    launch.plan.ep = 8;
    launch.plan.dispatch = Dispatch::all_to_all;
    change_decoder(launch.job.workload,
                   [](Transformer& t) { t.experts = {.count = 256, .active = 8, .feed_forward = 2048}; });
    return launch;
}

DeviceConnections connections_of(const Launch& launch) { return device_connections(trained(launch)); }

/// As validate_args() asserts, and as Megatron-Bridge's PerfEnvPlugin sets the rest.
TEST(Megatron, KnowsHowManyConnectionsAPlanNeeds)
{
    Launch launch = llama();
    EXPECT_EQ(connections_of(launch), DeviceConnections::one);
    launch.plan.sharding = Sharding::zero2;
    EXPECT_EQ(connections_of(launch), DeviceConnections::several);
    launch = with_experts();
    launch.plan.expert_overlap = ExpertOverlap::microbatches;
    EXPECT_EQ(connections_of(launch), DeviceConnections::many);
    launch.plan.expert_overlap = ExpertOverlap::off;
    EXPECT_EQ(connections_of(launch), DeviceConnections::one);
    launch.plan.tp = 1;
    EXPECT_EQ(connections_of(launch), DeviceConnections::any);
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), Not(HasSubstr("CUDA_DEVICE_MAX_CONNECTIONS")));
    launch.plan.cp = 2;
    EXPECT_EQ(connections_of(launch), DeviceConnections::one);
    launch.plan.cp = 1;
    launch.plan.dispatch = Dispatch::deepep;
    EXPECT_EQ(connections_of(launch), DeviceConnections::many);
    EXPECT_THAT(lines(megatron_arguments(laid_out(launch))),
                Contains("# In the environment: CUDA_DEVICE_MAX_CONNECTIONS=32."));
    launch = llama();
    launch.job.cluster.accelerator.name = "b200-sxm";
    launch.job.cluster.accelerator.peak_fp4 = FlopsPerSecond{9e15};
    EXPECT_EQ(connections_of(launch), DeviceConnections::many);
    launch.job.cluster.accelerator.name = "mi355x";
    EXPECT_EQ(connections_of(launch), DeviceConnections::one);
}

TEST(Megatron, WritesWhatItsAssertionsNeed)
{
    Launch launch = with_experts();
    const auto needed = [&launch] { return lines(megatron_arguments(laid_out(launch))); };
    EXPECT_THAT(needed(), Not(Contains("--moe-router-dtype fp32")));
    launch.plan.dispatch = Dispatch::deepep;
    EXPECT_THAT(needed(), Contains("--moe-router-dtype fp32"));
    EXPECT_THAT(needed(), Not(Contains("--ckpt-format fsdp_dtensor")));
    launch.plan.sharding = Sharding::zero3;
    EXPECT_THAT(needed(), Contains("--ckpt-format fsdp_dtensor"));
    launch.plan.sharding = Sharding::zero1;
    launch.plan.offload = Offload::optimizer;
    EXPECT_THAT(needed(), Contains("--use-precision-aware-optimizer"));
}

TEST(Megatron, NamesThePortOfDeepEpForOtherAccelerators)
{
    Launch launch = with_experts();
    launch.plan.dispatch = Dispatch::deepep;
    launch.job.cluster.accelerator.name = "h100-sxm";
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), Not(HasSubstr("ROCm")));
    launch.job.cluster.accelerator.name = "mi300x";
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), HasSubstr("https://github.com/ROCm/DeepEP"));
    EXPECT_THAT(text(bridge_overrides(laid_out(launch))), HasSubstr("https://github.com/ROCm/DeepEP"));
    launch.plan.dispatch = Dispatch::all_to_all;
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), Not(HasSubstr("ROCm")));
}

TEST(Bridge, HasOverrides)
{
    const auto overrides = lines(bridge_overrides(laid_out(llama())));
    for (const char* line :
         {"model.tensor_model_parallel_size=8", "model.virtual_pipeline_model_parallel_size=8",
          "model.account_for_loss_in_pipeline_split=true", "dist.use_tp_pp_dp_mapping=true",
          "train.global_batch_size=2048", "ddp.use_distributed_optimizer=true",
          "model.recompute_granularity=selective"}) {
        EXPECT_THAT(overrides, Contains(line));
    }
}

Launch for_torchtitan()
{
    Launch launch = llama();
    launch.plan.sharding = Sharding::none;
    launch.plan.order = PlacementOrder::tp_dp_pp;
    launch.plan.recompute = Recompute::full;
    return launch;
}

TEST(Torchtitan, HasTablesOfSettings)
{
    const auto config = lines(torchtitan_config(laid_out(for_torchtitan())));
    for (const char* line :
         {"[parallelism]", "data_parallel_replicate_degree = 128", "data_parallel_shard_degree = 1",
          "tensor_parallel_degree = 8", "pipeline_parallel_schedule = \"Interleaved1F1B\"",
          "pipeline_parallel_layers_per_stage = 1", "pipeline_parallel_first_stage_less_layers = 1",
          "[training]", "local_batch_size = 16", "global_batch_size = 2048", "seq_len = 8192",
          "steps = 929832", "[activation_checkpoint]", "mode = \"full\""}) {
        EXPECT_THAT(config, Contains(line));
    }
}

/// 1,800 s of steps of 6.25 s.
TEST(Torchtitan, WritesCheckpointsAsOftenAsThePlanWasJudgedWith)
{
    EXPECT_THAT(text(torchtitan_config(laid_out(for_torchtitan()))),
                HasSubstr("\n[checkpoint]\nenable_checkpoint = true\ninterval = 288\n"));
    Launch launch = for_torchtitan();
    launch.step_s = 0.0;  // not known
    EXPECT_THAT(text(torchtitan_config(laid_out(launch))), Not(HasSubstr("checkpoint]\nenable")));
}

/// PyTorch's stage.py reduces gradients, and frees gathered parameters, after the last microbatch only.
TEST(Torchtitan, ShardsOnlyWithoutPipelines)
{
    Launch launch = for_torchtitan();
    launch.plan.dp = 2048;
    launch.plan.pp = 1;
    launch.plan.chunks = 1;
    launch.plan.schedule = Schedule::one_f_one_b;
    launch.plan.sharding = Sharding::zero3;
    const auto config = lines(torchtitan_config(laid_out(launch)));
    EXPECT_THAT(config, Contains("data_parallel_shard_degree = 2048"));
    EXPECT_THAT(config, Contains("fsdp_reshard_after_forward = \"always\""));
    launch.plan.sharding = Sharding::zero2;
    EXPECT_THAT(lines(torchtitan_config(laid_out(launch))),
                Contains("fsdp_reshard_after_forward = \"never\""));
    for (const Sharding sharding : {Sharding::zero2, Sharding::zero3}) {
        Launch piped = for_torchtitan();
        piped.plan.sharding = sharding;
        EXPECT_THAT(refusal(torchtitan_config(laid_out(piped))),
                    HasSubstr("unsharded gradients and gathered parameters from the first microbatch to the "
                              "last, which is more "
                              "memory than predicted for sharding " +
                              std::string(name(sharding)) + "; search sharding = [\"none\"], or pp = [1]"));
        piped.plan.dp = 1;  // nothing to shard over
        EXPECT_EQ(refusal(torchtitan_config(laid_out(piped))), "");
    }
}

TEST(Torchtitan, TakesOtherSchedulesAsTables)
{
    Launch launch = for_torchtitan();
    launch.plan.chunks = 1;
    launch.plan.schedule = Schedule::zb_h1;
    launch.orders = {{{Pass::forward, 0, 0}, {Pass::input_gradient, 0, 0}, {Pass::weight_gradient, 0, 0}}};
    const Exported exported = torchtitan_config(laid_out(launch));
    EXPECT_THAT(lines(exported), Contains("pipeline_parallel_schedule = \"PipelineScheduleMulti\""));
    EXPECT_THAT(lines(exported), Contains("pipeline_parallel_schedule_csv = \"plan.schedule.csv\""));
    const auto& files = std::get<std::vector<ExportFile>>(exported);
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[1].name, "plan.schedule.csv");
    EXPECT_EQ(files[1].text, "0F0,0I0,0W0\n");
    launch.stem = "a \"b\"";
    EXPECT_THAT(lines(torchtitan_config(laid_out(launch))),
                Contains(R"(pipeline_parallel_schedule_csv = "a \"b\".schedule.csv")"));
    launch.plan.schedule = Schedule::zb_v;
    EXPECT_THAT(lines(torchtitan_config(laid_out(launch))),
                Contains("pipeline_parallel_schedule = \"ZBVZeroBubble\""));
}

TEST(Torchtitan, RefusesWhatItDoesNotHave)
{
    const std::string why = refusal(torchtitan_config(laid_out(llama())));
    EXPECT_THAT(why, HasSubstr("(FSDP) or nothing; search sharding = [\"none\"]\n"));  // in a pipeline
    EXPECT_THAT(why, HasSubstr("stages outermost"));
    Launch launch = for_torchtitan();
    launch.plan.schedule = Schedule::v_half;
    EXPECT_THAT(refusal(torchtitan_config(laid_out(launch))), HasSubstr("needs a V"));
    launch.plan.schedule = Schedule::dualpipe;
    EXPECT_THAT(refusal(torchtitan_config(laid_out(launch))), HasSubstr("dualpipe_v"));
}

/// By the names of modules where the number of layers says too little: those of its version.
TEST(Torchtitan, NamesTheModulesOfUnevenStages)
{
    Launch launch = for_torchtitan();
    launch.job.workload.sequence = {{0, 6}};
    launch.plan.pp = 2;
    launch.plan.chunks = 2;
    launch.plan.split = LayerSplit::given;
    launch.job.workload.layouts = {std::get<std::vector<Chunk>>(parse_layout("E|t*3|t|ttL"))};
    EXPECT_THAT(
        lines(torchtitan_config(laid_out(launch))),
        Contains(
            R"(module_fqns_per_model_part = [["tok_embeddings"], ["layers.0", "layers.1", "layers.2"], ["layers.3"], )"
            R"(["layers.4", "layers.5", "norm", "output"]])"));
    EXPECT_THAT(text(torchtitan_config(laid_out(launch))), Not(HasSubstr("layers_per_stage")));
    EXPECT_THAT(text(torchtitan_recipe(laid_out(launch))),
                HasSubstr("config.parallelism.pipeline_parallel_module_fqns_per_model_part = "
                          "[[\"tok_embeddings\"], [\"layers.0\""));
    EXPECT_THAT(text(torchtitan_recipe(laid_out(launch))), HasSubstr("\"norm\", \"lm_head\"]]\n"));
}

/// Ranks of a replica are on nodes of their own, and stages follow each other.
TEST(Slurm, PutsRanksWhereThePlanHasThem)
{
    const Exported exported = slurm_script(llama());
    EXPECT_THAT(text(exported), HasSubstr("#SBATCH --nodes=2048\n"));
    EXPECT_THAT(text(exported), HasSubstr("--distribution=block:block"));
    Launch blank = llama();
    blank.study = "my study; rm";
    EXPECT_THAT(text(slurm_script(blank)), HasSubstr("#SBATCH --job-name=my-study--rm\n"));
    const auto table = lines(exported, 1);
    ASSERT_EQ(table.size(), 16385U);
    EXPECT_EQ(table[0], "rank,node,local_rank,stage,replica");
    EXPECT_EQ(table[1 + 9], "9,1,1,1,0");
    EXPECT_EQ(table[1 + 128], "128,16,0,0,1");
    Launch inner = llama();
    inner.plan.order = PlacementOrder::tp_dp_pp;
    EXPECT_EQ(lines(slurm_script(inner), 1)[1 + 9], "9,1,1,0,1");
}

TEST(Slurm, NamesItsTableAfterTheScript)
{
    Launch launch = llama();
    launch.stem = "small";
    EXPECT_EQ(std::get<std::vector<ExportFile>>(slurm_script(launch)).at(1).name, "small.ranks.csv");
}

TEST(Slurm, RefusesNodesByNumber)
{
    Launch launch = llama();
    launch.plan.node_order = NodeOrder::packed;
    EXPECT_THAT(refusal(slurm_script(launch)), HasSubstr("node_order packed"));
    const std::string advice = "search node_order = [\"" + std::string(name(NodeOrder::as_listed)) + "\"]";
    EXPECT_THAT(refusal(slurm_script(launch)), HasSubstr(advice));
    launch.plan.schedule = Schedule::one_f_one_b;
    EXPECT_THAT(refusal(megatron_arguments(laid_out(launch))), HasSubstr(advice));
}

/// 127 replicas have 2,032 of 2,048 nodes; the two slowest stand by, and the last 14 are not needed.
TEST(Slurm, NamesTheNodesThatThePlanHas)
{
    Launch launch = llama();
    EXPECT_THAT(text(slurm_script(launch)), Not(HasSubstr("--exclude")));  // of a fleet
    launch.plan.dp = 127;
    launch.plan.spares = 2;
    launch.job.cluster.node_factors.assign(2048, 1.0);
    launch.job.cluster.node_factors[5] = 1.3;
    launch.job.cluster.node_factors[9] = 1.1;
    launch.job.cluster.node_factors[100] = 1.05;
    const std::string in_job =
        "#   In the job, in this order: nodes 0-4,6-8,10-2033 (the slowest, 100, takes 1.05 times as "
        "long).\n";
    const std::string kept_out =
        "#   Not in the job: nodes 5,9,2034-2047 (the slowest, 5, takes 1.3 times as long).\n";
    const std::string script = text(slurm_script(launch));
    EXPECT_THAT(script, HasSubstr(in_job + kept_out + "#   Select them with sbatch --nodelist=HOSTS"));
    EXPECT_THAT(script, HasSubstr("#SBATCH --nodes=2032\n"));
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), HasSubstr(in_job + kept_out));
}

TEST(Json, HoldsThePlan)
{
    Launch launch = llama();
    launch.orders = {{{Pass::forward, 0, 0}, {Pass::backward, 0, 0}}};
    const auto json = nlohmann::json::parse(text(launch_json(laid_out(launch))));
    EXPECT_EQ(json["plan"]["dp"], 128);
    for_each_axis([&json](const auto& axis) {
        EXPECT_TRUE(json["plan"].contains(std::string(axis.name))) << axis.name;
    });
    EXPECT_TRUE(json["plan"]["checkpoint_interval"].is_null());
    EXPECT_EQ(json["plan"]["schedule"], "interleaved");
    EXPECT_EQ(json["phase"]["global_batch"], 2048);
    EXPECT_EQ(json["phase"]["of"], 1);
    EXPECT_EQ(json["order_of_tasks"], nlohmann::json::parse(R"(["0F0,0B0"])"));
    EXPECT_EQ(json["quantiles_of"], "fleet");
    EXPECT_TRUE(json["nodes"].is_null());
    launch.plan.dp = 1;  // 16 nodes
    launch.job.cluster.gpus = 8 * 18;
    launch.plan.spares = 1;
    launch.job.cluster.node_factors.assign(18, 1.0);
    launch.job.cluster.node_factors[3] = 1.2;
    const auto known = nlohmann::json::parse(text(launch_json(laid_out(launch))));
    EXPECT_EQ(known["quantiles_of"], "this cluster");
    EXPECT_EQ(known["nodes"]["left_out"], (nlohmann::json{3, 17}));
    EXPECT_EQ(known["nodes"]["in_job"].size(), 16U);
}

TEST(Stamp, NamesThePhaseWhereThereAreSeveral)
{
    Launch launch = llama();
    EXPECT_EQ(stamp(launch, "a", "b").find("# Phase"), std::string::npos);
    launch.phases = 2;
    EXPECT_NE(stamp(launch, "a", "b")
                  .find("# Phase 1 of 2; phases are launched one after the other, and --phase K"),
              std::string::npos);
}

TEST(Stamp, NamesThePriceThatChoseThePlan)
{
    Launch launch = llama();
    EXPECT_THAT(text(slurm_script(launch)), Not(HasSubstr("costs")));
    launch.price = "2 USD per GPU-hour (given)";
    EXPECT_THAT(text(slurm_script(launch)), HasSubstr("\n# Costs are at 2 USD per GPU-hour (given)\n"));
    EXPECT_EQ(nlohmann::json::parse(text(launch_json(laid_out(launch))))["gpu_price"], launch.price);
}

/// The job is 2,048 nodes; 64 more of 8 GPUs wait.
TEST(Stamp, NamesTheSparesThatThePlanWasJudgedWith)
{
    Launch launch = llama();
    EXPECT_THAT(text(slurm_script(launch)), Not(HasSubstr("spare")));
    auto json = nlohmann::json::parse(text(launch_json(laid_out(launch))));
    EXPECT_TRUE(json["plan"]["spares"].is_null());
    EXPECT_EQ(json["spare_gpus"], 0);
    launch.plan.spares = 64;
    const std::string line =
        "# Predicted times and costs include 64 spare nodes (512 GPUs) that replace failed ones";
    const std::string script = text(slurm_script(launch));
    EXPECT_THAT(script, HasSubstr(line));
    EXPECT_THAT(script, HasSubstr("#SBATCH --nodes=2048\n"));
    EXPECT_THAT(script, HasSubstr("scontrol create reservation"));
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), HasSubstr(line));
    json = nlohmann::json::parse(text(launch_json(laid_out(launch))));
    EXPECT_EQ(json["plan"]["spares"], 64);
    EXPECT_EQ(json["spare_gpus"], 512);
    launch.plan.spares = 0;
    EXPECT_EQ(nlohmann::json::parse(text(launch_json(laid_out(launch))))["plan"]["spares"], 0);
    EXPECT_THAT(text(slurm_script(launch)), Not(HasSubstr("spare")));
}

/// Domains of 16 GPUs and a network of 65.5 GB/s, as reports write them.
TEST(Stamp, NamesTheHardwareWhereThereIsAChoice)
{
    Launch launch = llama();
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), Not(HasSubstr("variant")));
    EXPECT_TRUE(nlohmann::json::parse(text(launch_json(laid_out(launch))))["variant"].is_null());
    launch.choices = {
        {.name = "domain.group", .hardware = HardwareParameter{.target = HardwareTarget::group}},
        {.name = "cluster.bandwidth", .hardware = HardwareParameter{.target = HardwareTarget::bandwidth}}};
    launch.chosen = {HardwareLevel{16.0}, HardwareLevel{65.5e9}};
    const std::string line =
        "# Predicted for this variant of hardware and network: domain.group=16 cluster.bandwidth=65.5GB/s\n";
    const std::string script = text(slurm_script(launch));
    EXPECT_THAT(script, HasSubstr(line));
    EXPECT_THAT(script, HasSubstr("Slurm does not check this"));
    EXPECT_THAT(text(megatron_arguments(laid_out(launch))), HasSubstr(line));
    EXPECT_THAT(text(bridge_overrides(laid_out(launch))), HasSubstr(line));
    const auto json = nlohmann::json::parse(text(launch_json(laid_out(launch))))["variant"];
    ASSERT_EQ(json.size(), 2U);
    EXPECT_EQ(json[1], nlohmann::json::parse(R"({"name": "cluster.bandwidth", "value": 65.5e9, "units": "B/s",
                                                 "text": "cluster.bandwidth=65.5GB/s"})"));
    EXPECT_EQ(json[0]["units"], "1");
    launch.plan.sharding = Sharding::none;
    launch.plan.order = PlacementOrder::tp_dp_pp;
    launch.plan.recompute = Recompute::full;
    EXPECT_THAT(text(torchtitan_config(laid_out(launch))), HasSubstr(line));
}

TEST(Settings, RefuseNamesThatTheTargetDoesNotHave)
{
    Settings settings(megatron_names());
    EXPECT_THROW(settings.set("tensor-parallel", 8), std::logic_error);
}

/// Whatever a text of the study contains, it adds no line: one would be a command, a setting, or a statement.
TEST(Launch, KeepsTextsOfTheScenarioOnTheirLines)
{
    for (const ExportTarget& target : export_targets()) {
        const std::string name = target.name;
        Launch launch = laid_out(name.starts_with("torchtitan") ? for_torchtitan() : llama());
        const Exported plain = target.make(launch);
        ASSERT_EQ(refusal(plain), "") << name;
        for (std::string* text : {&launch.study, &launch.point, &launch.design, &launch.job.workload.name,
                                  &launch.job.cluster.name, &launch.job.cluster.tiers.front().name,
                                  &launch.job.cluster.tiers.back().name}) {
            *text += "x\ntouch PWNED\r\xc2\x85\x1b[31m#";
        }
        launch.price = "2 USD/h\ntouch PWNED";
        launch.host_gpus = 4;                                                   // the tier is named
        const std::size_t more = name == "json" ? 0 : name == "slurm" ? 3 : 1;  // the price, and the domains
        const Exported hostile = target.make(launch);
        EXPECT_EQ(lines(hostile).size(), lines(plain).size() + more) << name;
        EXPECT_EQ(text(hostile).find_first_of("\r\x1b"), std::string::npos) << name;
        EXPECT_EQ(text(hostile).find("\xc2\x85"),
                  name == "json" ? text(hostile).find("\xc2\x85") : std::string::npos)
            << name;
    }
}

}  // namespace

}  // namespace prismopt
