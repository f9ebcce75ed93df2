#include "io/scenario/files/captured_network.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"

#include "io/base/csv.hpp"
#include "model/network/passes.hpp"
#include "model/network/transformer.hpp"

#include "tests/io/good_scenario.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>
#include <tuple>

namespace prismopt {
namespace {

using testing::HasSubstr;

/// By jobs/capture_network.py of tests/capture/networks.py.
std::string stored(const std::string& name)
{
    return read_text(PRISMOPT_SOURCE_DIR "/tests/capture/stored/" + name + ".json");
}

CapturedNetwork captured(const std::string& name)
{
    return parse_captured_network(stored(name), name + ".json");
}

double forward_flops(const Network& network)
{
    double sum = 0.0;
    LayerShape shape;
    shape.sequence = 1;
    network.for_kinds(
        [&](const LayerKind& kind, int count) { sum += count * forward_calls(kind, shape).needed_flops(); });
    return sum;
}

/// What the catalog's blocks describe and what PyTorch runs are one network.
TEST(CapturedNetwork, GptIsTheDescribedOne)
{
    const CapturedNetwork gpt = captured("gpt");
    EXPECT_EQ(gpt.name, "GPT");
    EXPECT_EQ(gpt.tokens, 48);
    Transformer described;
    described.layers = 3;
    described.hidden = 32;
    described.heads = 4;
    described.kv_heads = 4;
    described.feed_forward = 128;
    described.vocabulary = 500;
    described.attention = AttentionKernel::plain;
    described.tied_embedding = true;
    Workload workload = workload_of(described);
    workload.positions = 64;
    const Network network = network_of(workload);
    EXPECT_EQ(parameters_of(gpt.network), parameters_of(network));
    EXPECT_DOUBLE_EQ(model_flops_per_sequence(gpt.network, gpt.tokens),
                     model_flops_per_sequence(network, gpt.tokens));
    EXPECT_EQ(gpt.network.layers, std::vector<int>({0, 0, 0}));
    EXPECT_EQ(gpt.network.kinds.front().width, 32.0);
    LayerShape shape;
    shape.sequence = gpt.tokens;
    EXPECT_EQ(parameters_of(gpt.network.kinds.front(), shape).all,
              parameters_of(network.kinds.front(), shape).all);
    // By hand in tests/capture/capture_network_test.py; probabilities, which selective recompute
    // makes again, as 16-bit numbers.
    const Kept kept = kept_of(gpt.network.kinds.front(), shape, Recompute::none);
    EXPECT_EQ(kept.numbers, 48.0 * 32.0 * 16.0 + 4.0 * 48.0);
    EXPECT_EQ(kept.bytes, 2.0 * 4.0 * 48.0 * 48.0);
    EXPECT_EQ(kept.recomputable, kept.bytes);
    EXPECT_EQ(parameters_of(gpt.network.head, shape).tied, 500.0 * 32.0);
}

/// Parameters and multiply-adds of a bottleneck from c over i to w channels, before and behind its stride.
struct Bottleneck {
    double c, i, w, before, after;

