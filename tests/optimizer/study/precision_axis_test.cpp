/// The precision as an axis of the space.

#include "io/scenario/hardware_variants.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "tests/optimizer/designs_of.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string plans = "gpus = [8]\ntp = [1, 2]\npp = [1, 2]\n";
const std::string both = "precision = [\"bf16\", \"fp8\"]\n";

/// The tiny study on an accelerator with fp8.
std::string text_of(const std::string& space, const std::string& numerics, const std::string& workload = "")
{
    std::string text = tiny_scenario("gpus = [8]").text;
    const auto accelerator = text.find("accelerator = \"");
    text.replace(accelerator, text.find('\n', accelerator) - accelerator, "accelerator = \"h100-sxm\"");
    if (!workload.empty()) {
        text.insert(text.find("[workload]\n") + 11, workload);
    }
    return text.substr(0, text.find("[space]")) + numerics + "[space]\n" + space + "[search]\n";
}

Scenario parsed(const std::string& text) { return parse_scenario(text, "precisions.toml"); }

/// Each precision has the plans, the bounds and the draws of a study whose workload has it.
TEST(PrecisionAxis, JudgesEachPrecisionAsAlone)
{
    const Scenario several = parsed(text_of(plans + both, "[numerics]\naccept_numerics = true\n"));
    ASSERT_EQ(several.hardware.size(), 2U);
    const StudyModel model(several);
    HardwareBench bench(several, model.problem);
    std::vector<double> steps;
    for (const std::size_t v : {0, 1}) {
        const std::string precision = v == 0 ? "bf16" : "fp8";
        EXPECT_EQ(hardware_text(several.hardware_parameters, several.hardware[v]), "precision=" + precision);
        const Scenario only = parsed(text_of(plans, "", "precision = \"" + precision + "\"\n"));
        EXPECT_EQ(designs_of(several, v), designs_of(only, 0));
        const StudyModel own(only);
        Predictor predictor(own.problem);
        const ParallelPlan plan{.tp = 2, .pp = 2, .dp = 2};
        const DrawRange range{0, 64, 2};
        EXPECT_EQ(bench.of(v).sample(plan, range, model.sampler({})), predictor.sample(plan, range, own.sampler({})));
        steps.push_back(std::get<NoiseFree>(bench.of(v).bound(plan)).step_s);
        EXPECT_EQ(std::get<NoiseFree>(bench.of(v).bound(plan)).deviation, own.problem.deviation);
    }
    EXPECT_NE(steps[1], steps[0]) << "faster products, but casts of a tiny network";
}

TEST(PrecisionAxis, AGapOfTheLossCostsTokens)
{
    const Scenario gap =
        parsed(text_of(plans + both, "[numerics]\nloss_gap = [{ precision = \"fp8\", low = 0.001, high = 0.003 }]\n"));
    const auto phases = variant_at(gap, gap.hardware[1])->phases;
    const auto plain = variant_at(gap, gap.hardware[0])->phases;
    EXPECT_EQ(plain[0].tokens, gap.phases[0].tokens);
    const auto expected = phases_despite_gap(gap.phases, gap.workload, 0.002);
    ASSERT_TRUE(expected.has_value());
    for (std::size_t i = 0; i < phases.size(); ++i) {
        EXPECT_GT(phases[i].tokens, plain[i].tokens);
        EXPECT_EQ(phases[i].tokens, (*expected)[i].tokens);
    }
    const Scenario published = parsed(text_of(plans + both, "[numerics]\nloss_gap = \"published\"\n"));
    EXPECT_EQ(published.numerics.loss_gap.at(Precision::fp8).high, 0.0025);
    EXPECT_FALSE(published.numerics.loss_gap.contains(Precision::bf16));
    EXPECT_THAT(numerics_text(published), HasSubstr("more tokens"));
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
        return parsed(text_of(plans + both, "[numerics]\nmax_deviation = { factor = " + std::to_string(factor) + " }\n"));
    };
    EXPECT_EQ(limited(1.01 * ratio).hardware.size(), 2U);
    EXPECT_EQ(limited(0.99 * ratio).hardware.size(), 1U);
}

