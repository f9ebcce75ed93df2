/// The global batch as an axis of the space.

#include "io/base/input_error.hpp"
#include "io/scenario/variants.hpp"

#include "model/network/network.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/optimizer/designs_of.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string plans = "gpus = [8, 12]\ntp = [1, 2]\npp = [1, 2, 4]\nmicrobatch = [1, 2]\n";
const std::string batches = "global_batch = [4, 16, 8]\n";
/// The first phase of the tiny study has 1e9 tokens in batches of 8 sequences of 512.
const std::string known =
    "[learning]\nphase = 1\nreference_batch = 4096\ncritical_batch = 10e3\nsource = \"a test\"\n";

std::string text_of(const std::string& space, const std::string& learning, const std::string& search = "")
{
    const std::string text = tiny_scenario("gpus = [8]").text;
    return text.substr(0, text.find("[space]")) + learning + "[space]\n" + space + "[search]\n" + search;
}

Scenario parsed(const std::string& text) { return parse_scenario(text, "batches.toml"); }

/// Only this batch and this number of tokens in the first phase.
Scenario batch_alone(int batch, double tokens)
{
    std::string text = text_of(plans, "");
    const auto put = [&text](const std::string& old, const std::string& replacement) {
        text.replace(text.find(old), old.size(), replacement);
    };
    put("global_batch = 8\n", "global_batch = " + std::to_string(batch) + "\n");
    put("tokens = 1e9\n", "tokens = " + std::to_string(tokens) + "\n");
    return parsed(text);
}

/// Each batch has the plans, the bounds and the draws of a study with that batch and its tokens.
TEST(BatchAxis, JudgesEachBatchAsAlone)
{
    const Scenario several = parsed(text_of(plans + batches, known));
    ASSERT_EQ(several.variants.size(), 3U);
    const StudyModel model(several);
    HardwareBench bench(several, model.problem);
    std::set<std::size_t> counts;
    for (std::size_t v = 0; v < 3; ++v) {
        const int batch = std::array{4, 8, 16}[v];
        EXPECT_EQ(variant_text(several.choices, several.variants[v]),
                  "global_batch=" + std::to_string(batch));
        const Problem& problem = bench.problem(v);
        const double tokens = 1e9 * (1.0 + batch * 512 / 10e3) / (1.0 + 4096 / 10e3);
        EXPECT_GE(problem.phases[0].tokens, tokens * (1.0 - 1e-12));
        EXPECT_LT(problem.phases[0].tokens, tokens + batch * 512);
        const Scenario only = batch_alone(batch, problem.phases[0].tokens);
        EXPECT_EQ(designs_of(several, v), designs_of(only, 0)) << batch;
        counts.insert(designs_of(several, v).size());
        const StudyModel own(only);
        Predictor predictor(own.problem);
        const ParallelPlan plan{.tp = 2, .pp = 2, .dp = 2};
        const DrawRange range{0, 64, 2};
        EXPECT_EQ(bench.of(v).sample(plan, range, model.sampler({})),
                  predictor.sample(plan, range, own.sampler({})));
        const auto bound = bench.of(v).bound(plan);
        const auto expected = predictor.bound(plan);
        EXPECT_EQ(std::get<NoiseFree>(bound).training_p99_s, std::get<NoiseFree>(expected).training_p99_s);
    }
    EXPECT_GT(counts.size(), 1U) << "a batch of 4 has fewer plans";
}

/// The phase that the tokens belong to is not changed by what is known about other batches.
TEST(BatchAxis, TheReferenceBatchIsTheStudyWithoutLearning)
{
    const Scenario several = parsed(text_of(plans + batches, known));
    const Scenario plain = parsed(text_of(plans, ""));
    const auto phases = variant_at(several, several.variants[1])->phases;
    EXPECT_EQ(phases[0].tokens, plain.phases[0].tokens);
    EXPECT_EQ(phases[0].steps(), plain.phases[0].steps());
    const auto others = variant_at(several, several.variants[2])->phases;
    EXPECT_EQ(others[1].tokens, plain.phases[1].tokens) << "of the other phase";
    EXPECT_EQ(others[1].global_batch, plain.phases[1].global_batch);
    EXPECT_EQ(parsed(text_of(plans, known)).phases[0].tokens, plain.phases[0].tokens);
    std::string other = known;
    other.replace(other.find("4096"), 4, "2048");
    EXPECT_GT(parsed(text_of(plans, other)).phases[0].tokens, plain.phases[0].tokens)
        << "trained at twice the reference batch";
}

