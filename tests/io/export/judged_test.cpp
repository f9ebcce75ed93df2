#include "io/export/launch.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/layout_text.hpp"
#include "io/scenario/sections/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

namespace prismopt {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// With the layers of its chunks.
Launch with_layers(Launch launch)
{
    launch.chunks = std::get<std::vector<Chunk>>(
        layout(launch.job.workload.layers(), launch.plan, launch.job.workload.layouts));
    return launch;
}

Launch dense()
{
    Launch launch;
    launch.study = "dense";
    launch.plan = {.tp = 2, .pp = 4, .dp = 8, .order = PlacementOrder::tp_dp_pp};
    launch.job.workload = catalog_workload("llama3-8b");
    launch.phase = {.tokens = 1e9, .sequence = 4096, .global_batch = 256};
    launch.job.cluster.accelerator.name = "h100-sxm";
    launch.job.cluster.gpus = 64;
    launch.job.cluster.tiers.resize(2);
    launch.job.cluster.tiers[0].name = "node";
    launch.job.cluster.tiers[0].group_gpus = 8;
    launch.job.cluster.tiers[1].name = "cluster";
    launch.job.cluster.tiers[1].group_gpus = 64;
    return launch;
}

Launch experts()
{
    Launch launch = dense();
    launch.plan.ep = 8;
    launch.job.workload = catalog_workload("deepseek-v3");
    return launch;
}

std::vector<std::string> judged_lines(const Exported& exported)
{
    std::vector<std::string> all;
    const auto* files = std::get_if<std::vector<ExportFile>>(&exported);
    std::istringstream stream(files != nullptr ? files->front().text : "");
    for (std::string line; std::getline(stream, line);) {
        all.push_back(line);
    }
    return all;
}

/// DeepEP where the software stack sends tokens once, if any GPUs share experts.
TEST(Judged, DispatchersAreThoseOfTheStack)
{
    Launch launch = experts();
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))),
                Contains("--moe-token-dispatcher-type alltoall"));
    launch.job.cluster.stack.sends_once = true;
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))),
                Contains("--moe-token-dispatcher-type flex"));
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))), Contains("--moe-enable-deepep"));
    EXPECT_THAT(judged_lines(bridge_overrides(with_layers(launch))),
                Contains("model.moe_token_dispatcher_type=flex"));
    EXPECT_THAT(judged_lines(bridge_overrides(with_layers(launch))),
                Contains("model.moe_enable_deepep=true"));
    launch.plan.ep = 1;
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))), Not(Contains("--moe-enable-deepep")));
    launch.plan.ep = 8;
    // Only the other dispatcher drops tokens.
    launch.job.workload.change<ExpertsBlock>([](ExpertsBlock& experts) { experts.capacity = 1.5; });
    EXPECT_TRUE(std::holds_alternative<Refusals>(megatron_arguments(with_layers(launch))));
}

std::string first_refusal(const Exported& refused)
{
    const auto* why = std::get_if<Refusals>(&refused);
    return why != nullptr ? why->front() : "";
}

Launch selective(Launch launch, const ModuleSet& modules)
{
    launch.plan.recompute = Recompute::selective;
    launch.plan.recompute_modules = modules;
    return with_layers(launch);
}

TEST(Judged, SelectiveRecomputeNamesItsModules)
{
    EXPECT_THAT(judged_lines(megatron_arguments(selective(dense(), {Module::mlp}))),
                Contains("--recompute-modules mlp"));
    EXPECT_THAT(judged_lines(bridge_overrides(selective(dense(), {Module::mlp}))),
                Contains("model.recompute_modules='[mlp]'"));
    Launch plain = dense();
    plain.job.workload.change<AttentionBlock>(
        [](AttentionBlock& attention) { attention.kernel = AttentionKernel::plain; });
    EXPECT_THAT(judged_lines(megatron_arguments(selective(plain, {}))),
                Contains("--recompute-modules core_attn"));
    EXPECT_THAT(judged_lines(megatron_arguments(selective(experts(), {Module::layernorm, Module::moe_act}))),
                Contains("--recompute-modules layernorm moe_act"));
    Launch replicated = dense();
    replicated.plan.sharding = Sharding::none;
    const auto config = judged_lines(torchtitan_config(selective(replicated, {Module::alternate_products})));
    EXPECT_THAT(config, Contains("mode = \"selective\""));
    EXPECT_THAT(config, Contains("selective_ac_option = \"op\""));
}

