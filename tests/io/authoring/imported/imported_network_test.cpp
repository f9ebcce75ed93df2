#include "io/authoring/imported/imported_network.hpp"
#include "io/authoring/imported/model_classes.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"

#include "io/authoring/starter_scenario.hpp"
#include "model/network/network.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace prismopt {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Fields of public model cards with the sum over their tensors, in 1e9. The sums come from the shapes
/// of the published configurations.
json configurations()
{
    std::ifstream file(PRISMOPT_SOURCE_DIR "/tests/io/authoring/imported/configurations.json");
    return json::parse(file);
}

ImportedNetwork imported(const std::string& name)
{
    for (const json& row : configurations()) {
        if (row["name"] == name) {
            return imported_network(row["config"].dump(), name + "/config.json");
        }
    }
    throw std::runtime_error("no configuration " + name);
}

std::string refusal(const std::string& text)
{
    try {
        imported_network(text, "config.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

json llama()
{
    return json::parse(
        R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "hidden_act": "silu", "head_dim": 128,
            "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": false})");
}

json changed(json config, const char* key, const json& value)
{
    config[key] = value;
    return config;
}

/// The network of a starter scenario with it.
Workload read_again(const ImportedNetwork& network)
{
    StarterChoice choice;
    choice.accelerator = "h100-sxm";
    choice.gpus = 64;
    choice.imported = network;
    return parse_scenario(starter_scenario(choice), "x.toml").workload;
}

TEST(ImportedNetwork, HasTheParametersOfTheModelCard)
{
    const json rows = configurations();
    EXPECT_GE(rows.size(), 40U);
    for (const json& row : rows) {
        const ImportedNetwork network = imported_network(row["config"].dump(), "config.json");
        const double billions = parameters_of(network_of(network.workload)) / 1e9;
        const double expected = row["billions"];
        // 0.05 %, and half of the last digit of the sum.
        EXPECT_NEAR(billions, expected, std::max(0.0005 * expected, 0.0005)) << row["name"];
        if (row.contains("parameters")) {
            EXPECT_EQ(parameters_of(network_of(network.workload)), row["parameters"].get<double>())
                << row["name"] << row["from"];
        }
    }
}

/// A class that no row has would not be tested.
TEST(ImportedNetwork, IsTestedForEveryArchitecture)
{
    std::set<std::string_view> tested{
        "Glm4ForCausalLM"};  // the fields of GlmForCausalLM, with four norms in a layer
    std::set<std::pair<std::string_view, std::string_view>> read;  // with other names of fields
    for (const json& row : configurations()) {
        const ModelClass* known = class_named(imported_network(row["config"].dump(), "x").architecture);
        ASSERT_NE(known, nullptr) << row["name"];
        tested.insert(known->name);
        read.insert({known->as, known->fields});
    }
    for (const ModelClass& known : model_classes()) {
        const bool equal = read.contains({known.as, known.fields});  // to a class that has a row
        EXPECT_TRUE(equal || tested.contains(known.name)) << known.name;
    }
    const std::vector<std::string> names = importable_architectures();
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

/// The layers in order, which do not depend on the order of their kinds.
std::vector<LayerDescription> layers_of(const Workload& w, const std::vector<LayerRun>& runs)
{
    std::vector<LayerDescription> layers;
    for (const LayerRun& run : runs) {
        layers.insert(layers.end(), run.count, w.kinds[run.kind]);
    }
    return layers;
}

TEST(ImportedNetwork, IsWrittenAsAScenarioReadsIt)
{
    for (const json& row : configurations()) {
        const ImportedNetwork network = imported_network(row["config"].dump(), "config.json");
        const Workload& written = network.workload;
        Workload read = read_again(network);
        EXPECT_TRUE(layers_of(read, read.sequence) == layers_of(written, written.sequence))
            << workload_text(network);
        EXPECT_TRUE(layers_of(read, read.prediction) == layers_of(written, written.prediction))
            << workload_text(network);
        read.kinds = written.kinds;
        read.sequence = written.sequence;
        read.prediction = written.prediction;
        EXPECT_TRUE(read == written) << workload_text(network);
    }
}

/// Kinds of layers, in order.
std::string names_of_layers(const Workload& w)
{
    std::string names;
    for (const LayerRun& run : w.sequence) {
        for (int i = 0; i < run.count; ++i) {
            names += w.kinds[run.kind].name;
        }
    }
    return names;
}

TEST(ImportedNetwork, PutsWindowsWhereTheClassDoes)
{
    EXPECT_EQ(names_of_layers(imported("gemma-2-9b").workload).substr(0, 4), "SFSF");
    EXPECT_EQ(names_of_layers(imported("gemma-3-27b").workload).substr(54), "SSSSSFSS");
    EXPECT_EQ(names_of_layers(imported("gpt-oss-20b").workload).substr(0, 4), "SFSF");
    // Without layer_types.
    EXPECT_EQ(names_of_layers(imported("gpt-oss-120b").workload).substr(0, 4), "SFSF");
    EXPECT_EQ(names_of_layers(imported("llama-4-scout").workload).substr(0, 8), "CCCFCCCF");
    EXPECT_EQ(names_of_layers(imported("llama-4-maverick").workload).substr(0, 8), "cCcFcCcF");
    EXPECT_EQ(names_of_layers(imported("qwen3-next-80b-a3b").workload).substr(0, 8), "GGGFGGGF");
    EXPECT_EQ(imported("mistral-7b-v0.1").workload.find<AttentionBlock>()->window, 4096);
    EXPECT_EQ(imported("phi-3-mini-4k").workload.find<AttentionBlock>()->window, 2047);
    EXPECT_EQ(names_of_layers(imported("olmo-3-7b").workload).substr(0, 8), "SSSFSSSF");
    EXPECT_EQ(names_of_layers(imported("gemma-4-31b").workload).substr(0, 8), "SSSSSFSS");
    EXPECT_EQ(names_of_layers(imported("modernbert-base").workload).substr(0, 5), "FSSFS");
    EXPECT_EQ(names_of_layers(imported("mimo-v2-flash").workload).substr(0, 7), "fSSSSFS");
    // A size that is not switched on, and a null.
    EXPECT_EQ(imported("qwen2.5-7b").workload.find<AttentionBlock>()->window, 0);
    EXPECT_EQ(imported("phi-4").workload.find<AttentionBlock>()->window, 0);
    const json mistral =
        changed(changed(llama(), "architectures", {"MistralForCausalLM"}), "sliding_window", nullptr);
    EXPECT_EQ(imported_network(mistral.dump(), "x").workload.find<AttentionBlock>()->window, 0);
    // Qwen2's later layers have one.
    json windows =
        changed(changed(llama(), "architectures", {"Qwen2ForCausalLM"}), "use_sliding_window", true);
    windows = changed(changed(windows, "sliding_window", 1024), "max_window_layers", 30);
    EXPECT_EQ(names_of_layers(imported_network(windows.dump(), "x").workload), std::string(30, 'F') + "SS");
}

TEST(ImportedNetwork, HasTheModulesThatPredictMoreTokens)
{
    const Workload deepseek = imported("deepseek-v3").workload;
    ASSERT_EQ(deepseek.prediction.size(), 1U);
    EXPECT_EQ(deepseek.kinds[deepseek.prediction[0].kind].name, "moe");
    EXPECT_EQ(deepseek.predictions, 0);
    EXPECT_THAT(imported("kimi-k2").workload.prediction, IsEmpty());
    EXPECT_EQ(imported("nemotron-3-super-120b-a12b").workload.prediction.size(), 2U);
}

/// Groups of experts, of which a token chooses some, limit its nodes where each lies on one; else
/// the file says so in a comment.
TEST(ImportedNetwork, GroupsOfExpertsLimitNodes)
{
    const auto limit = [](const std::string& name) {
        return imported(name).workload.find<ExpertsBlock>()->node_limit;
    };
    EXPECT_EQ(limit("deepseek-v3"), 4);
    EXPECT_EQ(limit("kimi-k2"), 0) << "one group";
    EXPECT_EQ(limit("deepseek-v2"), 0) << "groups on devices";
    EXPECT_THAT(workload_text(imported("deepseek-v3")),
                AllOf(HasSubstr("node_limit = 4"), HasSubstr("# assumed: node_limit = topk_group = 4")));
    EXPECT_THAT(workload_text(imported("deepseek-v2")), HasSubstr("n_group = 8 and topk_group = 3"));
}

/// Null and absent fields differ where the class has a default: queries without
/// compression, against the usual one.
TEST(ImportedNetwork, DistinguishesNullFromAbsent)
{
    EXPECT_EQ(imported("deepseek-v2-lite").workload.find<LatentAttentionBlock>()->query_rank, 0);
    json config = configurations();
    for (json& row : config) {
        if (row["name"] == "deepseek-v2-lite") {
            row["config"].erase("q_lora_rank");
            const ImportedNetwork network = imported_network(row["config"].dump(), "config.json");
            EXPECT_EQ(network.workload.find<LatentAttentionBlock>()->query_rank, 1536);
            EXPECT_THAT(workload_text(network), HasSubstr("# assumed: q_lora_rank = 1536"));
        }
    }
}

TEST(ImportedNetwork, SaysWhatItAssumes)
{
    EXPECT_THAT(imported_network(llama().dump(), "x").assumptions, IsEmpty());
    json config = llama();
    config.erase("head_dim");
    EXPECT_THAT(imported_network(config.dump(), "x").assumptions, ElementsAre(HasSubstr("head_dim = 128")));
    EXPECT_THAT(workload_text(imported("gemma-3-12b")), HasSubstr("# assumed: vocab_size = 262208"));
    EXPECT_THAT(workload_text(imported("gemma-3-12b")), HasSubstr("# assumed: only the decoder"));
}

TEST(ImportedNetwork, ReadsNumbersThatPythonWrites)
{
    std::string text = llama().dump();
    text.insert(
        1, R"("time_step_limit": [0.0, Infinity], "a": -Infinity, "b": NaN, "note": "Infinity \" NaN", )");
    EXPECT_EQ(imported_network(text, "x").workload, imported_network(llama().dump(), "x").workload);
}

TEST(ImportedNetwork, IsCalledAfterItsFile)
{
    EXPECT_EQ(imported_network(llama().dump(), "models/llama-3-8b/config.json").workload.name, "llama-3-8b");
    EXPECT_EQ(imported_network(llama().dump(), "models/mine.json").workload.name, "mine");
    EXPECT_EQ(imported_network(llama().dump(), "config.json").workload.name, "LlamaForCausalLM");
}

/// The guide's example of a network that cannot be imported.
TEST(ImportedNetwork, IsDescribedInTheGuideWhereItCannotBeImported)
{
    std::ifstream file(PRISMOPT_SOURCE_DIR "/docs/networks.md");
    const std::string guide((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::size_t chapter = guide.find("## A network that cannot be imported");
    const auto block = [&guide, chapter](const std::string& fence) {
        const std::size_t begin = guide.find("```" + fence + "\n", chapter) + fence.size() + 4;
        return guide.substr(begin, guide.find("```", begin) - begin);
    };
    EXPECT_THAT(refusal(block("json")), HasSubstr("ExampleMoeForCausalLM"));
    const Workload described =
        parse_scenario(with("[workload]\nmodel = \"gpt-22b\"\n", block("toml")), "x.toml").workload;
    EXPECT_NEAR(parameters_of(network_of(described)) / 1e9, 10.35, 0.005);
}

/// A count of nothing is refused wherever the class divides by it or multiplies with it.
TEST(ImportedNetwork, EndsInAMessageWhateverIsZero)
{
    for (const json& row : configurations()) {
        for (const auto& [key, value] : row["config"].items()) {
            if (value.is_number_integer()) {
                try {
                    read_again(
                        imported_network(changed(row["config"], key.c_str(), 0).dump(), "config.json"));
                } catch (const InputError& error) {
                    EXPECT_NE(error.what(), std::string()) << row["name"] << " " << key;
                }
            }
        }
    }
}

/// In the class of Llama 4, an empty list has the default's meaning.
TEST(ImportedNetwork, TakesAnEmptyListForNone)
{
    for (const json& row : configurations()) {
        if (row["name"] == "llama-4-maverick") {
            json without = row["config"];
            without.erase("no_rope_layers");
            EXPECT_EQ(workload_text(imported_network(changed(without, "no_rope_layers", json::array()).dump(),
                                                     "config.json")),
                      workload_text(imported_network(without.dump(), "config.json")));
        }
    }
}

TEST(ImportedNetwork, RefusesAPatternOfAnotherLength)
{
    for (const json& row : configurations()) {
        if (row["name"] == "nemotron-h-8b") {
            EXPECT_EQ(refusal(row["config"].dump()), "");
            EXPECT_THAT(refusal(changed(row["config"], "num_hidden_layers", 10).dump()),
                        HasSubstr("num_hidden_layers is 10, but the pattern has 52 layers"));
        }
    }
}

TEST(ImportedNetwork, TakesFromTheTopOfACompositeWhetherEmbeddingsAreTied)
{
    const auto tied = [](const char* top, const char* inside) {
        const std::string text =
            std::string(R"({"architectures": ["Qwen3_5ForConditionalGeneration"], )") + top +
            R"("text_config": {)" + inside +
            R"("full_attention_interval": 4, "head_dim": 32, "hidden_act": "silu", "hidden_size": 256,
            "intermediate_size": 512, "layer_types": ["linear_attention", "full_attention"], "linear_conv_kernel_dim": 4,
            "linear_key_head_dim": 32, "linear_num_key_heads": 4, "linear_num_value_heads": 4, "linear_value_head_dim": 32,
            "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 1000}})";
        return imported_network(text, "config.json").workload.tied_embedding;
    };
    EXPECT_TRUE(tied(R"("tie_word_embeddings": true, )", ""));
    EXPECT_FALSE(tied(R"("tie_word_embeddings": false, )", ""));
    // Of the decoder itself.
    EXPECT_FALSE(tied(R"("tie_word_embeddings": true, )", R"("tie_word_embeddings": false, )"));
}

/// Parameters of the network in the text.
double parameters(const std::string& text, const FieldNames& names = {})
{
    return parameters_of(network_of(imported_network(text, "config.json", names).workload));
}

/// A decoder of a class that is known, in a composite of one that is not.
TEST(ImportedNetwork, ReadsTheDecoderOfACompositeOfAnyClass)
{
    const double expected = parameters(llama().dump());
    for (const char* section : {"text_config", "llm_config", "language_config", "thinker_config"}) {
        json composite{{"architectures", {"SomeVisionForConditionalGeneration"}},
                       {"model_type", "some_vision"}};
        composite[section] = llama();
        composite["vision_config"] = {{"hidden_size", 64}};
        EXPECT_EQ(parameters(composite.dump()), expected) << section;
        EXPECT_THAT(workload_text(imported_network(composite.dump(), "x")),
                    HasSubstr(std::string("only the decoder of ") + section +
                              " is described, without towers for images and sound (vision_config)"));
        composite[section].erase("architectures");
        EXPECT_THAT(refusal(composite.dump()), HasSubstr("SomeVisionForConditionalGeneration"));
        composite[section]["model_type"] = "llama";
        EXPECT_EQ(parameters(composite.dump()), expected) << section;
    }
    EXPECT_THAT(workload_text(imported("dbrx")), testing::Not(HasSubstr("only the decoder")));
    EXPECT_THAT(workload_text(imported("minimax-m3")), HasSubstr("images and sound (vision_config)"));
    const json nested{{"architectures", {"OmniForConditionalGeneration"}},
                      {"thinker_config", {{"text_config", llama()}}}};
    EXPECT_EQ(parameters(nested.dump()), expected);
}

TEST(ImportedNetwork, TakesTheClassFromTheTypeOfTheModel)
{
    json config = llama();
    config.erase("architectures");
    for (const char* type : {"llama", "mistral", "qwen3_vl_text", "minimax_m2"}) {
        EXPECT_NE(class_of_type(type), nullptr) << type;
    }
    EXPECT_EQ(parameters(changed(config, "model_type", "llama").dump()), parameters(llama().dump()));
    EXPECT_THAT(refusal(changed(config, "model_type", "lama").dump()),
                AllOf(HasSubstr("model_type lama cannot be imported"),
                      HasSubstr("--model-class LlamaForCausalLM")));
    EXPECT_THAT(refusal(config.dump()),
                AllOf(HasSubstr("names no class"), HasSubstr("--model-class LlamaForCausalLM")));
    EXPECT_EQ(class_of_type(""), nullptr);
}

TEST(ImportedNetwork, TakesAListOfEqualNumbersForTheNumber)
{
    const std::vector<int> equal(32, 14336);
    EXPECT_EQ(parameters(changed(llama(), "intermediate_size", equal).dump()), parameters(llama().dump()));
    std::vector<int> other = equal;
    other[3] = 1;
    EXPECT_THAT(refusal(changed(llama(), "intermediate_size", other).dump()),
                HasSubstr("only equal entries can be read"));
}

/// A mixture whose class and names nobody knows.
TEST(ImportedNetwork, ReadsFieldsByTheNamesThatTheUserGives)
{
    json mixtral =
        changed(changed(llama(), "architectures", {"MixtralForCausalLM"}), "num_local_experts", 16);
    mixtral["num_experts_per_tok"] = 2;
    json other = changed(llama(), "architectures", {"NewMoeForCausalLM"});
    other.erase("intermediate_size");
    other["moe"] = {{"experts", 16}, {"active", 2}};
    other["ffn_dim"] = 14336;
    const FieldNames names{.model_class = "MixtralForCausalLM",
                           .fields = {"num_local_experts=moe.experts", "num_experts_per_tok=2",
                                      "intermediate_size=ffn_dim"}};
    EXPECT_EQ(parameters(other.dump(), names), parameters(mixtral.dump()));
    const auto refused = [&other](const std::string& field) {
        try {
            imported_network(other.dump(), "x", {.model_class = "MixtralForCausalLM", .fields = {field}});
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refused("num_local_experts"), HasSubstr("is not NAME=OTHER"));
    EXPECT_THAT(refused("intermediate_size=fn_dim"),
                AllOf(HasSubstr("has no field fn_dim"), HasSubstr("ffn_dim")));
    EXPECT_THROW(imported_network(other.dump(), "x", {.model_class = "MixtralForCausalLm", .fields = {}}),
                 InputError);
}

/// Layers that differ in more than a window have names of their own.
TEST(ImportedNetwork, NamesLayersThatDiffer)
{
    const Workload smol = imported("smollm3-3b").workload;
    ASSERT_EQ(smol.kinds.size(), 2U);
    EXPECT_NE(smol.kinds[0].name, smol.kinds[1].name);
    const std::string names = names_of_layers(smol);
    EXPECT_EQ(names.substr(0, 4), names.substr(4, 4));
    EXPECT_EQ(std::get<AttentionBlock>(smol.kinds[smol.sequence[1].kind].blocks[0]).positions,
              Positions::none);
    EXPECT_EQ(imported("deci-four-layers").workload.kinds.size(), 4U);
    EXPECT_EQ(names_of_layers(imported("falcon-h1-7b").workload).substr(0, 4), "H-H-");
}

/// An indexer in each layer, or in some, whose keys the layers after them take.
TEST(ImportedNetwork, HasTheIndexersOfSparseAttention)
{
    const Workload deepseek = imported("deepseek-v3.2").workload;
    const auto* latent = deepseek.find<LatentAttentionBlock>();
    EXPECT_EQ(latent->index_keys, 2048);
    EXPECT_EQ(latent->index_heads, 64);
    EXPECT_EQ(imported("minimax-m3").workload.kinds[1].blocks.size(), 2U);
    json config;
    for (const json& row : configurations()) {
        if (row["name"] == "glm-5") {
            config = row["config"];
        }
    }
    const double one = 2048.0 * 32 * 128 + 6144.0 * (128 + 32) + 2 * 128;
    const double all = parameters(config.dump());
    // Layers 0, 1, 5, 9 ... keep theirs.
    EXPECT_EQ(all - parameters(changed(config, "index_topk_freq", 4).dump()), 57 * one);
    std::vector<std::string> types(78, "shared");
    types[0] = "full";
    EXPECT_EQ(all - parameters(changed(config, "indexer_types", types).dump()), 77 * one);
    config.erase("q_lora_rank");
    EXPECT_THAT(workload_text(imported_network(config.dump(), "x")),
                HasSubstr("# assumed: q_lora_rank = 2048 (not in the file; default of Glm"));
}

TEST(ImportedNetwork, SaysWhereAClassCannotBeDescribed)
{
    for (const json& row : configurations()) {
        if (row["name"] == "gemma-4-31b") {
            json config = row["config"];
            config["text_config"]["hidden_size_per_layer_input"] = 256;
            EXPECT_THAT(refusal(config.dump()), HasSubstr("embeddings of their own"));
        }
        if (row["name"] == "fla-gated-deltanet-1.3b") {
            EXPECT_THAT(refusal(changed(row["config"], "use_gate", false).dump()),
                        HasSubstr("use_gate is false"));
        }
        if (row["name"] == "step-3") {
            json config = row["config"];
            config["text_config"]["moe_layers_enum"] = "4,5,61";
            EXPECT_THAT(refusal(config.dump()), HasSubstr("has a layer 61 of 61"));
        }
    }
    const json v4 = changed(llama(), "architectures", {"DeepseekV4ForCausalLM"});
    EXPECT_THAT(refusal(v4.dump()),
                AllOf(HasSubstr("compressed keys"), testing::Not(HasSubstr("--model-class"))));
    const json k3{{"architectures", {"KimiK3ForConditionalGeneration"}},
                  {"text_config", changed(llama(), "model_type", "kimi_linear")}};
    EXPECT_THAT(refusal(changed(k3, "text_config", {{"model_type", "kimi_linear"}}).dump()),
                HasSubstr("attention residuals"));
    json gla = changed(llama(), "model_type", "gla");
    gla.erase("architectures");
    EXPECT_THAT(refusal(gla.dump()), HasSubstr("without the delta rule"));
    EXPECT_THAT(workload_text(imported("longcat-flash")), HasSubstr("of 12 experts per token 8 compute"));
    EXPECT_THAT(workload_text(imported("whisper-large-v3")), HasSubstr("tokens = 3.348"));
}

/// The class with the fields of the file, however it is called.
TEST(ImportedNetwork, ProposesTheClassWithTheSameFields)
{
    for (const json& row : configurations()) {
        if (row["name"] == "deepseek-v3") {
            EXPECT_THAT(refusal(changed(row["config"], "architectures", {"MambaLikeForCausalLM"}).dump()),
                        HasSubstr("are those of DeepseekV"));
        }
    }
}

TEST(ImportedNetwork, NamesTheFieldsThatItOmits)
{
    EXPECT_THAT(imported_network(llama().dump(), "x").omitted, IsEmpty());
    json config = changed(changed(llama(), "mixture_of_depths", {{"capacity", 0.5}}), "use_bitnet", false);
    config = changed(changed(config, "rope_theta", 5e5), "eos_token_id", 3);
    EXPECT_THAT(imported_network(config.dump(), "x").omitted,
                ElementsAre(R"(mixture_of_depths = {"capacity":0.5})"));
    EXPECT_THAT(workload_text(imported_network(config.dump(), "x")),
                HasSubstr("# omitted: mixture_of_depths"));
}

TEST(ImportedNetwork, IsComparedWithTheWeightsBesideTheFile)
{
    const auto folder = std::filesystem::path(testing::TempDir()) / "weights_beside";
    std::filesystem::create_directories(folder);
    const json config = changed(llama(), "torch_dtype", "bfloat16");
    const auto warnings = [&](const json& metadata) {
        std::ofstream(folder / "model.safetensors.index.json")
            << json{{"metadata", metadata}, {"weight_map", json::object()}};
        return imported_network(config.dump(), (folder / "config.json").string()).warnings;
    };
    constexpr double count = 8030261248;  // of Llama 3.1 8B
    EXPECT_THAT(warnings({{"total_size", 2 * count}}), IsEmpty());
    EXPECT_THAT(warnings({{"total_parameters", count}, {"total_size", 1.0}}), IsEmpty());
    EXPECT_THAT(warnings({{"total_size", 2.1 * count}}),
                ElementsAre(AllOf(HasSubstr("has 8431774310 parameters"),
                                  HasSubstr("the imported network 8030261248"), HasSubstr("fewer"))));
    EXPECT_THAT(warnings(json::object()), IsEmpty());
    std::filesystem::remove_all(folder);
}

TEST(ImportedNetwork, RefusesWhatItDoesNotKnow)
{
    EXPECT_THAT(refusal(changed(llama(), "architectures", {"NewNetForCausalLM"}).dump()),
                testing::AllOf(HasSubstr("NewNetForCausalLM"), HasSubstr("docs/networks.md"),
                               HasSubstr("LlamaForCausalLM")));
    EXPECT_THAT(refusal(changed(llama(), "architectures", {"LamaForCausalLM"}).dump()),
                HasSubstr("11 of its fields are those of LlamaForCausalLM"));
    EXPECT_THAT(refusal("[]"), HasSubstr("not a JSON object"));
    EXPECT_THAT(refusal("{"), HasSubstr("not a JSON object"));
    EXPECT_THAT(refusal("{}"), HasSubstr("names no class"));
    json config = llama();
    config.erase("hidden_size");
    EXPECT_THAT(refusal(config.dump()), HasSubstr("hidden_size"));
    EXPECT_THAT(refusal(changed(llama(), "hidden_size", "4096").dump()), HasSubstr("not a whole number"));
    EXPECT_THAT(refusal(changed(llama(), "hidden_size", -1).dump()), HasSubstr("not a whole number"));
    EXPECT_THAT(refusal(changed(llama(), "hidden_size", 4096.5).dump()), HasSubstr("not a whole number"));
    EXPECT_THAT(refusal(changed(llama(), "mlp_bias", 1).dump()), HasSubstr("not true or false"));
    EXPECT_THAT(refusal(changed(llama(), "hidden_act", "mish").dump()), HasSubstr("hidden_act is \"mish\""));
    for (const char* key : {"num_hidden_layers", "num_attention_heads", "num_key_value_heads"}) {
        EXPECT_THAT(refusal(changed(llama(), key, 0).dump()), HasSubstr(std::string(key) + " is 0, but"))
            << key;
    }
    json odd = changed(llama(), "hidden_size", 4097);
    odd.erase("head_dim");
    EXPECT_THAT(refusal(odd.dump()), HasSubstr("which 32 heads do not divide"));
    EXPECT_EQ(refusal(changed(llama(), "num_hidden_layers", 100000000).dump()),
              "config.json: more than 10000 layers; correct their number");
    EXPECT_THAT(
        refusal(
            R"({"architectures": ["ViTModel"], "hidden_size": 1024, "num_hidden_layers": 2, "num_attention_heads": 16,
                            "intermediate_size": 4096, "image_size": 90000000, "patch_size": 1})"),
        HasSubstr("image_size"));
    const json oss =
        changed(changed(changed(llama(), "architectures", {"GptOssForCausalLM"}), "num_local_experts", 32),
                "num_experts_per_tok", 4);
    EXPECT_EQ(refusal(oss.dump()), "");
    EXPECT_THAT(refusal(changed(oss, "layer_types", {"full_attention"}).dump()),
                HasSubstr("1 entries for 32 layers"));
    EXPECT_THAT(refusal(changed(oss, "layer_types", 3).dump()), HasSubstr("not a list"));
}

}  // namespace
}  // namespace prismopt
