#include "model/run/batch_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace prismopt {
namespace {

Learning learning(double reference, double critical)
{
    Learning of;
    of.as_given = {.tokens = 1e12, .sequence = 1024, .global_batch = 4096};
    of.reference_batch = reference;
    of.critical_batch = critical;
    return of;
}

const CriticalBatchLaw& law(std::string_view name)
{
    const auto laws = critical_batch_laws();
    return *std::find_if(laws.begin(), laws.end(), [name](const CriticalBatchLaw& of) { return of.name == name; });
}

TEST(BatchLaw, TwiceTheLeastTokensAndStepsAtTheCriticalBatch)
{
    const double critical = 4096.0 * 1024.0;
    const Learning small = learning(1e-12 * critical, critical);  // needs the least tokens
    EXPECT_NEAR(tokens_at(small, critical), 2.0 * 1e12, 1e4);
    const Phase at = at_batch(small, 4096);
    EXPECT_NEAR(at.steps(), 2.0 * 1e12 / critical, 1.0);  // S_min = E_min / B_crit
    // Any batch is on the hyperbola of steps and tokens.
    const double fewest_steps = 1e12 / critical;
    for (const int batch : {1, 64, 1000, 4096, 100'000}) {
        const Phase phase = at_batch(small, batch);
        const double steps = tokens_at(small, 1024.0 * batch) / (1024.0 * batch);
        EXPECT_NEAR((steps / fewest_steps - 1.0) * (tokens_at(small, 1024.0 * batch) / 1e12 - 1.0), 1.0, 1e-6);
        EXPECT_EQ(phase.global_batch, batch);
        EXPECT_EQ(phase.steps(), std::ceil(steps));
    }
}

TEST(BatchLaw, TheReferenceBatchChangesNothing)
{
    Learning of = learning(4096.0 * 1024.0, 3e6);
    of.as_given.tokens = 1234567890123.0;  // no whole number of steps
    const Phase same = at_batch(of, 4096);
    EXPECT_EQ(same.tokens, of.as_given.tokens);
    EXPECT_EQ(same.steps(), of.as_given.steps());
    EXPECT_GT(at_batch(of, 4097).tokens, of.as_given.tokens);
    EXPECT_LT(at_batch(of, 2048).tokens, of.as_given.tokens);
    EXPECT_GT(at_batch(of, 2048).steps(), of.as_given.steps());
}

TEST(BatchLaw, EffectOfTheCriticalBatchIsTheDerivative)
{
    const Learning of = learning(2e6, 5e6);
    for (const double batch : {1e5, 2e6, 1e7, 1e9}) {
        Learning more = of;
        Learning less = of;
        more.critical_batch *= std::exp(1e-4);
        less.critical_batch *= std::exp(-1e-4);
        const double slope = std::log(tokens_at(more, batch) / tokens_at(less, batch)) / 2e-4;
        EXPECT_NEAR(effect_of_critical_batch(of, batch), slope, 1e-7);
    }
}

TEST(BatchLaw, KnownValues)
{
    EXPECT_NEAR(law("kaplan-2020").critical_batch(2.5), 2.55e6, 0.005e6);
    const double sequences = law("zhang-2024").critical_batch(1e9) / 512.0 / 5.0;
    EXPECT_NEAR(sequences, 589.0, 0.5);
}

TEST(BatchLaw, LawsSayWhatTheyAre)
{
    for (const CriticalBatchLaw& of : critical_batch_laws()) {
        EXPECT_FALSE(of.definition.empty());
        EXPECT_FALSE(of.source.empty());
        EXPECT_GT(of.range_end, 0.0);
    }
}

}  // namespace
}  // namespace prismopt