/// A module that the trainer lacks is not replaced by another one, which needs other memory than predicted.
TEST(Judged, SelectiveRecomputeIsNotSubstituted)
{
    for (const ModuleSet& modules :
         {ModuleSet{}, ModuleSet{Module::elementwise}, ModuleSet{Module::layernorm},
          ModuleSet{Module::mlp, Module::elementwise}, ModuleSet{Module::mlp, Module::gdn_norm_out},
          ModuleSet{Module::alternate_products}}) {
        EXPECT_THAT(first_refusal(megatron_arguments(selective(dense(), modules))),
                    HasSubstr("search recompute_modules = [[\"mlp\"]]"))
            << text_of(modules);
        EXPECT_NE(first_refusal(bridge_overrides(selective(dense(), modules))), "") << text_of(modules);
    }
    for (const ModuleSet& modules : {ModuleSet{}, ModuleSet{Module::mlp}}) {
        Launch launch = dense();
        launch.plan.sharding = Sharding::none;
        EXPECT_THAT(first_refusal(torchtitan_config(selective(launch, modules))),
                    HasSubstr("search recompute_modules = [[\"alternate_products\"]]"));
    }
}

/// What a trainer offers for recompute_modules is what its export takes.
TEST(Judged, OfferedModulesAreExported)
{
    for (const Launch& base : {dense(), experts()}) {
        for (const ModuleSet& modules : recomputed_sets("megatron", base.job.workload)) {
            EXPECT_EQ(first_refusal(megatron_arguments(selective(base, modules))), "") << text_of(modules);
        }
    }
    EXPECT_EQ(recomputed_sets("torchtitan", dense().job.workload),
              std::vector<ModuleSet>{ModuleSet{Module::alternate_products}});
    EXPECT_TRUE(recomputed_sets("", dense().job.workload).empty());
}

TEST(Judged, CompiledModulesAreThoseOfTheSoftware)
{
    Launch launch = dense();
    launch.plan.sharding = Sharding::none;
    launch.job.cluster.software = {.name = "torchtitan", .release = "eager"};
    EXPECT_THAT(judged_lines(torchtitan_config(with_layers(launch))), Not(Contains("compile = true")));
    launch.job.cluster.software.release = "compile";
    EXPECT_THAT(judged_lines(torchtitan_config(with_layers(launch))), Contains("compile = true"));
}

/// Megatron asserts --use-precision-aware-optimizer, and with it the distributed optimizer.
TEST(Judged, OffloadOfTheOptimizerHasWhatMegatronAsserts)
{
    Launch launch = dense();
    launch.plan.offload = Offload::optimizer;
    launch.plan.sharding = Sharding::zero1;
    const auto arguments = judged_lines(megatron_arguments(with_layers(launch)));
    EXPECT_THAT(arguments, Contains("--optimizer-cpu-offload"));
    EXPECT_THAT(arguments, Contains("--use-precision-aware-optimizer"));
    EXPECT_THAT(arguments, Contains("--use-distributed-optimizer"));
    launch.plan.sharding = Sharding::none;
    EXPECT_THAT(first_refusal(megatron_arguments(with_layers(launch))), HasSubstr("distributed optimizer"));
}

TEST(Judged, FlagsOfARunningJobAreToBeKept)
{
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(dense()))),
                Contains(HasSubstr("keep the flags that are not below, as --rotary-base")));
}

TEST(Judged, LossIsThatOfTheWorkload)
{
    Launch launch = with_layers(dense());
    launch.job.workload.loss = LossKernel::fused;
    EXPECT_THAT(judged_lines(megatron_arguments(launch)), Contains("--cross-entropy-loss-fusion"));
    EXPECT_THAT(judged_lines(megatron_arguments(launch)), Contains("--cross-entropy-fusion-impl te"));
    EXPECT_THAT(judged_lines(bridge_overrides(launch)), Contains("model.cross_entropy_loss_fusion=true"));
    launch.job.workload.loss = LossKernel::unfused;
    EXPECT_THAT(judged_lines(megatron_arguments(launch)), Not(Contains("--cross-entropy-loss-fusion")));
    EXPECT_THAT(judged_lines(bridge_overrides(launch)), Contains("model.cross_entropy_loss_fusion=false"));
    launch.job.workload.loss = LossKernel::chunked;
    EXPECT_THAT(first_refusal(megatron_arguments(launch)), HasSubstr("loss = \"chunked\""));
}