/// Each kernel has the plans, the bounds and the draws of a study whose workload has it.
TEST(AttentionKernelAxis, JudgesEachKernelAsAlone)
{
    const std::string kernels = "attention_kernel = [\"plain\", \"flash\"]\n";
    const Scenario several = parsed(text_of(plans + kernels, "[numerics]\naccept_numerics = true\n"));
    ASSERT_EQ(several.hardware.size(), 2U);
    const StudyModel model(several);
    HardwareBench bench(several, model.problem);
    std::vector<double> steps;
    for (const std::size_t v : {0, 1}) {
        const std::string kernel = v == 0 ? "plain" : "flash";
        EXPECT_EQ(hardware_text(several.hardware_parameters, several.hardware[v]), "attention_kernel=" + kernel);
        std::string text = text_of(plans, "");
        const std::string old = "attention = \"flash\"";
        const Scenario only = parsed(text.replace(text.find(old), old.size(), "attention = \"" + kernel + "\""));
        EXPECT_EQ(designs_of(several, v), designs_of(only, 0));
        const StudyModel own(only);
        Predictor predictor(own.problem);
        const ParallelPlan plan{.tp = 2, .pp = 2, .dp = 2};
        const DrawRange range{0, 64, 2};
        EXPECT_EQ(bench.of(v).sample(plan, range, model.sampler({})), predictor.sample(plan, range, own.sampler({})));
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
        return parsed(text_of(plans + kernels, "[numerics]\nmax_deviation = { " + limit + " }\n"));
    };
    EXPECT_EQ(limited("kernel = \"flash\", factor = 1.0").hardware.size(), 1U);
    EXPECT_EQ(limited("kernel = \"plain\", factor = 1.0").hardware.size(), 2U);
    EXPECT_EQ(limited("factor = " + std::to_string(1.01 * plain)).hardware.size(), 2U);
    EXPECT_THAT(numerics_text(limited("factor = 1.0")), HasSubstr("plain attention"));
    const Scenario all = parsed(text_of(plans + both + kernels, "[numerics]\nmax_deviation = { factor = 10 }\n"));
    EXPECT_EQ(all.hardware.size(), 2U) << "bf16 with both";
    EXPECT_THAT(numerics_text(all), HasSubstr("fp8 with flash attention"));
}

TEST(AttentionKernelAxis, RefusesWhatHasNoLimit)
{
    const std::string kernels = "attention_kernel = [\"plain\", \"flash\"]\n";
    const auto refused = [](const std::string& space, const std::string& numerics) {
        return [=] { parsed(text_of(space, numerics)); };
    };
    const std::string gap = "[numerics]\nloss_gap = \"published\"\n";
    EXPECT_THAT(refused(plans + kernels, ""), ThrowsMessage<InputError>(HasSubstr("needs [numerics]")));
    EXPECT_THAT(refused(plans + both + kernels, gap), ThrowsMessage<InputError>(HasSubstr("needs [numerics]")));
    EXPECT_THAT(refused(plans + kernels, gap), ThrowsMessage<InputError>(HasSubstr("has no effect")));
    EXPECT_EQ(parsed(text_of(plans + both + kernels, gap + "accept_numerics = true\n")).hardware.size(), 4U);
}

TEST(PrecisionAxis, RefusesWhatHasNoPrice)
{
    const auto refused = [](const std::string& space, const std::string& numerics) {
        return [=] { parsed(text_of(space, numerics)); };
    };
    EXPECT_THAT(refused(plans + both, ""), ThrowsMessage<InputError>(HasSubstr("needs [numerics]")));
    EXPECT_THAT(refused(plans + both, "[numerics]\n"), ThrowsMessage<InputError>(HasSubstr("needs [numerics]")));
    EXPECT_THAT(refused(plans, "[numerics]\naccept_numerics = true\n"), ThrowsMessage<InputError>(HasSubstr("has no effect")));
    EXPECT_THAT(refused(plans + "precision = [\"nvfp4\"]\n", "[numerics]\naccept_numerics = true\n"),
                ThrowsMessage<InputError>(HasSubstr("does not support")));
    EXPECT_THAT(refused(plans + "precision = [\"fp8\", \"fp8\"]\n", "[numerics]\naccept_numerics = true\n"),
                ThrowsMessage<InputError>(HasSubstr("twice")));
    EXPECT_THAT(refused(plans + both, "[numerics]\nloss_gap = [{ precision = \"fp8\", low = 0.5, high = 0.9 }]\n"),
                ThrowsMessage<InputError>(HasSubstr("no number of tokens")));
    EXPECT_THAT(refused(plans + both, "[numerics]\nloss_gap = [{ precision = \"fp8\", low = 0.5, high = 0.1 }]\n"),
                ThrowsMessage<InputError>(HasSubstr("more than high")));
}

}  // namespace
}  // namespace prismopt