TEST(BatchAxis, FormulasGiveTheCriticalBatch)
{
    const std::string of = "[learning]\nphase = 1\nreference_batch = 4096\n";
    const Scenario tokens = parsed(text_of(plans + batches, of + "formula = \"zhang-2024\"\n"));
    EXPECT_NEAR(tokens.learning->critical.front().batch, 5 * 589 * 512, 5 * 512);  // 1e9 tokens
    const double parameters = parameters_of(network_of(tokens.workload));
    EXPECT_NEAR(tokens.learning->extrapolated, 85e6 / parameters, 1e-12)
        << "farther than in tokens, 1.7e9 / 1e9";
    EXPECT_THAT(tokens.learning->source, HasSubstr("2410.21676"));
    EXPECT_THAT(tokens.learning->source, HasSubstr("20 % more steps")) << "what the formula calls critical";
    const Scenario loss =
        parsed(text_of(plans + batches, of + "formula = \"kaplan-2020\"\nloss = 2.5\nfactor = 3\n"));
    EXPECT_NEAR(loss.learning->critical.front().batch, 2.55e6, 0.01e6);
    EXPECT_NEAR(loss.learning->spread, std::log(3.0) / 1.96, 1e-4);
    std::string more = text_of(plans + batches, of + "formula = \"zhang-2024\"\n");
    more.replace(more.find("tokens = 1e9"), 12, "tokens = 96e9");
    EXPECT_NEAR(parsed(more).learning->extrapolated, 4.0, 1e-12);
    // The tokens of earlier phases count.
    std::string second = more;
    second.replace(second.find("phase = 1"), 9, "phase = 2");
    const double all = parsed(second).phases[0].tokens + parsed(text_of(plans, "")).phases[1].tokens;
    EXPECT_NEAR(parsed(second).learning->extrapolated, all / 24e9, 1e-9);
}

/// A ramp is phases of the same plan.
TEST(BatchAxis, ARampIsPhases)
{
    const Scenario ramped = parsed(text_of(
        plans, known + "ramp = [{ tokens = 10e6, global_batch = 2 }, { tokens = 1e8, global_batch = 4 }]\n"));
    ASSERT_EQ(ramped.phases.size(), 4U);
    EXPECT_EQ(ramped.phases[0].global_batch, 2);
    EXPECT_EQ(ramped.phases[1].global_batch, 4);
    EXPECT_EQ(ramped.phases[2].global_batch, 8);
    EXPECT_EQ(ramped.phases[3].global_batch, parsed(text_of(plans, "")).phases[1].global_batch)
        << "of the other phase";
    EXPECT_NEAR(ramped.phases[0].tokens, 10e6, 2 * 512);
    EXPECT_LT(ramped.phases[2].tokens, 1e9 - 1.1e8);
    const Scenario curve = parsed(
        text_of(plans,
                "[learning]\nphase = 1\nreference_batch = 4096\nsource = \"a test\"\nramp = [{ tokens = 1e8, "
                "global_batch = 4 }]\ncritical_batch = [{ tokens = 0, batch = 1e3 }, { tokens = 1e8, batch = "
                "10e3 }]\n"));
    ASSERT_EQ(curve.learning->critical.size(), 2U);
    EXPECT_EQ(curve.learning->critical[1].batch, 10e3);
    EXPECT_LT(curve.phases[1].tokens, ramped.phases[2].tokens + 1e7)
        << "small batches teach more while the critical batch is small";
}