TEST(Judged, PositionsAreThoseOfTheNetwork)
{
    Launch launch = dense();
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))),
                Contains("--position-embedding-type rope"));
    launch.job.workload = catalog_workload("gpt3-175b");
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))),
                Contains("--position-embedding-type learned_absolute"));
    launch = experts();
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))),
                Contains("--position-embedding-type rope"));
}

/// One phase is counted in iterations. Of several, Megatron divides samples by the batch of the phase for the
/// iterations of all phases: 1,000 and 500 of them.
TEST(Judged, LaterPhasesCountFromTheFirst)
{
    Launch launch = dense();
    const Phase first{.tokens = 1000.0 * 4096 * 256, .sequence = 4096, .global_batch = 256};
    launch.phase = first;
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))), Contains("--train-iters 1000"));
    launch.phase = {.tokens = 1e10,
                    .sequence = 1024,
                    .global_batch = 64};  // 152,587.9 steps, which Megatron would round down
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))), Contains("--train-iters 152588"));
    EXPECT_THAT(judged_lines(bridge_overrides(with_layers(launch))), Contains("train.train_iters=152588"));
    launch.phase = first;
    launch.before = {first};
    launch.phase_number = 2;
    launch.phases = 2;
    launch.longest_sequence = 8192;
    launch.phase = {.tokens = 500.0 * 8192 * 512, .sequence = 8192, .global_batch = 512};
    const auto arguments = judged_lines(megatron_arguments(with_layers(launch)));
    EXPECT_THAT(arguments, Contains("--train-samples 768000"));  // 1,500 * 512
    EXPECT_THAT(arguments, Contains("--load FILL_IN"));
    EXPECT_THAT(arguments, Contains("--max-position-embeddings 8192"));
    EXPECT_THAT(judged_lines(bridge_overrides(with_layers(launch))), Contains("train.train_samples=768000"));
    launch.phase = {.tokens = 500.0 * 8192 * 128,
                    .sequence = 8192,
                    .global_batch = 128};  // 192,000 are less than 256,000
    EXPECT_TRUE(std::holds_alternative<Refusals>(megatron_arguments(with_layers(launch))));
    EXPECT_TRUE(std::holds_alternative<Refusals>(bridge_overrides(with_layers(launch))));
    launch.plan.sharding = Sharding::none;
    EXPECT_THAT(judged_lines(torchtitan_config(with_layers(launch))), Contains("steps = 1500"));
}

/// A float that is none ends argparse; a model that is none ends torchtitan.
TEST(Judged, WhatIsMissingCannotRun)
{
    Launch launch = dense();
    const auto arguments = judged_lines(megatron_arguments(with_layers(launch)));
    for (const char* name : {"lr", "data-path", "tokenizer-type", "tokenizer-model", "save"}) {
        EXPECT_THAT(arguments, Contains(std::string("--") + name + " FILL_IN"));
        EXPECT_THAT(arguments, Contains(AllOf(HasSubstr("# "), HasSubstr("FILL_IN"),
                                              HasSubstr(std::string("--") + name))));
    }
    EXPECT_THAT(arguments, Not(Contains("--load FILL_IN")));
    launch.plan.sharding = Sharding::none;
    const auto config = judged_lines(torchtitan_config(with_layers(launch)));
    for (const char* name : {"name", "flavor", "tokenizer_path", "dataset", "lr"}) {
        EXPECT_THAT(config, Contains(std::string(name) + " = \"FILL_IN\""));
    }
    EXPECT_THAT(judged_lines(torchtitan_recipe(with_layers(launch))),
                Contains("from FILL_IN_MODULE import FILL_IN_FUNCTION as base"));
}

/// Passes whose gradients are added up are microbatches too, where there is no pipeline.
TEST(Judged, TorchtitanAddsUpMicrobatches)
{
    Launch launch = dense();
    launch.plan = {.tp = 2,
                   .pp = 1,
                   .dp = 32,
                   .microbatch = 2,
                   .sharding = Sharding::zero3,
                   .order = PlacementOrder::tp_dp_pp};
    EXPECT_THAT(judged_lines(torchtitan_config(with_layers(launch))), Contains("local_batch_size = 2"));
    launch.plan = {.tp = 2,
                   .pp = 4,
                   .dp = 8,
                   .microbatch = 2,
                   .sharding = Sharding::none,
                   .order = PlacementOrder::tp_dp_pp};
    EXPECT_THAT(judged_lines(torchtitan_config(with_layers(launch))), Contains("local_batch_size = 32"));
    EXPECT_THAT(judged_lines(torchtitan_recipe(with_layers(launch))),
                Contains("    config.parallelism.num_pp_microbatches = 16"));
    EXPECT_THAT(judged_lines(torchtitan_recipe(with_layers(launch))),
                Contains("    config.training.num_tokens_per_microbatch_per_dp_rank = 8192"));
    EXPECT_THAT(judged_lines(torchtitan_recipe(with_layers(launch))),
                Contains("    config.training.num_tokens_per_train_step = 1048576"));
}

