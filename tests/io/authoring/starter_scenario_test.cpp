#include "io/authoring/starter_scenario.hpp"
#include "io/authoring/starter_machine.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/software.hpp"
#include "io/trainers/trainer.hpp"

#include "io/base/shell_word.hpp"
#include "tests/io/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace prismopt {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

StarterChoice choice(const std::string& workload, const std::string& accelerator, int gpus)
{
    StarterChoice made;
    made.workload = workload;
    made.accelerator = accelerator;
    made.gpus = gpus;
    return made;
}

double failures_a_day(const StarterChoice& made)
{
    return parse_scenario(starter_scenario(made), "x.toml").reliability.node_failure_rate.si * 86400.0;
}

/// As many failures of 1,152 GPUs in nodes of 72 as in nodes of 8: 0.936 a day.
TEST(StarterScenario, HasAsManyFailuresForAsManyGpus)
{
    EXPECT_NEAR(failures_a_day(choice("llama3-70b", "h100-sxm", 1152)) * (1152.0 / 8), 0.936, 1e-9);
    EXPECT_NEAR(failures_a_day(choice("llama3-70b", "gb200", 1152)) * (1152.0 / 72), 0.936, 1e-9);
    EXPECT_THAT(starter_scenario(choice("llama3-70b", "gb200", 1152)),
                HasSubstr("# 9 times that of nodes of 8 GPUs (6.5e-3 /day: "));
    EXPECT_NEAR(failures_a_day(choice("llama3-8b", "gb200", 36)), 0.0065 * 36 / 8, 1e-9);  // half a node
    EXPECT_NEAR(failures_a_day(choice("llama3-8b", "h100-sxm", 4)), 0.0065, 1e-12);
}

/// Programs may ask for anything; a search for a batch that suits no GPUs would not end.
TEST(StarterScenario, RefusesCountsThatNoJobHas)
{
    EXPECT_THROW(starter_scenario(choice("llama3-8b", "h100-sxm", 0)), InputError);
    EXPECT_THROW(starter_scenario(choice("llama3-8b", "h100-sxm", -8)), InputError);
    StarterChoice made = choice("llama3-8b", "h100-sxm", 8);
    made.global_batch = -1;
    EXPECT_THROW(starter_scenario(made), InputError);
    made.global_batch = 0;
    made.tokens = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(starter_scenario(made), InputError);
}

/// Software without a measured run says whose constants it has.
TEST(StarterScenario, SaysWhereConstantsComeFrom)
{
    const auto said = [](const std::string& software) {
        StarterChoice made = choice("llama3-8b", "h100-sxm", 8);
        made.software = software;
        return starter_scenario(made);
    };
    EXPECT_THAT(said("llama-factory"), HasSubstr("its constants are those of hf-fsdp, and"));
    EXPECT_THAT(said("deepspeed-zero-2"),
                HasSubstr("its constants are shared with software that was measured"));
    EXPECT_THAT(said("hai-llm"), HasSubstr("its constants are assumptions"));
    EXPECT_THAT(said("hf-fsdp"), HasSubstr("its constants are fitted to "));
}

TEST(StarterScenario, SharesLongSequences)
{
    StarterChoice made = choice("llama3-70b", "h100-sxm", 1024);
    EXPECT_THAT(starter_scenario(made), Not(HasSubstr("\ncp = ")));
    made.sequence = 32768;
    EXPECT_THAT(parse_scenario(starter_scenario(made), "x.toml").space.cp, ElementsAre(1, 2, 4, 8));
    made.sequence = 131072;
    EXPECT_THAT(parse_scenario(starter_scenario(made), "x.toml").space.cp, ElementsAre(1, 2, 4, 8, 16));
    made.sequence = 1'000'000;  // 15,625 times 64, and halves of a share must be whole
    EXPECT_THAT(parse_scenario(starter_scenario(made), "x.toml").space.cp, ElementsAre(1, 2, 4, 8, 16, 32));
}