TEST(BatchAxis, RefusesWhatHasNoPrice)
{
    const auto refused = [](const std::string& space, const std::string& learning) {
        return [=] { parsed(text_of(space, learning)); };
    };
    const std::string of = "[learning]\nphase = 1\nreference_batch = 4096\n";
    EXPECT_THAT(refused(plans + batches, ""), ThrowsMessage<InputError>(HasSubstr("needs [learning]")));
    EXPECT_THAT(refused(plans + batches, of), ThrowsMessage<InputError>(HasSubstr("critical_batch")));
    EXPECT_THAT(refused(plans + batches, of + "critical_batch = 1e4\n"),
                ThrowsMessage<InputError>(HasSubstr("source")));
    EXPECT_THAT(refused(plans + batches, of + "formula = \"kaplan-2020\"\n"),
                ThrowsMessage<InputError>(HasSubstr("loss")));
    EXPECT_THAT(refused(plans + batches, of + "formula = \"zhang-2024\"\nloss = 2\n"),
                ThrowsMessage<InputError>(HasSubstr("has no effect")));
    EXPECT_THAT(refused(plans + batches, of + "formula = \"zhang-2024\"\nsource = \"x\"\n"),
                ThrowsMessage<InputError>(HasSubstr("has no effect")));
    EXPECT_THAT(refused(plans,
                        "[learning]\nphase = 1\nreference_batch = 8\ncritical_batch = 1e4\nsource = \"x\"\n"),
                ThrowsMessage<InputError>(HasSubstr("less than one sequence")));
    EXPECT_THAT(refused(plans, of + "critical_batch = 20\nsource = \"x\"\n"),
                ThrowsMessage<InputError>(HasSubstr("less than one sequence")));
    EXPECT_THAT(refused(plans + batches, known + "formula = \"zhang-2024\"\n"),
                ThrowsMessage<InputError>(HasSubstr("cannot be combined with formula")));
    EXPECT_THAT(refused(plans + batches, known + "max_global_batch = 8\n"),
                ThrowsMessage<InputError>(HasSubstr("less than a batch")));
    EXPECT_THAT(refused(plans, "[learning]\nreference_batch = 1\ncritical_batch = 1\nsource = \"x\"\n"),
                ThrowsMessage<InputError>(HasSubstr("phase")));
    EXPECT_THAT(refused(plans,
                        "[learning]\nphase = 3\nreference_batch = 1\ncritical_batch = 1\nsource = \"x\"\n"),
                ThrowsMessage<InputError>(HasSubstr("does not exist")));
    EXPECT_THAT(refused(plans + "global_batch = [8, 8]\n", known),
                ThrowsMessage<InputError>(HasSubstr("twice")));
    const std::string ramp = "ramp = [{ tokens = 1e6, global_batch = 2 }]\n";
    EXPECT_THAT(refused(plans + batches, known + ramp),
                ThrowsMessage<InputError>(HasSubstr("cannot be combined with global_batch")));
    EXPECT_THAT(refused(plans, known + "ramp = [{ tokens = 2e9, global_batch = 4 }]\n"),
                ThrowsMessage<InputError>(HasSubstr("longer than the run")));
    EXPECT_THAT(refused(plans,
                        known + "max_global_batch = 8\nramp = [{ tokens = 1e6, global_batch = 16 }]\n"),
                ThrowsMessage<InputError>(HasSubstr("less than a batch")));
    EXPECT_THAT(refused(plans, known + "ramp = [{ tokens = 1e6 }]\n"),
                ThrowsMessage<InputError>(HasSubstr("global_batch")));
    std::string unsorted = known;
    unsorted.replace(unsorted.find("10e3"), 4,
                     "[{ tokens = 1e6, batch = 1e3 }, { tokens = 0, batch = 2e3 }]");
    EXPECT_THAT(refused(plans, unsorted), ThrowsMessage<InputError>(HasSubstr("order of the run")));
}

}  // namespace
}  // namespace prismopt