/// An NVL72 domain is 18 nodes of 4 GPUs to Slurm.
TEST(Judged, SlurmNodesAreHosts)
{
    Launch launch = dense();
    launch.job.cluster.accelerator.name = "gb200";
    launch.host_gpus = host_gpus("gb200");
    EXPECT_EQ(launch.host_gpus, 4);
    launch.job.cluster.gpus = 288;
    launch.job.cluster.tiers[0].group_gpus = 72;
    launch.job.cluster.tiers[1].group_gpus = 288;
    launch.plan = {.tp = 4, .pp = 1, .dp = 36};
    const Exported exported = slurm_script(launch);
    const auto script = judged_lines(exported);
    EXPECT_THAT(script, Contains("#SBATCH --nodes=36"));
    EXPECT_THAT(script, Contains("#SBATCH --ntasks-per-node=4"));
    EXPECT_THAT(script, Contains("#SBATCH --gpus-per-node=4"));
    EXPECT_THAT(script, Contains(HasSubstr("--segment=18")));
    EXPECT_THAT(std::get<std::vector<ExportFile>>(exported).at(1).text, HasSubstr("\n73,18,1,0,18\n"));
    launch.job.cluster.tiers[0].group_gpus = 6;  // whole hosts do not make it up
    launch.plan.dp = 3;
    EXPECT_THAT(judged_lines(slurm_script(launch)), Contains("#SBATCH --gpus-per-node=6"));
    for (const std::string& accelerator : catalog_accelerators()) {
        EXPECT_GT(host_gpus(accelerator), 0) << accelerator;
    }
}

TEST(Judged, KindsOf8BitsAreRecipes)
{
    for (const auto& [kind, recipe] : {std::pair{Precision::fp8_delayed, "delayed"},
                                       {Precision::fp8_current, "tensorwise"},
                                       {Precision::fp8_blockwise, "blockwise"},
                                       {Precision::mxfp8, "mxfp8"}}) {
        Launch launch = dense();
        launch.job.workload.precision = kind;
        EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))),
                    Contains(std::string("--fp8-recipe ") + recipe));
    }
}

TEST(Judged, AttentionIn8BitsIsNotExported)
{
    Launch launch = dense();
    launch.job.workload.precision = Precision::fp8_current;
    launch.job.workload.attention_precision = AttentionPrecision::fp8;
    for (const Exported& refused :
         {megatron_arguments(with_layers(launch)), bridge_overrides(with_layers(launch))}) {
        EXPECT_THAT(std::get<Refusals>(refused).front(), HasSubstr("attention in fp8 is not exported"));
    }
}

/// Another loss has other memory than the program's, and there is no argument for it.
TEST(Judged, LossesAreNotExported)
{
    Launch launch = dense();
    launch.job.workload.loss = LossKernel::chunked;
    for (const Exported& refused :
         {megatron_arguments(with_layers(launch)), bridge_overrides(with_layers(launch))}) {
        EXPECT_THAT(std::get<Refusals>(refused).front(), HasSubstr("loss = \"chunked\" is not exported"));
    }
}