/// Networks without a vocabulary are trained for steps, whatever the batch.
TEST(StarterScenario, StepsOfPicturesDoNotDependOnTheBatch)
{
    const std::string text = starter_scenario(choice("wan-2.1-14b", "h100-sxm", 64));
    const std::string batch = "global_batch = 128";
    ASSERT_NE(text.find(batch), std::string::npos);
    std::string halved = text;
    halved.replace(text.find(batch), batch.size(), "global_batch = 64");
    EXPECT_DOUBLE_EQ(parse_scenario(text, "x.toml").phases.front().steps(), 1e5);
    EXPECT_DOUBLE_EQ(parse_scenario(halved, "x.toml").phases.front().steps(), 1e5);
}

TEST(StarterScenario, SaysTheTokensPerStep)
{
    EXPECT_THAT(starter_scenario(choice("gpt3-175b", "h100-sxm", 1024)),
                HasSubstr("global_batch = 1024   # sequences per optimizer step: 4.19 million tokens\n"));
    EXPECT_THAT(starter_scenario(choice("gpt3-175b", "h100-sxm", 100000)),
                HasSubstr("global_batch = 3125   # sequences per optimizer step: 12.8 million tokens\n"));
}

/// It is what was learned with, whatever the number of GPUs and the question.
TEST(StarterScenario, KeepsTheBatchOfThePublishedTraining)
{
    const auto batch_of = [](const StarterChoice& made) {
        return parse_scenario(starter_scenario(made), "x.toml").phases.front().global_batch;
    };
    for (const int gpus : {64, 1024, 2048, 3072}) {
        StarterChoice made = choice("deepseek-v3", "h800-sxm", gpus);
        EXPECT_EQ(batch_of(made), 15360) << gpus;
        made.question = {"minimise = \"cost\"", "deadline = \"90 day\""};
        EXPECT_EQ(batch_of(made), 15360) << gpus;
    }
    EXPECT_THAT(starter_scenario(choice("deepseek-v3", "h800-sxm", 2048)),
                HasSubstr(
                    "sequences per optimizer step: 62.9 million tokens; the published training had up to "
                    "62.9 million tokens (DeepSeek-AI, arXiv 2412.19437, sections 1 and 4.2)\n"));
    EXPECT_EQ(batch_of(choice("kimi-k2", "h100-sxm", 1024)), 16384);
    EXPECT_EQ(batch_of(choice("llama3-405b", "h100-sxm", 16384)), 4096);
    StarterChoice longer = choice("llama3-405b", "h100-sxm", 1024);
    longer.sequence = 8192;
    EXPECT_EQ(batch_of(longer), 2048);
    for (const int gpus : {24, 1152, 3072}) {
        const int batch = batch_of(choice("llama3-405b", "h100-sxm", gpus));
        EXPECT_EQ(batch % odd_factor(gpus), 0) << gpus;
        EXPECT_NEAR(batch / 4101.6, 1.0, 0.05) << gpus;
    }
    EXPECT_FALSE(published_batch("llama3-8b", 4096).has_value());
    EXPECT_EQ(published_batch("dit-xl-2", 256)->samples, 256.0);
}

