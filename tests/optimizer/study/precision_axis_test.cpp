/// The precision as an axis of the space.

#include "io/base/input_error.hpp"
#include "io/scenario/variants.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/optimizer/designs_of.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string eight_gpus = "gpus = [8]\ntp = [1, 2]\npp = [1, 2]\n";
const std::string both = "precision = [\"bf16\", \"fp8\"]\n";

/// The tiny study on an accelerator with fp8.
std::string precision_text(const std::string& space, const std::string& numerics,
                           const std::string& workload = "")
{
    std::string text = tiny_scenario("gpus = [8]").text;
    const auto accelerator = text.find("accelerator = \"");
    text.replace(accelerator, text.find('\n', accelerator) - accelerator, "accelerator = \"h100-sxm\"");
    if (!workload.empty()) {
        text.insert(text.find("[workload]\n") + 11, workload);
    }
    return text.substr(0, text.find("[space]")) + numerics + "[space]\n" + space + "[search]\n";
}

Scenario precisions_scenario(const std::string& text) { return parse_scenario(text, "precisions.toml"); }

/// Each precision has the plans, the bounds and the draws of a study whose workload has it.
TEST(PrecisionAxis, JudgesEachPrecisionAsAlone)
{
    const Scenario several =
        precisions_scenario(precision_text(eight_gpus + both, "[numerics]\naccept_numerics = true\n"));
    ASSERT_EQ(several.variants.size(), 2U);
    const StudyModel model(several);
    HardwareBench bench(several, model.problem);
    std::vector<double> steps;
    for (const std::size_t v : {0, 1}) {
        const std::string precision = v == 0 ? "bf16" : "fp8";
        EXPECT_EQ(variant_text(several.choices, several.variants[v]), "precision=" + precision);
        const Scenario only =
            precisions_scenario(precision_text(eight_gpus, "", "precision = \"" + precision + "\"\n"));
        EXPECT_EQ(designs_of(several, v), designs_of(only, 0));
        const StudyModel own(only);
        Predictor predictor(own.problem);
        const ParallelPlan plan{.tp = 2, .pp = 2, .dp = 2};
        const DrawRange range{0, 64, 2};
        EXPECT_EQ(bench.of(v).sample(plan, range, model.sampler({})),
                  predictor.sample(plan, range, own.sampler({})));
        steps.push_back(std::get<NoiseFree>(bench.of(v).bound(plan)).step_s);
        EXPECT_EQ(std::get<NoiseFree>(bench.of(v).bound(plan)).deviation, own.problem.deviation);
    }
    EXPECT_NE(steps[1], steps[0]) << "faster products, but casts of a tiny network";
}

TEST(PrecisionAxis, AGapOfTheLossCostsTokens)
{
    const Scenario gap = precisions_scenario(precision_text(
        eight_gpus + both, "[numerics]\nloss_gap = [{ precision = \"fp8\", low = 0.001, high = 0.003 }]\n"));
    const auto phases = variant_at(gap, gap.variants[1])->phases;
    const auto plain = variant_at(gap, gap.variants[0])->phases;
    EXPECT_EQ(plain[0].tokens, gap.phases[0].tokens);
    const auto expected = longer_phases(gap, std::nullopt, factor_of_gap(gap, gap.workload, 0.002).value());
    for (std::size_t i = 0; i < phases.size(); ++i) {
        EXPECT_GT(phases[i].tokens, plain[i].tokens);
        EXPECT_EQ(phases[i].tokens, expected[i].tokens);
    }
    const Scenario published =
        precisions_scenario(precision_text(eight_gpus + both, "[numerics]\nloss_gap = \"published\"\n"));
    EXPECT_EQ(published.numerics.loss_gap.at("fp8").high, 0.0025);
    EXPECT_FALSE(published.numerics.loss_gap.contains("bf16"));
    EXPECT_THAT(numerics_text(published), HasSubstr("more tokens"));
}