    double shortcut() const { return c == w ? 0.0 : c * w; }
    double numbers() const
    {
        return c * i + 9.0 * i * i + i * w + 2.0 * (i + i + w) + (c == w ? 0.0 : shortcut() + 2.0 * w);
    }
    double multiplied() const { return c * i * before + (9.0 * i * i + i * w + shortcut()) * after; }
};

TEST(CapturedNetwork, ResNetByHand)
{
    const CapturedNetwork resnet = captured("resnet");
    const std::vector<Bottleneck> blocks{{16, 8, 32, 256, 256},
                                         {32, 8, 32, 256, 256},
                                         {32, 8, 32, 256, 256},
                                         {32, 16, 64, 256, 64},
                                         {64, 16, 64, 64, 64}};
    double numbers = 3.0 * 49.0 * 16.0 + 16.0 + 64.0 * 10.0 + 10.0;
    double multiplied = 3.0 * 49.0 * 16.0 * 1024.0 + 64.0 * 10.0;
    for (const Bottleneck& block : blocks) {
        numbers += block.numbers();
        multiplied += block.multiplied();
    }
    EXPECT_EQ(parameters_of(resnet.network), numbers);
    EXPECT_DOUBLE_EQ(forward_flops(resnet.network), 2.0 * multiplied);
    EXPECT_DOUBLE_EQ(model_flops_per_sequence(resnet.network, 1), 6.0 * multiplied);
    EXPECT_EQ(resnet.network.layers, std::vector<int>({0, 1, 1, 2, 3}));
}

TEST(CapturedNetwork, DlrmByHand)
{
    const CapturedNetwork dlrm = captured("dlrm");
    constexpr double products = 13.0 * 32.0 + 32.0 * 16.0 + 22.0 * 32.0 + 32.0;
    EXPECT_EQ(parameters_of(dlrm.network),
              16.0 * (1000.0 + 200.0 + 30.0) + products + 32.0 + 16.0 + 32.0 + 1.0);
    EXPECT_DOUBLE_EQ(forward_flops(dlrm.network), 2.0 * (products + 4.0 * 4.0 * 16.0));
    EXPECT_EQ(dlrm.network.layers.size(), 1);
}

/// The same by blocks: tables, a bottom and a top MLP, and products of pairs.
TEST(CapturedNetwork, DlrmIsTheDescribedOne)
{
    Workload described;
    described.hidden = 16;
    described.kinds.push_back(
        {.name = "sample",
         .blocks = {TablesBlock{.tables = 3, .rows = 1230.0, .columns = 16, .lookups = 15.0},
                    LinearBlock{.from = 13, .to = 32}, LinearBlock{.from = 32, .to = 16},
                    InteractionBlock{.vectors = 4, .size = 16}, LinearBlock{.from = 22, .to = 32},
                    LinearBlock{.from = 32, .to = 1}}});
    described.sequence = {{0, 1}};
    const Network network = network_of(described);
    const CapturedNetwork dlrm = captured("dlrm");
    EXPECT_EQ(parameters_of(dlrm.network), parameters_of(network));
    EXPECT_DOUBLE_EQ(model_flops_per_sequence(dlrm.network, 1), model_flops_per_sequence(network, 1));
}

/// The 3 x 3 convolution that halves both dimensions of 16 x 16 positions.
TEST(CapturedNetwork, ConvolutionIsTheDescribedOne)
{
    const LayerKind halving = captured("resnet").network.kinds[2];
    const auto found =
        std::find_if(halving.operators.begin(), halving.operators.end(), [](const Operator& op) {
            const auto* product = std::get_if<Recorded::Product>(&std::get<Recorded>(op).work);
            return product != nullptr && product->k == 9.0 * 16.0;
        });
    ASSERT_NE(found, halving.operators.end());
    const LayerKind recorded{"recorded", 1.0, {*found}};
    const LayerKind described{
        "described", 1.0, {Convolution{.in = 16.0, .out = 16.0, .taps = 9.0, .inputs_each = 4.0}}};
    LayerShape samples;
    samples.sequence = 8 * 8;
    samples.microbatch = 2;
    const Calls expected = backward_calls(described, samples, Gradients::both);
    const Calls calls = backward_calls(recorded, samples, Gradients::both);
    ASSERT_EQ(calls.list().size(), expected.list().size());
    for (std::size_t i = 0; i < calls.list().size(); ++i) {
        const auto& a = std::get<KernelCall>(calls.list()[i]);
        const auto& b = std::get<KernelCall>(expected.list()[i]);
        EXPECT_EQ(std::tuple(a.m, a.n, a.k, a.flops), std::tuple(b.m, b.n, b.k, b.flops)) << i;
    }
    EXPECT_EQ(calls.cast_numbers(), expected.cast_numbers());
    EXPECT_EQ(parameters_of(recorded, samples).all, parameters_of(described, samples).all);
}

/// The file with `from` changed to `to`, which it must have.
std::string changed(std::string text, const std::string& from, const std::string& to)
{
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text)
{
    try {
        parse_captured_network(text, "net.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(CapturedNetwork, RefusalsNamePlaceReasonAndRemedy)
{
    struct Case {
        const char* from;
        const char* to;
        const char* message;
    };
    for (const Case& c : {
             Case{"\"prismopt captured network\"", "\"something\"",
                  "net.json: the file is not a captured network; give a file written by"},
             Case{"\"version\": 1", "\"version\": 2",
                  "net.json: version is 2, but this program reads 1; capture the network with"},
             Case{"\"version\": 1", "\"version\": \"1\"", "version is \"1\", not a number"},
             Case{"\"tokens\": 48,", "",
                  "net.json: the file has no tokens; write the file again with jobs/capture_network.py"},
             Case{"\"tokens\": 48", "\"tokens\": 48.5", "tokens is 48.5, not an integer"},
             Case{"\"tokens\": 48", "\"tokens\": 0", "tokens is 0, but must lie between 1 and 1e+08"},
             Case{"\"m\": 48", "\"m\": -48",
                  "layers.Block.operators[1].m is -48, but must lie between 0 and 1e+18"},
             Case{"\"m\": 48", "\"m\": 0", "layers.Block.operators[1].m is 0, but must be positive"},
             Case{"\"m\": 48", "\"m\": 1e300", "layers.Block.operators[1].m is 1e+300, but must lie between"},
             Case{"\"m\": 48", "\"m\": 1e999", "net.json: the file contains a number that is too large"},
             Case{"\"m\": 48", "\"m\": null", "layers.Block.operators[1].m is null, not a number"},
             Case{"\"m\": 48", "\"m\": 49",
                  "layers.Block.operators[1] has forward_flops = 294912, but its shape gives 301056"},
             Case{"\"op\": \"norm\"", "\"op\": \"norms\"",
                  "layers.Block.operators[0].op is 'norms', which is not one of product,"},
             Case{"\"op\": \"norm\"", "\"op\": \"norm\", \"heads\": 2",
                  "layers.Block.operators[0] has the key 'heads', which does not belong to norm"},
             Case{"\"op\": \"norm\"", "\"op\": [", "is truncated or not JSON"},
             Case{"\"kernel\": \"plain\"", "\"kernel\": \"fast\"",
                  "kernel is 'fast', neither plain nor flash"},
             Case{"\"causal\": true", "\"causal\": 1", "causal is 1, not true or false"},
             Case{"\"layer\": \"Block\"", "\"layer\": \"Blok\"",
                  "sequence[0].layer is 'Blok', which layers does not define"},
             Case{"\"count\": 3", "\"count\": 2",
                  "totals.parameters is 56224, but the operators add up to 43520"},
             Case{"\"count\": 3", "\"count\": 1e9",
                  "sequence[0].count is 1000000000.0, but must lie between 1 and 10000"},
             Case{"[{\"layer\": \"Block\", \"count\": 3}]", "[]", "sequence has no layers"},
             Case{"[{\"layer\": \"Block\", \"count\": 3}]", "3", "sequence is 3, not a list"},
             Case{"\"width\": 1536", "\"width\": \"wide\"", "layers.Block.width is \"wide\", not a number"},
         }) {
        EXPECT_THAT(refusal(changed(stored("gpt"), c.from, c.to)), HasSubstr(c.message))
            << c.from << " -> " << c.to;
    }
}

/// Cut anywhere, it is refused.
TEST(CapturedNetwork, FilesThatAreCutShort)
{
    const std::string text = stored("gpt");
    for (std::size_t length = 0; length + 2 < text.size(); length += 97) {
        EXPECT_THAT(refusal(text.substr(0, length)), HasSubstr("is truncated or not JSON")) << length;
    }
    EXPECT_THAT(refusal("[]"), HasSubstr("net.json: the file is [], not an object"));
}

/// A scenario with the small GPT, in a folder with its file.
class CapturedScenario : public testing::Test {
protected:
    CapturedScenario() { write("gpt.json", stored("gpt")); }

    void write(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder_.file(name)) << text;
    }
    Scenario read(const std::string& workload, int sequence = 48, const std::string& tp = "[1]") const
    {
        std::string text = good;
        text = changed(text, "model = \"gpt-22b\"", workload);
        text = changed(text, "sequence_length = 2048", "sequence_length = " + std::to_string(sequence));
        text = std::regex_replace(text, std::regex("\ntp = [^\n]*"), "\ntp = " + tp);
        write("study.toml", text);
        return read_scenario(folder_.file("study.toml"));
    }
    std::string refused(const std::string& workload, int sequence = 48, const std::string& tp = "[1]") const
    {
        try {
            read(workload, sequence, tp);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }

private:
    TemporaryFolder folder_;
};

TEST_F(CapturedScenario, StandsForADescription)
{
    const Scenario scenario = read("captured = \"gpt.json\"  # the small one");
    EXPECT_EQ(scenario.workload.name, "GPT");
    EXPECT_EQ(scenario.workload.layers(), 3);
    EXPECT_EQ(parameters_of(network_of(scenario.workload)), 56224.0);
    const Scenario named = read("captured = 'gpt.json'\nname = \"mine\"\nprecision = \"bf16\"");
    const Scenario light = read(
        "captured = 'gpt.json'\nprecision = \"tf32\"\noptimizer = { kind = \"sgd\", states = \"bf16\" }");
    const OptimizerSettings settings = network_of(light.workload).optimizer;
    EXPECT_EQ(settings.kind, Optimizer::sgd);
    EXPECT_EQ(settings.state_bytes(true), 2.0);  // a momentum of 16 bits, and no copy of 32-bit parameters
    EXPECT_EQ(named.workload.name, "mine");
}

/// What is stored of a study reads on its own.
TEST_F(CapturedScenario, TextHoldsTheNetwork)
{
    const Scenario scenario = read("captured = \"gpt.json\"  # the small one");
    EXPECT_THAT(scenario.text, HasSubstr("  # the small one\n"));
    const Scenario again = parse_scenario(scenario.text, "elsewhere.toml");
    EXPECT_EQ(parameters_of(network_of(again.workload)), 56224.0);
    EXPECT_EQ(again.text, scenario.text);
}

TEST_F(CapturedScenario, TextHoldsAnyName)
{
    write("gpt.json", changed(stored("gpt"), "\"name\": \"GPT\"", "\"name\": \"Ada's \\\"net\\\"\""));
    EXPECT_EQ(read("captured = \"gpt.json\"").workload.name, "Ada's \"net\"");
}

TEST_F(CapturedScenario, RefusalsNameTheFile)
{
    EXPECT_THAT(refused("captured = \"net.json\""),
                HasSubstr("study.toml:5: captured = \"net.json\" does not exist ("));
    EXPECT_THAT(refused("captured = \"\""), HasSubstr("study.toml:5: captured"));
    EXPECT_THAT(refused("captured = 5"), HasSubstr("study.toml:5: captured = 5"));
    write("cut.json", stored("gpt").substr(0, 1000));
    EXPECT_THAT(refused("captured = \"cut.json\""), HasSubstr("cut.json:"));
    EXPECT_THAT(
        refused("captured = \"gpt.json\"\nlayers = 4"),
        HasSubstr("study.toml:6: unknown key 'layers' (known here: captured, name, precision, optimizer)"));
    EXPECT_THAT(refused("captured = \"gpt.json\"", 96),
                HasSubstr("(GPT was captured with 48 tokens per sample); write sequence_length = 48"));
    EXPECT_THAT(refused("captured = \"gpt.json\"", 48, "[1, 2]"), HasSubstr("tp=2, a captured network"));
}

}  // namespace
}  // namespace prismopt