/// Batches of samples or images, on axes that such networks have.
TEST(StarterScenario, FitsTheNetwork)
{
    const std::string tables = starter_scenario(choice("dlrm-a", "h100-sxm", 128));
    EXPECT_THAT(tables, HasSubstr("sequence_length = 1   # tokens per sample\nglobal_batch = 65536   # "
                                  "samples per optimizer step\n"));
    const SpaceSettings space = parse_scenario(tables, "x.toml").space;
    EXPECT_THAT(space.ep, ElementsAre(32, 64, 128));
    EXPECT_EQ(space.ep, space.gpus);
    EXPECT_THAT(space.microbatch, ElementsAre(256, 512, 1024, 2048));
    const std::string images = starter_scenario(choice("sdxl-unet", "h100-sxm", 64));
    EXPECT_THAT(images, HasSubstr("sequence_length = 16384   # tokens per image\nglobal_batch = 2048   # "
                                  "images per optimizer step"));
    EXPECT_THAT(images, HasSubstr("microbatch = [1, 2, 4]               # images per microbatch\n"));
    for (const char* axis : {"\nschedule", "\nv = ", "\nsplit", "\norder"}) {
        EXPECT_THAT(images, Not(HasSubstr(axis)));
        EXPECT_THAT(tables, Not(HasSubstr(axis)));
    }
    EXPECT_THAT(parse_scenario(images, "x.toml").space.pp, ElementsAre(1));
    EXPECT_THAT(starter_scenario(choice("bert-large", "h100-sxm", 64)), HasSubstr("sequence_length = 512\n"));
    StarterChoice longer = choice("dit-xl-2", "h100-sxm", 64);
    longer.sequence = 1024;
    EXPECT_THAT(starter_scenario(longer),
                HasSubstr("sequence_length = 1024   # tokens per image\nglobal_batch = 256   # images"));
}

/// With its usual links, as far as the catalog has what times need.
TEST(StarterScenario, IsWrittenForEveryAccelerator)
{
    for (const std::string& name : catalog_accelerators()) {
        const bool timed = catalog_accelerator(name).memory_bandwidth.si > 0.0;
        for (const int gpus : {1, 16, 64}) {
            if (timed) {
                const StarterChoice made = choice("llama3-8b", name, gpus);
                EXPECT_NO_THROW(parse_scenario(starter_scenario(made), "x.toml")) << name;
            }
        }
        if (!timed) {
            EXPECT_THROW(starter_scenario(choice("llama3-8b", name, 64)), InputError) << name;
        }
    }
    const auto first_tier = [](const char* name, int gpus) {
        return parse_scenario(starter_scenario(choice("llama3-8b", name, gpus)), "x.toml")
            .cluster.tiers.front();
    };
    EXPECT_THAT(first_tier("tpu-v5e", 64).shape, ElementsAre(8, 8));
    EXPECT_THAT(first_tier("tpu-v5e", 64).wrap, ElementsAre(false, false));
    EXPECT_THAT(first_tier("tpu-v5e", 512).shape, ElementsAre(16, 16));
    EXPECT_THAT(first_tier("tpu-v5e", 512).wrap, ElementsAre(true, true));
    EXPECT_THAT(first_tier("tpu-v5p", 32).shape, ElementsAre(4, 4, 2));
    EXPECT_THAT(first_tier("tpu-v5p", 32).wrap, ElementsAre(true, true, false));
    EXPECT_EQ(first_tier("gaudi3", 64).topology, Topology::full_mesh);
    EXPECT_EQ(first_tier("gaudi3", 8).topology, Topology::full_mesh);
    EXPECT_THROW(starter_scenario(choice("llama3-8b", "tpu-v5p", 48)), InputError);
    EXPECT_THAT(starter_scenario(choice("llama3-8b", "tpu-v5p", 64)), HasSubstr("placeholder"));
    EXPECT_THAT(starter_scenario(choice("llama3-8b", "tpu-v4", 64)),
                HasSubstr("\naccelerator = \"tpu-v4\"   # declared"));
    EXPECT_THAT(starter_scenario(choice("llama3-8b", "h100-sxm", 64)),
                HasSubstr("\naccelerator = \"h100-sxm\"   # fitted to 2"));
}

StarterChoice on_instance(const std::string& instance, int gpus)
{
    StarterChoice made;
    made.workload = "llama3-8b";
    made.instance = instance;
    made.gpus = gpus;
    return made;
}