/// The gap of 8 bits is one, whatever has a scale; that of 4 bits is over it.
TEST(PrecisionAxis, KindsOf8BitsHaveOneGap)
{
    std::string text = precision_text(eight_gpus +
                                          "precision = [\"bf16\", \"fp8-delayed\", \"fp8-current\", "
                                          "\"fp8-blockwise\", \"mxfp8\", \"nvfp4\"]\n",
                                      "[numerics]\nloss_gap = \"published\"\n");
    text.replace(text.find("h100-sxm"), 8, "b200-sxm");
    const Scenario published = precisions_scenario(text);
    for (const char* kind : {"fp8-delayed", "fp8-current", "fp8-blockwise", "mxfp8"}) {
        EXPECT_EQ(published.numerics.loss_gap.at(kind).high, 0.0025) << kind;
    }
    EXPECT_DOUBLE_EQ(published.numerics.loss_gap.at("nvfp4").high, 0.0175);
}

TEST(PrecisionAxis, ALimitOfTheDeviationExcludesPrecisions)
{
    const auto over_bf16 = [](Precision precision) { return deviation_from({}, {.precision = precision}); };
    const double ratio = over_bf16(Precision::fp8);
    EXPECT_GT(ratio, 10.0);
    EXPECT_EQ(over_bf16(Precision::bf16), 1.0);
    EXPECT_LT(over_bf16(Precision::fp32), 0.01);
    EXPECT_GT(over_bf16(Precision::nvfp4), ratio);
    const auto limited = [&](double factor) {
        return precisions_scenario(precision_text(
            eight_gpus + both, "[numerics]\nmax_deviation = { factor = " + std::to_string(factor) + " }\n"));
    };
    EXPECT_EQ(limited(1.01 * ratio).variants.size(), 2U);
    const Scenario bf16_alone = limited(0.99 * ratio);
    EXPECT_EQ(bf16_alone.variants.size(), 1U);
    ASSERT_EQ(bf16_alone.variant_counts.excluded.size(), 1U);
    EXPECT_EQ(bf16_alone.variant_counts.excluded.front().why.conflict, Conflict::deviation_over_limit);
    EXPECT_EQ(bf16_alone.variant_counts.excluded.front().first, "precision=fp8");
}

/// Sequences for which the scores of plain attention cost more than the blocks of fused attention.
std::string with_long_sequences(std::string text)
{
    for (const auto& [old, longer] : {std::pair{"sequence_length = 512", "sequence_length = 4096"},
                                      std::pair{"sequence_length = 1024", "sequence_length = 8192"}}) {
        text.replace(text.find(old), std::string(old).size(), longer);
    }
    return text;
}

/// Each kernel has the plans, the bounds and the draws of a study whose workload has it.
TEST(AttentionKernelAxis, JudgesEachKernelAsAlone)
{
    const std::string kernels = "attention_kernel = [\"plain\", \"flash\"]\n";
    const Scenario several = precisions_scenario(
        with_long_sequences(precision_text(eight_gpus + kernels, "[numerics]\naccept_numerics = true\n")));
    ASSERT_EQ(several.variants.size(), 2U);
    const StudyModel model(several);
    HardwareBench bench(several, model.problem);
    std::vector<double> steps;
    for (const std::size_t v : {0, 1}) {
        const std::string kernel = v == 0 ? "plain" : "flash";
        EXPECT_EQ(variant_text(several.choices, several.variants[v]), "attention_kernel=" + kernel);
        std::string text = with_long_sequences(precision_text(eight_gpus, ""));
        const std::string old = "attention = \"flash\"";
        const Scenario only =
            precisions_scenario(text.replace(text.find(old), old.size(), "attention = \"" + kernel + "\""));
        EXPECT_EQ(designs_of(several, v), designs_of(only, 0));
        const StudyModel own(only);
        Predictor predictor(own.problem);
        const ParallelPlan plan{.tp = 2, .pp = 2, .dp = 2};
        const DrawRange range{0, 64, 2};
        EXPECT_EQ(bench.of(v).sample(plan, range, model.sampler({})),
                  predictor.sample(plan, range, own.sampler({})));
        const auto bound = std::get<NoiseFree>(bench.of(v).bound(plan));
        EXPECT_EQ(bound.memory_bytes, std::get<NoiseFree>(predictor.bound(plan)).memory_bytes);
        EXPECT_EQ(bound.deviation, own.problem.deviation);
        steps.push_back(bound.step_s);
    }
    EXPECT_GT(steps[0], steps[1]) << "the scores are written and read";
}