TEST(Judged, LayersAtTheEndsStayInSixteenBits)
{
    Launch launch = dense();
    launch.job.workload.precision = Precision::fp8;
    launch.job.workload.wide = {.last = 8};  // as many as a stage has
    const std::vector<std::string> megatron = judged_lines(megatron_arguments(with_layers(launch)));
    for (const char* line : {"--fp8-format hybrid", "--fp8-recipe tensorwise", "--first-last-layers-bf16",
                             "--num-layers-at-start-in-bf16 0", "--num-layers-at-end-in-bf16 8"}) {
        EXPECT_THAT(megatron, Contains(line));
    }
    const auto refusal = [](const Exported& refused) { return std::get<Refusals>(refused).front(); };
    EXPECT_THAT(refusal(bridge_overrides(with_layers(launch))), HasSubstr("exported for Megatron-LM only"));
    launch.job.workload.wide = {.last = 9};
    EXPECT_THAT(refusal(megatron_arguments(with_layers(launch))), HasSubstr("at most 8 layers at each end"));
    launch.job.workload.precision = Precision::nvfp4;  // has no such limit
    EXPECT_THAT(judged_lines(megatron_arguments(with_layers(launch))),
                Contains("--num-layers-at-end-in-bf16 9"));
    launch.job.workload.wide = {.blocks = {"attention"}};
    EXPECT_THAT(refusal(megatron_arguments(with_layers(launch))),
                HasSubstr("whole layers in bf16, not blocks"));
}

/// As Transformer Engine's recipes have them: with a scale for each tensor, gradients are E5M2.
TEST(Judged, FormatsOfEightBitsFollowTheRecipe)
{
    const auto format_of = [](Precision precision) {
        Launch launch = dense();
        launch.job.workload.precision = precision;
        return judged_lines(megatron_arguments(with_layers(launch)));
    };
    for (const Precision precision : {Precision::fp8_delayed, Precision::fp8_current}) {
        EXPECT_THAT(format_of(precision), Contains("--fp8-format hybrid"));
    }
    for (const Precision precision : {Precision::fp8_blockwise, Precision::mxfp8}) {
        EXPECT_THAT(format_of(precision), Contains("--fp8-format e4m3"));
    }
}

/// Names that stand in tests/io/export/names, where each list has its version and source.
std::set<std::string> stored_names(const std::string& target)
{
    std::ifstream file(std::string(PRISMOPT_SOURCE_DIR) + "/tests/io/export/names/" + target + ".txt");
    std::set<std::string> names;
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line.front() != '#') {
            names.insert(line);
        }
    }
    return names;
}

/// The names of an export's settings, without values.
std::vector<std::string> names_in(const Exported& exported, const std::string& target)
{
    std::vector<std::string> names;
    std::string table;
    for (const std::string& line : judged_lines(exported)) {
        if (target == "megatron" && line.starts_with("--")) {
            names.push_back(line.substr(2, line.find(' ') - 2));
        } else if (target == "bridge" && !line.starts_with("#") && line.find('=') != std::string::npos) {
            names.push_back(line.substr(0, line.find('=')));
        } else if (target == "torchtitan" && line.starts_with("[")) {
            table = line.substr(1, line.find(']') - 1);
        } else if (target == "torchtitan" && !line.starts_with("#") &&
                   line.find(" = ") != std::string::npos) {
            names.push_back(table + "." + line.substr(0, line.find(" = ")));
        } else if (target == "torchtitan-recipe" && line.starts_with("    config.")) {
            names.push_back(line.substr(11, line.find(" = ") - 11));
        }
    }
    return names;
}