/// With the nodes, the network and the price of the instance.
TEST(StarterScenario, IsWrittenForEveryInstance)
{
    for (const std::string& name : Catalog::built_in().names(instances_kind)) {
        const Instance instance = catalog_instance(name);
        const int node = std::max(instance.node_gpus, instance.gpus);
        const Scenario scenario = parse_scenario(starter_scenario(on_instance(name, 2 * node)), "x.toml");
        EXPECT_EQ(scenario.cluster.accelerator.catalog_entry, instance.accelerator) << name;
        EXPECT_EQ(scenario.cluster.gpus_per_node(), node) << name;
        const NetworkTier& network = scenario.cluster.tiers.back();
        const double of_node = node * network.bandwidth.si / network.oversubscription;
        EXPECT_NEAR(of_node / (instance.network.si * node / instance.gpus), 1.0, 1e-3) << name;
        if (instance.list.price.si > 0.0) {
            EXPECT_NEAR(scenario.cluster.gpu_price.si * instance.gpus / instance.list.price.si, 1.0, 0.01)
                << name;
        }
    }
    const std::string text = starter_scenario(on_instance("P5EN.48xlarge", 16));
    EXPECT_THAT(
        text,
        HasSubstr(
            "\n[cluster]\n# p5en.48xlarge: 8 x h200-sxm, network of 3200 Gb/s, 2048 GiB of host memory; "));
    EXPECT_THAT(
        text,
        HasSubstr("\ngpu_price = \"7.91 USD/h\"            # p5en.48xlarge, 63.30 USD/h: AWS on demand"));
    EXPECT_THAT(text, HasSubstr("\ngroup = 8   # GPUs per node\n"));
    EXPECT_THAT(text, HasSubstr("\nlink = \"efa-3200g\"\n# oversubscription"));
    EXPECT_THROW(starter_scenario(on_instance("p5en", 16)), InputError);
}

TEST(StarterScenario, SaysThatAPriceIsOfAnotherOffer)
{
    StarterChoice azure = on_instance("nd96isr_h200_v5", 16);
    EXPECT_THAT(starter_scenario(azure),
                HasSubstr("# gpu_price = \"7.91 USD/h\"          # default, which is not the price of "
                          "ND96isr_H200_v5: AWS p5en.48xlarge, "));
    EXPECT_THAT(other_price_text(azure, Catalog::built_in()),
                AllOf(HasSubstr("no list price of ND96isr_H200_v5"), HasSubstr("AWS p5en.48xlarge")));
    azure.price = "5 USD/h";
    EXPECT_EQ(other_price_text(azure, Catalog::built_in()), "");
    EXPECT_EQ(other_price_text(on_instance("p5en.48xlarge", 16), Catalog::built_in()), "");
    EXPECT_EQ(other_price_text(choice("llama3-8b", "h200-sxm", 16), Catalog::built_in()), "");
}

/// Ports that the GPUs of a node share, nodes of a GPU each, and bridges that some have.
TEST(StarterScenario, IsWrittenForMachinesWithoutNvlink)
{
    const std::string boxes = starter_scenario(choice("llama3-8b", "RTX 4090", 16));
    EXPECT_THAT(boxes, HasSubstr("\naccelerator = \"rtx-4090\"   # declared"));
    EXPECT_THAT(boxes, HasSubstr("\nlink = \"eth-25g\"\noversubscription = 8                # the 8 GPUs of "
                                 "a node share 25 Gb/s\n"));
    EXPECT_THAT(boxes, Not(HasSubstr("bridge")));
    EXPECT_THAT(starter_scenario(choice("llama3-8b", "rtx-4090", 8)), Not(HasSubstr("oversubscription")));
    EXPECT_THAT(starter_scenario(choice("llama3-8b", "rtx-3090", 8)),
                HasSubstr("\n# link = \"nvlink-bridge-rtx\"\n"));
    StarterChoice single = choice("llama3-8b", "a10", 4);
    single.node_gpus = 1;
    single.network = "eth-10g";
    const Cluster single_gpus = parse_scenario(starter_scenario(single), "x.toml").cluster;
    EXPECT_EQ(single_gpus.nodes(), 4);
    EXPECT_EQ(single_gpus.tiers.back().catalog_entry, "eth-10g");
    EXPECT_DOUBLE_EQ(single_gpus.tiers.back().oversubscription, 1.0);
    single.node_gpus = 2;
    EXPECT_DOUBLE_EQ(parse_scenario(starter_scenario(single), "x.toml").cluster.tiers.back().oversubscription,
                     2.0);
    single.network = "eth-11";
    EXPECT_THROW(starter_scenario(single), InputError);
    StarterChoice torus = choice("llama3-8b", "tpu-v5e", 16);
    torus.node_gpus = 8;
    EXPECT_THROW(starter_scenario(torus), InputError);
}