TEST(AttentionKernelAxis, ALimitOfTheDeviationExcludesKernels)
{
    const std::string kernels = "attention_kernel = [\"plain\", \"flash\"]\n";
    const double plain = deviation_from({}, {.kernel = AttentionKernel::plain});
    EXPECT_GT(plain, 1.0);
    const auto limited = [&](const std::string& limit) {
        return precisions_scenario(
            precision_text(eight_gpus + kernels, "[numerics]\nmax_deviation = { " + limit + " }\n"));
    };
    EXPECT_EQ(limited("kernel = \"flash\", factor = 1.0").variants.size(), 1U);
    EXPECT_EQ(limited("kernel = \"plain\", factor = 1.0").variants.size(), 2U);
    EXPECT_EQ(limited("factor = " + std::to_string(1.01 * plain)).variants.size(), 2U);
    EXPECT_THAT(numerics_text(limited("factor = 1.0")), HasSubstr("plain attention"));
    const Scenario all = precisions_scenario(
        precision_text(eight_gpus + both + kernels, "[numerics]\nmax_deviation = { factor = 10 }\n"));
    EXPECT_EQ(all.variants.size(), 2U) << "bf16 with both";
    EXPECT_THAT(numerics_text(all), HasSubstr("fp8 with flash attention"));
}

TEST(AttentionKernelAxis, RefusesWhatHasNoLimit)
{
    const std::string kernels = "attention_kernel = [\"plain\", \"flash\"]\n";
    const auto refused = [](const std::string& space, const std::string& numerics) {
        return [=] { precisions_scenario(precision_text(space, numerics)); };
    };
    const std::string gap = "[numerics]\nloss_gap = \"published\"\n";
    EXPECT_THAT(refused(eight_gpus + kernels, ""), ThrowsMessage<InputError>(HasSubstr("needs [numerics]")));
    EXPECT_THAT(refused(eight_gpus + both + kernels, gap),
                ThrowsMessage<InputError>(HasSubstr("needs [numerics]")));
    EXPECT_THAT(refused(eight_gpus + kernels, gap), ThrowsMessage<InputError>(HasSubstr("has no effect")));
    EXPECT_EQ(
        precisions_scenario(precision_text(eight_gpus + both + kernels, gap + "accept_numerics = true\n"))
            .variants.size(),
        4U);
}

/// Layers in bf16 are those of the trained network; the price is of the choice, by its name.
TEST(PrecisionAxis, SomeLayersStayInSixteenBits)
{
    const std::string mixed =
        "precision = [\"bf16\", \"fp8\", { name = \"ends\", precision = \"fp8\", bf16_first = 1, "
        "bf16_blocks = [\"attention\"] }]\n";
    const Scenario scenario =
        precisions_scenario(precision_text(eight_gpus + mixed,
                                           "[numerics]\nloss_gap = [{ precision = \"fp8\", high = 0.002 }, "
                                           "{ precision = \"ends\", high = 0.001 }]\n"));
    ASSERT_EQ(scenario.variants.size(), 3U);
    EXPECT_EQ(variant_text(scenario.choices, scenario.variants[2]), "precision=ends");
    const auto variant = variant_at(scenario, scenario.variants[2]);
    EXPECT_EQ(variant->workload.precision, Precision::fp8);
    EXPECT_EQ(variant->workload.wide, (WideLayers{.blocks = {"attention"}, .first = 1}));
    EXPECT_EQ(variant->deviation, variant_at(scenario, scenario.variants[1])->deviation);
    EXPECT_EQ(variant->phases[0].tokens,
              longer_phases(scenario, std::nullopt,
                            factor_of_gap(scenario, scenario.workload, 0.0005).value())[0]
                  .tokens);
    EXPECT_THAT(numerics_text(scenario), HasSubstr("ends (fp8, but bf16 in attention, the first layer): "));
    EXPECT_EQ(variant_values(scenario.choices, "precision=ends"), scenario.variants[2]);
}

