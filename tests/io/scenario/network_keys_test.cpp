/// Networks by layers and blocks in scenarios: what they mean, and what is refused.

#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/network/network.hpp"
#include "model/network/transformer.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace prismopt {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Workload workload(const std::string& lines)
{
    return parse_scenario(with("model = \"gpt-22b\"", lines), "x.toml").workload;
}

std::string keys_refusal(const std::string& lines)
{
    try {
        workload(lines);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

const std::string ends = "hidden = 4096\nvocabulary = 128256\nnormalisation = \"rms_norm\"\n";
const std::string attention = "{ block = \"attention\", heads = 32, kv_heads = 8 }";

std::string layer(const std::string& name, const std::string& blocks)
{
    return "layer." + name + " = { blocks = [" + blocks + "] }\n";
}

/// The keys of a decoder with equal layers describe the same network.
TEST(NetworkKeys, BlocksSayWhatTheOlderKeysDo)
{
    Workload by_blocks = workload(
        ends + layer("dense", attention + ", { block = \"mlp\", inner = 14336, activation = \"swiglu\" }") +
        "sequence = [{ layer = \"dense\", count = 32 }]");
    Workload known = catalog_workload("llama3-8b");
    EXPECT_EQ(parameters_of(network_of(by_blocks)), parameters_of(network_of(known)));
    by_blocks.name = known.name;
    EXPECT_EQ(by_blocks, known);
    ASSERT_TRUE(transformer_of(by_blocks).has_value());
    EXPECT_EQ(transformer_of(by_blocks)->feed_forward, 14336);
}

/// Of a network of the catalog or of layers that the file describes.
TEST(NetworkKeys, OneImbalanceHoldsForAllExperts)
{
    const auto imbalances = [](const Workload& of) {
        std::vector<double> all;
        for (const LayerDescription& kind : of.kinds) {
            for (const BlockDescription& block : kind.blocks) {
                if (const auto* experts = std::get_if<ExpertsBlock>(&block)) {
                    all.push_back(experts->imbalance);
                }
            }
        }
        return all;
    };
    const std::string moe = "{ block = \"experts\", count = 8, active = 2, inner = 1024 }";
    const std::string own =
        ends + layer("a", attention + ", " + moe) + layer("b", moe) + "pattern = \"ab\"\nimbalance = 1.1";
    EXPECT_THAT(imbalances(workload(own)), testing::ElementsAre(1.1, 1.1));
    const std::string of_catalog = with("model = \"gpt-22b\"", "model = \"deepseek-v3\"\nimbalance = 1.1");
    EXPECT_THAT(imbalances(parse_scenario(of_catalog, "x.toml").workload), testing::Each(1.1));
    EXPECT_THAT(keys_refusal("model = \"gpt-22b\"\nimbalance = 1.1"), HasSubstr("no layer"));
}

TEST(NetworkKeys, PatternsAndSequencesAreTheSame)
{
    const std::string kinds = ends +
                              layer("M", "{ block = \"mamba2\", heads = 128, head = 64, groups = 8 }") +
                              layer("E", attention);
    const Workload pattern = workload(kinds + "pattern = \"MEMEMM\"");
    const Workload sequence =
        workload(kinds + "sequence = [{ pattern = \"ME\", count = 2 }, { layer = \"M\", count = 2 }]");
    EXPECT_EQ(pattern.sequence, sequence.sequence);
    EXPECT_EQ(pattern.layers(), 6);
}

/// Every decoder of the catalog by its older keys, and back.
TEST(NetworkKeys, DecodersKeepTheirKeys)
{
    int decoders = 0;
    for (const std::string& name : catalog_workloads()) {
        const Workload w = catalog_workload(name);
        if (const auto t = transformer_of(w)) {
            Workload again = workload_of(*t);
            again.prediction = w.prediction;
            EXPECT_EQ(again, w) << name;
            ++decoders;
        }
    }
    EXPECT_GT(decoders, 20);
}

TEST(NetworkKeys, ChangesOfCatalogNetworks)
{
    const Workload shorter = workload("model = \"llama3-8b\"\nlayers = 16");
    EXPECT_EQ(shorter.layers(), 16);
    const Workload cut = workload("model = \"gpt-oss-120b\"\nlayers = 5");
    EXPECT_EQ(cut.layers(), 5);
    const Workload predicting = workload("model = \"deepseek-v3\"\npredictions = 1");
    const double module =
        parameters_of(network_of(predicting)) - parameters_of(network_of(catalog_workload("deepseek-v3")));
    EXPECT_NEAR(module / 11.61e9, 1.0, 0.001);  // deepseek-ai/DeepSeek-V3, README_WEIGHTS.md: 11.5e9
    // Its layer is one with experts whatever the number of layers.
    EXPECT_EQ(keys_refusal("model = \"deepseek-v3\"\nlayers = 3\npredictions = 1"),
              "x.toml:7: predictions = 1 needs the layers of a prediction module (this network defines "
              "none); add prediction = { "
              "layer = "
              "\"dense\" }, with the name of a layer");
    const Workload light =
        workload("model = \"llama3-8b\"\noptimizer = { kind = \"muon\", states = \"bf16\" }");
    EXPECT_EQ(light.optimizer.kind, Optimizer::muon);
    EXPECT_EQ(light.optimizer.states, NumberType::bf16);
}

TEST(NetworkKeys, RefusalsNameTheBlockAndTheKey)
{
    EXPECT_THAT(keys_refusal(ends + layer("a", "{ block = \"attention\", heads = 30 }") + "pattern = \"a\""),
                AllOf(HasSubstr("heads = 30 of block \"attention\" in layer \"a\" gives 30 attention heads "
                                "for a hidden size of 4096"),
                      HasSubstr("x.toml:8")));
    EXPECT_THAT(keys_refusal(ends + layer("a", "{ block = \"attention\", heads = 32, kv_heads = 5 }") +
                             "pattern = \"a\""),
                HasSubstr("kv_heads = 5 of block \"attention\""));
    EXPECT_THAT(
        keys_refusal(ends + layer("a", "{ block = \"attention\", heads = 32, window = 128, context = 77 }") +
                     "pattern = \"a\""),
        HasSubstr("context = 77 of block \"attention\" in layer \"a\" cannot be combined with window"));
    EXPECT_THAT(keys_refusal(ends +
                             layer("a", "{ block = \"experts\", count = 4, active = 8, inner = 512 }") +
                             "pattern = \"a\""),
                HasSubstr("active = 8 of block \"experts\" in layer \"a\" gives 8 active of 4 experts"));
    EXPECT_THAT(keys_refusal(ends + layer("a", "{ block = \"mamba\", heads = 8 }") + "pattern = \"a\""),
                HasSubstr("did you mean \"mamba2\"?"));
    EXPECT_THAT(keys_refusal(ends + layer("a", "{ block = \"mlp\" }") + "pattern = \"a\""),
                AllOf(HasSubstr("x.toml:8: block \"mlp\" in layer \"a\" has no 'inner'"),
                      HasSubstr("add inner = 14336")));
    EXPECT_THAT(keys_refusal(ends + layer("a", "{ inner = 4 }") + "pattern = \"a\""),
                HasSubstr("x.toml:8: a block of layer \"a\" has no 'block'"));
    EXPECT_THAT(keys_refusal(ends + layer("a", "{ block = \"mlp\", inner = 0 }") + "pattern = \"a\""),
                HasSubstr("inner = 0 of block \"mlp\" in layer \"a\" is not in [1, "));
    EXPECT_THAT(keys_refusal(ends + "layer.a = { hidden = 8 }\npattern = \"a\""),
                HasSubstr("x.toml:8: layer \"a\" has no 'blocks'"));
    EXPECT_THAT(
        keys_refusal(ends + layer("a", "{ block = \"mlp\", inner = 4, iner = 4 }") + "pattern = \"a\""),
        HasSubstr("unknown key 'iner' of block \"mlp\" in layer \"a\" (did you mean 'inner'?)"));
}

/// A name is one character, whatever its bytes.
TEST(NetworkKeys, PatternsAreOfCharacters)
{
    const std::string kinds = ends + layer("\"\u03b1\"", attention) +
                              layer("\"\u4e8c\"", "{ block = \"mlp\", inner = 512 }") + layer("E", attention);
    const Workload w = workload(kinds + "pattern = \"\u03b1\u4e8cE\u03b1\u03b1\"");
    ASSERT_EQ(w.layers(), 5);
    std::string names;
    for (const LayerRun& run : w.sequence) {
        names += w.kinds[run.kind].name + std::to_string(run.count);
    }
    EXPECT_EQ(names, "\u03b11\u4e8c1E1\u03b12");
    EXPECT_THAT(keys_refusal(kinds + "pattern = \"\u03b1\u03b2\""),
                HasSubstr("names an undefined layer \"\u03b2\""));
}

/// Which blocks may run beside each other is read from the kinds of blocks.
TEST(NetworkKeys, ParallelBlocksShareANorm)
{
    const auto parallel = [](const std::string& block, const std::string& more = "") {
        return keys_refusal(ends + more + "layer.a = { blocks = [" + attention + ", " + block +
                            "], parallel = true }\npattern = \"a\"");
    };
    for (const char* block : {"{ block = \"mlp\", inner = 512 }", "{ block = \"gated_convolution\" }",
                              "{ block = \"latent_attention\", heads = 8, key_value_rank = 8, rotary = 8, "
                              "plain = 8, value = 8 }"}) {
        EXPECT_EQ(parallel(block), "accepted") << block;
    }
    for (const char* block :
         {"{ block = \"linear\" }", "{ block = \"modulation\" }", "{ block = \"convolution\" }",
          "{ block = \"residual_convolution\" }", "{ block = \"interaction\", vectors = 2, size = 8 }"}) {
        EXPECT_THAT(
            parallel(block),
            AllOf(HasSubstr("parallel = true of layer \"a\" needs blocks with a norm"),
                  HasSubstr("latent_attention, mlp, experts, mamba2, gated_delta, gated_convolution")))
            << block;
    }
    EXPECT_THAT(parallel("{ block = \"mlp\", inner = 512 }", "norms = \"post\"\n"),
                HasSubstr("cannot be combined with norms = \"post\""));
    const std::string modulation = "{ block = \"modulation\", vectors = 3 }";
    const auto first = [&](const std::string& blocks) {
        return keys_refusal(ends + "layer.a = { blocks = [" + blocks +
                            "], parallel = true }\npattern = \"a\"");
    };
    EXPECT_EQ(first(modulation + ", " + attention + ", { block = \"mlp\", inner = 512 }"), "accepted");
    EXPECT_THAT(first(modulation), HasSubstr("needs blocks with a norm"));
}

/// Two streams have attention in common, which counts the tokens of both.
TEST(NetworkKeys, SecondStreamsJoinInAttention)
{
    const auto with = [](const std::string& blocks, int second) {
        return keys_refusal(ends + "layer.a = { blocks = [" + blocks +
                            "], second_stream = " + std::to_string(second) + " }\npattern = \"a\"");
    };
    EXPECT_EQ(with("{ block = \"modulation\" }, " + attention + ", { block = \"mlp\", inner = 512 }", 512),
              "accepted");
    EXPECT_THAT(
        with("{ block = \"experts\", count = 8, active = 2, inner = 512 }", 512),
        HasSubstr("second_stream = 512 of layer \"a\" does not apply to block \"experts\" in layer \"a\""));
    EXPECT_THAT(with("{ block = \"attention\", heads = 8, context = 77 }", 512),
                HasSubstr("does not apply to block \"attention\""));
    EXPECT_THAT(with(attention, 100'000), HasSubstr("layer \"a\" has a second stream of 100000 of them"));
}

TEST(NetworkKeys, RefusalsOfSequences)
{
    const std::string one = ends + layer("a", attention);
    EXPECT_THAT(keys_refusal(one + "sequence = [{ layer = \"b\", count = 2 }]"),
                HasSubstr("names an undefined layer \"b\" ([workload] defines a)"));
    EXPECT_THAT(keys_refusal(one + "pattern = \"ab\""), HasSubstr("names an undefined layer \"b\""));
    EXPECT_THAT(keys_refusal(one), HasSubstr("sequence"));
    EXPECT_THAT(keys_refusal("hidden = 256"), HasSubstr("sequence = ["));
    EXPECT_THAT(keys_refusal(one + "pattern = \"a*\""), HasSubstr("define it: layer.\"*\" = "));
    EXPECT_THAT(keys_refusal(ends + "pattern = \"a\""), HasSubstr("defines no layers"));
    EXPECT_THAT(keys_refusal("model = \"nemotron-h-8b\"\nlayers = 100"),
                HasSubstr("layers = 100 is more than the 52 layers"));
    EXPECT_EQ(keys_refusal("model = \"nemotron-h-8b\"\nlayers = 16"), "accepted");
    EXPECT_THAT(keys_refusal("model = \"bert-large\""), HasSubstr("514 learned positions"));
    EXPECT_EQ(keys_refusal("model = \"bert-large\"\npositions = 2048"), "accepted");
    EXPECT_THAT(keys_refusal(one + "pattern = \"a\"\nsequence = [{ layer = \"a\" }]"),
                HasSubstr("pattern = \"a\" cannot be combined with sequence"));
    EXPECT_THAT(keys_refusal(one + "pattern = \"a\"\nheads = 8"),
                HasSubstr("heads = 8 cannot be combined with layer, sequence or pattern"));
    EXPECT_THAT(keys_refusal(one + "sequence = [{ layer = \"a\", pattern = \"a\" }]"),
                HasSubstr("has both layer and pattern"));
    EXPECT_THAT(
        keys_refusal(one +
                     "sequence = [{ layer = \"a\", count = 100000 }, { layer = \"a\", count = 100000 }]"),
        HasSubstr("gives 200000 layers"));
    EXPECT_THAT(keys_refusal("model = \"gpt-oss-120b\"\nheads = 32"),
                HasSubstr("does not apply to this network"));
    EXPECT_THAT(keys_refusal("model = \"llama3-8b\"\nadapter_rank = 16"),
                HasSubstr("adapter_rank = 16 has no effect"));
    EXPECT_THAT(
        keys_refusal(ends +
                     "layer.a = { blocks = [{ block = \"linear\" }], parallel = true }\npattern = \"a\""),
        HasSubstr("parallel = true of layer \"a\" needs blocks with a norm and a residual connection"));
}

/// What a file says and nothing would follow from.
TEST(NetworkKeys, WithoutEffectAreRefused)
{
    const std::string mlp = "{ block = \"mlp\", inner = 512 }";
    EXPECT_THAT(keys_refusal("model = \"llama3-8b\"\n" + layer("Dense", attention)),
                HasSubstr("is not used"));
    EXPECT_THAT(keys_refusal(ends + layer("a", attention) + layer("b", mlp) + "pattern = \"a\""),
                HasSubstr("is not used"));
    const std::string bare =
        "hidden = 4096\nnormalisation = \"rms_norm\"\n" + layer("a", attention) + "pattern = \"aa\"\n";
    EXPECT_EQ(keys_refusal(bare), "accepted");
    for (const char* key : {"positions = 256", "tied_embedding = true", "frozen_ends = true"}) {
        EXPECT_THAT(keys_refusal(bare + key), HasSubstr("has no effect")) << key;
    }
    for (const char* block :
         {"{ block = \"experts\", count = 4, active = 2, inner = 512, shared_gate = true }",
          "{ block = \"linear\", activation = \"silu\" }"}) {
        EXPECT_THAT(keys_refusal(ends + layer("a", block) + "pattern = \"a\""), HasSubstr("has no effect"))
            << block;
    }
    EXPECT_EQ(keys_refusal(ends +
                           layer("a", "{ block = \"linear\", activated = true, activation = \"silu\" }") +
                           "pattern = \"a\""),
              "accepted");
    EXPECT_THAT(keys_refusal("model = \"llama3-8b\"\ntask = \"inference\"\noptimizer = { kind = \"sgd\" }"),
                AllOf(HasSubstr("x.toml:7: optimizer = "), HasSubstr("has no effect")));
    EXPECT_THAT(keys_refusal("model = \"deepseek-v3\"\ntask = \"inference\"\npredictions = 1"),
                HasSubstr("predictions = 1 has no effect"));
    EXPECT_THAT(
        keys_refusal("model = \"llama3-8b\"\nprecision = \"tf32\"\noptimizer = { master = \"fp32\" }"),
        HasSubstr("master = \"fp32\" has no effect"));
    EXPECT_THAT(keys_refusal("model = \"llama3-8b\"\noptimizer = { master = \"fp32\" }"), "accepted");
    const std::string lora = "model = \"llama3-8b\"\nmethod = \"lora\"\n";
    EXPECT_THAT(keys_refusal(lora), HasSubstr("method = \"lora\" needs adapter_rank"));
    EXPECT_EQ(
        keys_refusal(lora + "adapter_rank = 8\nadapter_targets = \"attention\"\nfrozen_storage = \"nf4\""),
        "accepted");
    EXPECT_EQ(keys_refusal(lora + "adapter_rank = 8\nfrozen_ends = false"), "accepted");
    EXPECT_THAT(keys_refusal(lora + "adapter_rank = 5000"), HasSubstr("is larger than the network"));
    EXPECT_THAT(keys_refusal("model = \"llama3-8b\"\noptimizer = { kind = \"galore\", rank = 5000 }"),
                HasSubstr("gradients have 4096 columns"));
    EXPECT_THAT(
        keys_refusal(
            "model = \"mamba2-2.7b\"\nmethod = \"lora\"\nadapter_rank = 8\nadapter_targets = \"attention\""),
        HasSubstr("leaves nothing to train"));
    EXPECT_THAT(keys_refusal(lora + "adapter_rank = 8\nprecision = \"fp32\"\nfrozen_storage = \"nf4\""),
                HasSubstr("frozen_storage = \"nf4\" has no effect"));
    EXPECT_THAT(keys_refusal("model = \"llama3-8b\"\nfrozen_storage = \"nf4\""),
                HasSubstr("no layer is frozen"));
    EXPECT_THAT(keys_refusal("model = \"llama3-8b\"\nadapter_targets = \"all\""),
                HasSubstr("there are no adapters"));
    const std::string all_frozen =
        ends + "layer.a = { blocks = [" + attention + "], frozen = true }\npattern = \"aa\"\n";
    EXPECT_THAT(keys_refusal(all_frozen + "frozen_ends = true"),
                HasSubstr("frozen_ends = true leaves nothing to train"));
    EXPECT_EQ(keys_refusal(all_frozen), "accepted");  // embedding and head are trained
    EXPECT_EQ(keys_refusal(all_frozen + "frozen_ends = true\nadapter_rank = 4"), "accepted");
    for (const char* key : {"frozen_ends = true", "dropout = true", "adapter_rank = 4"}) {
        EXPECT_THAT(keys_refusal(all_frozen + key + "\ntask = \"inference\""), HasSubstr("has no effect"))
            << key;
    }
    EXPECT_THAT(keys_refusal(bare + "predictions = 1\nprediction = { layer = \"a\" }"),
                HasSubstr("has no effect"));
}

/// H100s have no 4-bit products. The message is at the key that chooses them.
TEST(NetworkKeys, PrecisionsAreRefusedAtTheirKey)
{
    const std::string model = "model = \"llama3-8b\"\n";
    EXPECT_THAT(
        keys_refusal(model + "tied_embedding = false\nprecision = \"nvfp4\""),
        HasSubstr("x.toml:7: precision = \"nvfp4\" needs a precision that the accelerator does not support"));
    const auto choosing = [](const std::string& networks, const std::string& axis) {
        std::string text = with("[workload]\nmodel = \"gpt-22b\"", networks);
        text.insert(text.find("[space]\n") + 8, axis);
        try {
            parse_scenario(text, "x.toml");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(choosing("[networks.low]\nmodel = \"llama3-8b\"\nprecision = \"nvfp4\"",
                         "workload = [\"low\", \"llama3-8b\"]\n"),
                HasSubstr("x.toml:6: precision = \"nvfp4\""));
}

/// The load of experts as a distribution, about the mean that `imbalance` gives.
TEST(NetworkKeys, ImbalanceVariesWhereItIsAboveOne)
{
    const std::string experts =
        R"({ block = "experts", count = 8, active = 2, inner = 512, imbalance = 1.3 })";
    const std::string distribution =
        "expert_imbalance = { family = \"gamma\", cv = 0.4, source = \"ours\" "
        "}\nexpert_imbalance_correlation = 0.25";
    const std::string varied = with("profile = \"hpc-2024\"", "profile = \"hpc-2024\"\n" + distribution);
    const auto with_network = [&varied](const std::string& lines) {
        std::string text = varied;
        return text.replace(text.find("model = \"gpt-22b\""), std::string("model = \"gpt-22b\"").size(),
                            lines);
    };
    const Scenario scenario = parse_scenario(
        with_network(ends + layer("a", attention + ", " + experts) + "pattern = \"a\""), "x.toml");
    EXPECT_EQ(scenario.variability.expert_imbalance_correlation, 0.25);
    EXPECT_EQ(std::get<Gamma>(scenario.variability.expert_imbalance.family).cv, 0.4);
    EXPECT_THAT([&] { parse_scenario(varied, "x.toml"); },
                ThrowsMessage<InputError>(HasSubstr("expert_imbalance")));
    EXPECT_THAT([&] { parse_scenario(varied, "x.toml"); },
                ThrowsMessage<InputError>(HasSubstr("has no effect")));
}

}  // namespace
}  // namespace prismopt