/// Nodes that are filled in part, and 64 of the 72 GPUs of a domain where the number of
/// GPUs or the batch asks for it.
TEST(StarterScenario, TakesAnyNumberOfGpus)
{
    const auto scenario_of = [](const StarterChoice& made) {
        return parse_scenario(starter_scenario(made), "x.toml");
    };
    const Scenario twenty = scenario_of(choice("llama3-8b", "a100-sxm-80gb", 20));
    EXPECT_EQ(twenty.cluster.gpus, 20);
    EXPECT_EQ(twenty.cluster.gpus_per_node(), 8);
    EXPECT_THAT(twenty.space.gpus, ElementsAre(16, 20));
    // 96 share no batch of 25s.
    EXPECT_THAT(scenario_of(choice("llama3-8b", "a100-sxm-80gb", 100)).space.gpus, ElementsAre(100));
    EXPECT_EQ(twenty.phases.front().global_batch % 20, 0);
    StarterChoice dozen = choice("llama3-8b", "a100-sxm-80gb", 12);
    dozen.global_batch = 64;
    EXPECT_THAT(scenario_of(dozen).space.gpus, ElementsAre(8, 12));
    EXPECT_THAT(scenario_of(dozen).space.pp, ElementsAre(1, 2, 3, 4, 6, 8, 12));
    EXPECT_THAT(starter_scenario(dozen), HasSubstr("gpus = 12   # a node of 8 GPUs, and 4 of another\n"));
    EXPECT_EQ(scenario_of(choice("llama3-8b", "h100-sxm", 6)).cluster.nodes(), 1);
    StarterChoice domains = choice("llama3-70b", "gb300", 256);
    EXPECT_EQ(scenario_of(domains).cluster.gpus_per_node(), 64);
    EXPECT_THAT(starter_scenario(domains),
                HasSubstr("gpus = 256   # 4 domains, of each of which jobs use 64 of the 72 GPUs\n"));
    domains.gpus = 1152;
    EXPECT_EQ(scenario_of(domains).cluster.gpus_per_node(), 72);
    domains.global_batch = 2048;
    EXPECT_EQ(scenario_of(domains).cluster.gpus, 1024);
    EXPECT_EQ(scenario_of(domains).cluster.gpus_per_node(), 64);
    domains.gpus = 100;
    EXPECT_EQ(scenario_of(domains).cluster.nodes(), 2);
}

/// Who asks for the fewest GPUs is not answered to a factor of two.
TEST(StarterScenario, AsksForNumbersOfGpusBetweenPowersOfTwo)
{
    const auto sizes_of = [](int gpus, int batch = 0) {
        StarterChoice asked = choice("llama3-70b", "h100-sxm", gpus);
        asked.question = {"minimise = \"cost\"", "deadline = \"90 day\""};
        asked.tokens = 15e12;
        asked.global_batch = batch;
        const Scenario scenario = parse_scenario(starter_scenario(asked), "x.toml");
        for (const int size : scenario.space.gpus) {
            EXPECT_EQ(scenario.phases.front().global_batch % odd_factor(size), 0) << size;
        }
        return scenario.space.gpus;
    };
    EXPECT_THAT(sizes_of(2048), ElementsAre(256, 384, 512, 768, 1024, 1536, 2048));
    EXPECT_THAT(sizes_of(3000), ElementsAre(384, 512, 768, 1024, 1536, 2048));
    EXPECT_THAT(sizes_of(2048, 1024), ElementsAre(256, 512, 1024, 2048));
    EXPECT_THAT(sizes_of(20, 20), ElementsAre(8, 16, 20));
}