TEST(PrecisionAxis, RefusesLayersThatCannotStay)
{
    const auto refused = [](const std::string& choice) {
        return [=] {
            precisions_scenario(precision_text(eight_gpus + "precision = [\"fp8\", { " + choice + " }]\n",
                                               "[numerics]\naccept_numerics = true\n"));
        };
    };
    const std::string named = "name = \"a\", precision = \"fp8\", ";
    for (const auto& [choice, why] : std::vector<std::pair<std::string, std::string>>{
             {"precision = \"fp8\", bf16_first = 1", "name"},
             {"name = \"a b\", precision = \"fp8\", bf16_first = 1", "is not one word"},
             {"name = \"bf16\", precision = \"fp8\", bf16_first = 1", "is the name of a precision"},
             {"name = \"a\", precision = \"bf16\", bf16_first = 1", "has no fewer than 16 bits"},
             {"name = \"a\", precision = \"nvfp4\", bf16_first = 1", "does not support"},
             {"name = \"a\", precision = \"fp8\"", "has no exceptions"},
             {"name = \"a\", precision = \"fp8-blockwise\", attention_precision = \"fp8\"",
              "takes no scales of blocks"},
             {named + "attention_precision = \"fp16\"", "is not one of"},
             {named + "attention_precision = \"fp8\", bf16_blocks = [\"attention\"]",
              "no fused attention outside of blocks in bf16"},
             {named + "bf16_first = -1", "is not in"},
             {named + "bf16_first = 1, bf16 = 1", "unknown key"},
             {named + "bf16_first = 1000", "leaves no linear layer in fp8"},
             {named + "bf16_blocks = [\"attention\", \"mlp\"]", "leaves no linear layer in fp8"},
             {named + "bf16_blocks = [\"attention\", \"attention\"]", "is listed twice"},
             {named + "bf16_blocks = [\"mamba2\"]", "has no effect"},
             {named + "bf16_blocks = [\"heads\"]", "is not one of"}}) {
        EXPECT_THAT(refused(choice), ThrowsMessage<InputError>(HasSubstr(why))) << choice;
    }
    EXPECT_THAT(refused(named + "bf16_first = 1 }, { name = \"b\", precision = \"fp8\", bf16_first = 1"),
                ThrowsMessage<InputError>(HasSubstr("another name has the same precision")));
}

/// A choice of its own, which deviates more and takes less time.
TEST(PrecisionAxis, AttentionMayHave8Bits)
{
    const Scenario scenario = precisions_scenario(precision_text(
        eight_gpus +
            "precision = [\"fp8\", { name = \"all\", precision = \"fp8\", attention_precision = \"fp8\" }]\n",
        "[numerics]\nloss_gap = \"published\"\n"));
    ASSERT_EQ(scenario.variants.size(), 2U);
    const auto deviation = [&](std::size_t i) {
        return variant_at(scenario, scenario.variants[i])->deviation;
    };
    EXPECT_GT(deviation(1), deviation(0));
    EXPECT_THAT(numerics_text(scenario), HasSubstr("all (fp8, attention in fp8)"));
    EXPECT_THAT(numerics_text(scenario), HasSubstr("published of runs with attention in bf16"));
}

/// What is published over 32 bits: that 16 bits cost nothing. Nothing is published of tf32.
TEST(PrecisionAxis, PublishedGapsOverThirtyTwoBits)
{
    const std::string published = "[numerics]\nloss_gap = \"published\"\n";
    const std::string fp32 = "precision = \"fp32\"\n";
    const Scenario scenario = precisions_scenario(
        precision_text(eight_gpus + "precision = [\"fp32\", \"bf16\", \"fp8\"]\n", published, fp32));
    EXPECT_EQ(scenario.numerics.loss_gap.at("bf16").high, 0.0);
    EXPECT_EQ(scenario.numerics.loss_gap.at("fp8").high, 0.0025);
    EXPECT_THAT(numerics_text(scenario), HasSubstr("no more tokens for a loss gap of 0 % (0 to 0)"));
    EXPECT_THAT(
        [&] {
            precisions_scenario(
                precision_text(eight_gpus + "precision = [\"fp32\", \"tf32\"]\n", published, fp32));
        },
        ThrowsMessage<InputError>(HasSubstr("has no gap of tf32")));
}