/// Over plans that turn every setting on, all written names are stored, and all stored names are written.
TEST(Judged, NamesAreThoseOfTheirVersion)
{
    std::vector<Launch> launches;
    const auto add = [&](Launch launch, const std::function<void(Launch&)>& change) {
        change(launch);
        launch.step_s = 1.0;
        launch.checkpoint_interval_s = 100.0;
        launches.push_back(launch);
    };
    for (const Launch& base : {dense(), experts()}) {
        for (const Sharding sharding : {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
            for (const int pp : {1, 4}) {
                add(base, [&](Launch& l) {
                    l.plan.sharding = sharding;
                    l.plan.pp = pp;
                    l.plan.dp = 32 / pp;
                    l.plan.ep = l.job.workload.is_moe() && sharding != Sharding::none ? 8 : 1;
                    l.job.cluster.stack.sends_once = sharding == Sharding::zero1;
                });
            }
        }
        add(base, [](Launch& l) { l.plan.recompute = Recompute::full; });
        for (const Module module : {Module::mlp, Module::alternate_products}) {
            add(base, [module](Launch& l) {
                l.plan.recompute = Recompute::selective;
                l.plan.recompute_modules = ModuleSet{module};
                l.plan.sharding = Sharding::none;
                l.plan.ep = 1;
            });
        }
        add(base, [](Launch& l) { l.job.workload.loss = LossKernel::fused; });
        add(base, [](Launch& l) { l.plan.order = PlacementOrder::tp_pp_dp; });
        add(base, [](Launch& l) { l.plan.tp_overlap = TensorParallelOverlap::on; });
        add(base, [](Launch& l) {
            l.plan.offload = Offload::optimizer;
            l.plan.sharding = Sharding::zero1;
        });
        add(base, [](Launch& l) { l.plan.shard_gpus = 4; });
        add(base, [](Launch& l) { l.job.workload.precision = Precision::fp8; });
        add(base, [](Launch& l) { l.job.workload.precision = Precision::nvfp4; });
        add(base, [](Launch& l) {
            l.job.workload.precision = Precision::nvfp4;
            l.job.workload.wide = {.first = 2, .last = 8};
        });
        add(base, [](Launch& l) {
            l.job.workload.change<ExpertsBlock>([](ExpertsBlock& experts) { experts.capacity = 1.5; });
        });
        add(base, [](Launch& l) {
            l.before = {l.phase};
            l.phases = 2;
        });
        for (const ExpertOverlap overlap : {ExpertOverlap::shared_experts, ExpertOverlap::microbatches}) {
            add(base, [overlap](Launch& l) {
                l.job.workload.change<ExpertsBlock>([](ExpertsBlock& experts) { experts.shared = 1024; });
                l.plan.expert_overlap = overlap;
                l.plan.ep = l.job.workload.is_moe() ? 8 : 1;
                l.plan.pp = 1;
                l.plan.dp = 32;
            });
        }
        for (const Sharding sharding : {Sharding::zero1, Sharding::zero3}) {
            add(base, [&](Launch& l) {
                l.plan.cp = 2;
                l.plan.pp = 1;
                l.plan.dp = 16;
                l.plan.sharding = sharding;
            });
        }
        add(base, [](Launch& l) {
            l.plan.tp = 1;
            l.plan.cp = 4;
            l.plan.ulysses = 2;
            l.plan.pp = 1;
            l.plan.dp = 8;
            l.plan.sharding = Sharding::zero1;
        });
        for (const LayerSplit split : {LayerSplit::layers, LayerSplit::slots}) {
            add(base, [&](Launch& l) {
                l.plan.chunks = 2;
                l.plan.schedule = Schedule::interleaved;
                l.plan.group = 8;
                l.plan.split = split;
                l.job.workload.sequence = {{0, split == LayerSplit::slots ? 30 : 32}};
                l.plan.sharding = Sharding::zero1;
            });
        }
        add(base, [](Launch& l) { l.plan.pp = 4, l.job.workload.sequence = {{0, 30}}; });
        add(base, [](Launch& l) {
            l.plan.pp = 4, l.job.workload.sequence = {{0, 30}};
            l.plan.split = LayerSplit::given;
            l.job.workload.layouts = {std::get<std::vector<Chunk>>(parse_layout("Et*6|t*9|t*8|t*7L"))};
        });
        add(base, [](Launch& l) {
            l.plan.pp = 1;
            l.plan.dp = 32;
            l.plan.sharding = Sharding::zero3;
            l.plan.tp_overlap = TensorParallelOverlap::on;
        });
        add(base, [](Launch& l) {
            l.plan.schedule = Schedule::zb_h1;
            l.plan.sharding = Sharding::none;
            l.plan.ep = 1;
        });
    }
    launches.push_back(dense());
    launches.back().job.workload = catalog_workload("gpt3-175b");
    launches.push_back(dense());
    launches.back().job.workload = catalog_workload("nemotron3-8b");
    launches.push_back(dense());
    launches.back().job.workload.prediction = {{0, 1}};
    launches.back().job.workload.predictions = 1;
    for (const std::string target : {"megatron", "bridge", "torchtitan", "torchtitan-recipe"}) {
        const auto found = std::find_if(export_targets().begin(), export_targets().end(),
                                        [&](const ExportTarget& t) { return target == t.name; });
        ASSERT_NE(found, export_targets().end());
        const std::set<std::string> stored = stored_names(target);
        std::set<std::string> written;
        for (const Launch& launch : launches) {
            for (const std::string& name : names_in(found->make(with_layers(launch)), target)) {
                EXPECT_TRUE(stored.contains(name)) << target << " has no " << name;
                written.insert(name);
            }
        }
        for (const std::string& name : stored) {
            EXPECT_TRUE(written.contains(name)) << target << ": no plan here sets " << name;
        }
    }
}

}  // namespace
}  // namespace prismopt