/// What applies to the network and the nodes.
TEST(StarterScenario, ListsTheLeversOfTheSoftware)
{
    const auto space_of = [](const std::string& workload, const std::string& accelerator,
                             const std::string& software) {
        StarterChoice made = choice(workload, accelerator, 64);
        made.software = software;
        return parse_scenario(starter_scenario(made), "x.toml").space;
    };
    const SpaceSettings shared = space_of("deepseek-v3", "h100-sxm", "megatron-bridge");
    EXPECT_THAT(shared.expert_overlap,
                ElementsAre(ExpertOverlap::off, ExpertOverlap::shared_experts, ExpertOverlap::microbatches));
    EXPECT_THAT(shared.dispatch, ElementsAre(Dispatch::all_to_all, Dispatch::deepep));
    EXPECT_THAT(shared.cuda_graphs, ElementsAre(ModuleSet{}, ModuleSet{Module::attn, Module::moe_router,
                                                                       Module::moe_preprocess}));
    EXPECT_EQ(shared.ep.back(), 64);
    const SpaceSettings domains = space_of("qwen3-30b-a3b", "gb300", "megatron-bridge");
    EXPECT_THAT(domains.expert_overlap, ElementsAre(ExpertOverlap::off, ExpertOverlap::microbatches));
    EXPECT_THAT(domains.dispatch, ElementsAre(Dispatch::all_to_all, Dispatch::hybridep));
    const SpaceSettings dense = space_of("llama3-8b", "h100-sxm", "megatron-lm");
    EXPECT_EQ(dense.expert_overlap.size() + dense.dispatch.size() + dense.cuda_graphs.size(), 3U);
    EXPECT_EQ(dense.tp_overlap.size(), 2U);
    const SpaceSettings sharded = space_of("qwen3-30b-a3b", "h100-sxm", "hf-fsdp");
    EXPECT_THAT(sharded.tp, ElementsAre(1));
    EXPECT_THAT(sharded.pp, ElementsAre(1));
    EXPECT_THAT(sharded.ep, ElementsAre(1));
    EXPECT_THAT(sharded.sharding, ElementsAre(Sharding::zero2, Sharding::zero3));
    EXPECT_THAT(sharded.offload, ElementsAre(Offload::none, Offload::optimizer));
}

/// Reasons of the software's trainer against a selective recomputation that the starter
/// searches, of the rules on modules.
std::vector<std::string> refused_modules(const Scenario& scenario)
{
    std::vector<std::string> reasons;
    for (const TrainerRule& rule : trainer_rules(scenario.cluster.software.trainer)) {
        for (const Recompute recompute : scenario.space.recompute) {
            for (const ModuleSet& set : scenario.space.recompute_modules) {
                const ParallelPlan plan{.recompute = recompute, .recompute_modules = set};
                const PlannedPhase planned{.plan = plan, .phase = scenario.phases.front(), .job = scenario};
                reasons.push_back(rule.axis == "recompute_modules" ? rule.why(planned) : "");
            }
        }
    }
    std::erase(reasons, "");
    return reasons;
}