/// The same gap costs a larger network more tokens, since its tokens teach it less.
TEST(PrecisionAxis, StatesThePriceOfEachNetwork)
{
    const auto text = [](const char* second) {
        std::string all = precision_text("workload = [\"llama3-8b\", \"other\"]\n" + eight_gpus + both,
                                         "[numerics]\nloss_gap = \"published\"\n");
        const auto from = all.find("[workload]");
        all.erase(from, all.find("\n[", from) + 1 - from);
        return all.insert(all.find("[space]"),
                          std::string("[networks.other]\nmodel = \"llama3-70b\"\n") + second);
    };
    EXPECT_THAT(numerics_text(precisions_scenario(text(""))),
                testing::ContainsRegex("for llama3-8b, [0-9.]+ % more tokens .* for other, for a loss"));
    EXPECT_THAT([&] { precisions_scenario(text("precision = \"fp32\"\n")); },
                ThrowsMessage<InputError>(HasSubstr("the networks have several")));
    std::string unlike = text("");
    unlike.replace(unlike.find("llama3-70b"), 10, "deepseek-v3");
    unlike.replace(unlike.find(both), both.size(),
                   "precision = [\"fp8\", { name = \"a\", precision = \"fp8\", bf16_blocks = "
                   "[\"latent_attention\"] }]\n");
    EXPECT_THAT([&] { precisions_scenario(unlike); },
                ThrowsMessage<InputError>(HasSubstr("is fp8 under another name for llama3-8b")));
}

/// Embedding tables have no products; those of DLRM are beside linear layers.
TEST(PrecisionAxis, RefusesBlocksWithoutLinearLayers)
{
    const auto text = [](const std::string& block) {
        std::string all = precision_text(
            "workload = [\"dlrm-dcnv2\"]\ngpus = [8]\nep = [8]\nprecision = [{ name = \"a\", precision = "
            "\"fp8\", bf16_blocks = [\"" +
                block + "\"] }]\n",
            "[numerics]\naccept_numerics = true\n");
        const auto from = all.find("[workload]");
        return all.erase(from, all.find("\n[", from) + 1 - from);
    };
    EXPECT_THAT([&] { precisions_scenario(text("tables")); },
                ThrowsMessage<InputError>(HasSubstr("no such block with linear layers")));
    EXPECT_EQ(precisions_scenario(text("interaction")).variants.size(), 1U);
}

TEST(PrecisionAxis, RefusesWhatHasNoPrice)
{
    const auto refused = [](const std::string& space, const std::string& numerics) {
        return [=] { precisions_scenario(precision_text(space, numerics)); };
    };
    EXPECT_THAT(refused(eight_gpus + both, ""), ThrowsMessage<InputError>(HasSubstr("needs [numerics]")));
    EXPECT_THAT(refused(eight_gpus + both, "[numerics]\n"),
                ThrowsMessage<InputError>(HasSubstr("needs [numerics]")));
    EXPECT_THAT(refused(eight_gpus, "[numerics]\naccept_numerics = true\n"),
                ThrowsMessage<InputError>(HasSubstr("has no effect")));
    EXPECT_THAT(refused(eight_gpus + "precision = [\"nvfp4\"]\n", "[numerics]\naccept_numerics = true\n"),
                ThrowsMessage<InputError>(HasSubstr("does not support")));
    EXPECT_THAT(refused(eight_gpus + "precision = [\"fp8\", \"fp8\"]\n",
                        "[numerics]\naccept_numerics = true\n"),
                ThrowsMessage<InputError>(HasSubstr("twice")));
    EXPECT_THAT(refused(eight_gpus + both,
                        "[numerics]\nloss_gap = [{ precision = \"fp8\", low = 0.5, high = 0.9 }]\n"),
                ThrowsMessage<InputError>(
                    testing::AllOf(HasSubstr("no number of tokens"), HasSubstr("give gaps below 0."))));
    EXPECT_THAT(refused(eight_gpus + both,
                        "[numerics]\nloss_gap = [{ precision = \"fp8\", low = 0.5, high = 0.1 }]\n"),
                ThrowsMessage<InputError>(HasSubstr("more than high")));
}

}  // namespace
}  // namespace prismopt