/// With and without --for, the trainer of the software says which modules selective recompute covers.
TEST(StarterScenario, SearchesModulesThatTheSoftwareRecomputes)
{
    for (const std::string& name : Catalog::built_in().names(software_kind)) {
        for (const SoftwareRelease& release : catalog_software(name).releases) {
            for (const char* network : {"llama3-70b", "deepseek-v3", "gpt3-175b", "mamba2-2.7b"}) {
                StarterChoice made = choice(network, "h100-sxm", 64);
                made.software = name + ":" + release.name;
                const Scenario scenario = parse_scenario(starter_scenario(made), "x.toml");
                EXPECT_THAT(refused_modules(scenario), IsEmpty()) << made.software << " " << network;
            }
        }
    }
    const auto text_for = [](const std::string& software) {
        StarterChoice made = choice("llama3-70b", "h100-sxm", 1024);
        made.software = software;
        return starter_scenario(made);
    };
    const std::string of_bridge =
        "\nrecompute = [\"none\", \"selective\", \"full\"]\n"
        "recompute_modules = [[\"mlp\"]]   # modules that megatron-bridge can recompute\n";
    EXPECT_THAT(text_for("megatron-bridge:26.04"), HasSubstr(of_bridge));
    EXPECT_THAT(text_for(""), HasSubstr(of_bridge));  // assumed
    EXPECT_THAT(text_for("nemo:25.02"), Not(HasSubstr("recompute_modules")));
}

/// Values of an axis that a rule of exports refuses.
template <class Axis>
int refused_values(const Axis& axis, const TrainerRule& rule, const Scenario& scenario)
{
    int refused = 0;
    for (const auto& value : scenario.space.*(axis.values)) {
        ParallelPlan plan{.tp = 2, .ep = 2};  // collectives to overlap, and tokens to exchange
        plan.*(axis.choice) = value;
        const PlannedPhase planned{.plan = plan, .phase = scenario.phases.front(), .job = scenario};
        refused += rule.why(planned).empty() ? 0 : 1;
    }
    return refused;
}

/// With --for, plans are meant to be exported: of the values that the software has,
/// those with a setting are searched.
TEST(StarterScenario, SearchesOnlyWhatTheExportToItsTrainerHasSettingsFor)
{
    StarterChoice made = choice("deepseek-v3", "h100-sxm", 256);
    for (const std::string& trainer : trainer_names()) {
        made.trainer = trainer;
        const Scenario scenario = parse_scenario(starter_scenario(made), "x.toml");
        for (const TrainerRule& rule : trainer_rules(trainer)) {
            for_each_axis([&](const auto& axis) {
                if (rule.of == RuleOf::exports && axis.name == rule.axis && rule.axis != "tp") {
                    EXPECT_EQ(refused_values(axis, rule, scenario), 0) << trainer << " " << rule.axis;
                }
            });
        }
    }
    made.trainer = "bridge";
    const SpaceSettings bridge = parse_scenario(starter_scenario(made), "x.toml").space;
    EXPECT_THAT(bridge.dispatch, ElementsAre(Dispatch::all_to_all, Dispatch::deepep));
    EXPECT_THAT(bridge.expert_overlap, ElementsAre(ExpertOverlap::off, ExpertOverlap::shared_experts));
    EXPECT_THAT(bridge.cuda_graphs, ElementsAre(ModuleSet{}));
    made.trainer.clear();
    made.software = "megatron-bridge";
    const SpaceSettings any = parse_scenario(starter_scenario(made), "x.toml").space;
    EXPECT_EQ(any.expert_overlap.size(), 3U);
    EXPECT_EQ(any.cuda_graphs.size(), 2U);
}

/// Where a card has little memory, adapters are a comment away.
TEST(StarterScenario, ShowsAdaptersOnCards)
{
    EXPECT_THAT(starter_scenario(choice("llama3-8b", "h100-sxm", 8)), Not(HasSubstr("method")));
    std::string text = starter_scenario(choice("llama3-8b", "rtx-4090", 8));
    for (const char* key : {"method", "adapter_rank", "frozen_storage"}) {
        const std::string comment = std::string("\n# ") + key + " = ";
        ASSERT_NE(text.find(comment), std::string::npos) << key;
        text.erase(text.find(comment) + 1, 2);
    }
    const Workload adapted = parse_scenario(text, "x.toml").workload;
    EXPECT_EQ(adapted.method, Method::lora);
    EXPECT_EQ(adapted.frozen_storage, FrozenStorage::nf4);
}

/// Each program's list can be written and read.
TEST(StarterScenario, IsWrittenForAllSoftware)
{
    for (const std::string& name : Catalog::built_in().names(software_kind)) {
        StarterChoice made = choice("qwen3-30b-a3b", "h100-sxm", 64);
        made.software = name;
        EXPECT_NO_THROW(parse_scenario(starter_scenario(made), "x.toml")) << name;
    }
}

TEST(StarterScenario, TakesNamesWhateverTheirCaseAndSeparators)
{
    EXPECT_EQ(starter_scenario(choice("Llama3_8B", "H100 SXM", 8)),
              starter_scenario(choice("llama3-8b", "h100-sxm", 8)));
    const auto refusal = [](const std::string& workload, const std::string& accelerator) {
        return refusal_of([&] { starter_scenario(choice(workload, accelerator, 8)); });
    };
    EXPECT_THAT(refusal("llama3-8b", "h100"), HasSubstr("(did you mean 'h100-nvl', 'h100-pcie', 'h100-sxm'"));
    EXPECT_THAT(refusal("llama3-8b", "A100-80GB"),
                HasSubstr("(did you mean 'a100-pcie-80gb' or 'a100-sxm-80gb'?)"));
    EXPECT_THAT(refusal("llama3-8b", "4090"), HasSubstr("(did you mean 'rtx-4090'?)"));
    EXPECT_THAT(refusal("meta-llama/Llama-3.1-70B", "h100-sxm"), HasSubstr("(did you mean 'llama3-70b'?)"));
}

TEST(StarterScenario, NamesTheSoftware)
{
    const auto scenario_of = [](const StarterChoice& made) {
        return parse_scenario(starter_scenario(made), "x.toml");
    };
    StarterChoice made = choice("qwen3-30b-a3b", "h100-sxm", 64);
    EXPECT_GT(scenario_of(made).cluster.possible.size(), 1U);  // nobody chose it
    made.software = "Megatron_Bridge:25.11";
    EXPECT_EQ(scenario_of(made).cluster.software.text(), "megatron-bridge 25.11");
    EXPECT_TRUE(scenario_of(made).cluster.possible.empty());
    made.software = "megatron-bridge:24.01";
    EXPECT_THAT(refusal_of([&] { starter_scenario(made); }), HasSubstr("releases: 26.06, 26.04, 25.11"));
    made.software = "megatron-brigde";
    EXPECT_THAT(refusal_of([&] { starter_scenario(made); }), HasSubstr("did you mean 'megatron-bridge'?"));
    made.software.clear();
    for (const auto& [trainer, software] : {std::pair{"bridge", "megatron-bridge"},
                                            {"megatron", "megatron-lm"},
                                            {"torchtitan", "torchtitan"}}) {
        made.trainer = trainer;
        EXPECT_EQ(scenario_of(made).cluster.software.name, software);
        EXPECT_TRUE(scenario_of(made).cluster.possible.empty());
    }
}

TEST(StarterScenario, HasCommandsThatAShellTakes)
{
    StarterChoice made = choice("llama3-8b", "h100-sxm", 8);
    made.name = "my study";
    EXPECT_THAT(starter_scenario(made), HasSubstr("#   prismopt validate 'my study.toml'\n"));
    EXPECT_EQ(shell_word("runs/my_study-2.toml"), "runs/my_study-2.toml");
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("$HOME;ls"), "'$HOME;ls'");
}

}  // namespace
}  // namespace prismopt
