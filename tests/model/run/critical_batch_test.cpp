#include "model/run/critical_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace prismopt {
namespace {

Learning learning(double reference, double critical)
{
    Learning of;
    of.as_given = {.tokens = 1e12, .sequence = 1024, .global_batch = 4096};
    of.reference_batch = reference;
    of.critical = {{0.0, critical}};
    return of;
}

/// A critical batch that rises from near zero, and stays at 8M tokens after half of the run.
Learning rising(double reference)
{
    Learning of = learning(reference, 0.0);
    of.critical = {{0.0, 1e4}, {1e11, 3e6}, {5e11, 8e6}};
    return of;
}

double tokens_at(const Learning& of, int global_batch) { return phases_of(of, global_batch).front().tokens; }

double total(const std::vector<Phase>& phases)
{
    double tokens = 0.0;
    for (const Phase& phase : phases) {
        tokens += phase.tokens;
    }
    return tokens;
}

/// Trains by small steps. Returns the tokens to the end of the run in the batches of a ramp,
/// [stage]; the last is the rest.
std::vector<double> trained_by_steps(const Learning& of, int global_batch)
{
    const auto critical = [&](double at) {
        const auto& points = of.critical;
        for (std::size_t i = 1; i < points.size(); ++i) {
            if (at < points[i].tokens) {
                const double share = (at - points[i - 1].tokens) / (points[i].tokens - points[i - 1].tokens);
                return points[i - 1].batch + share * (points[i].batch - points[i - 1].batch);
            }
        }
        return points.back().batch;
    };
    std::vector<double> trained(of.ramp.size() + 1, 0.0);
    constexpr int steps = 200'000;
    const double step = of.as_given.tokens / steps;
    std::size_t stage = 0;
    for (int i = 0; i < steps; ++i) {
        const double c = critical((i + 0.5) * step);
        const int sequences = stage < of.ramp.size() ? of.ramp[stage].global_batch : global_batch;
        trained[stage] += step * (c + 1024.0 * sequences) / (c + of.reference_batch);
        stage += stage < of.ramp.size() && trained[stage] >= of.ramp[stage].tokens ? 1 : 0;
    }
    return trained;
}

const CriticalBatchFormula& formula(std::string_view name)
{
    const auto formulas = critical_batch_formulas();
    return *std::find_if(formulas.begin(), formulas.end(),
                         [name](const CriticalBatchFormula& of) { return of.name == name; });
}

TEST(CriticalBatch, TwiceTheLeastTokensAndStepsAtTheCriticalBatch)
{
    const double critical = 4096.0 * 1024.0;
    const Learning small = learning(1e-12 * critical, critical);  // needs the least tokens
    EXPECT_NEAR(tokens_at(small, 4096), 2.0 * 1e12, critical);
    // S_min = E_min / B_crit.
    EXPECT_NEAR(phases_of(small, 4096).front().steps(), 2.0 * 1e12 / critical, 1.0);
    // Any batch is on the hyperbola of steps and tokens, but for whole steps.
    const double fewest_steps = 1e12 / critical;
    for (const int batch : {1, 64, 1000, 4096, 100'000}) {
        const std::vector<Phase> phases = phases_of(small, batch);
        ASSERT_EQ(phases.size(), 1U);
        EXPECT_EQ(phases.front().global_batch, batch);
        EXPECT_EQ(phases.front().steps(), std::round(phases.front().steps()));
        const double product =
            (phases.front().steps() / fewest_steps - 1.0) * (phases.front().tokens / 1e12 - 1.0);
        const double step = batch / 4096.0 * critical / 1e12;  // relative to the least tokens
        EXPECT_NEAR(product, 1.0, 2.0 * step * (phases.front().steps() / fewest_steps + 4096.0 / batch));
    }
}

TEST(CriticalBatch, TheReferenceBatchChangesNothing)
{
    for (Learning of : {learning(4096.0 * 1024.0, 3e6), rising(4096.0 * 1024.0)}) {
        of.as_given.tokens = 1234567890123.0;  // no whole number of steps
        const Phase same = phases_of(of, 4096).front();
        EXPECT_EQ(same.tokens, of.as_given.tokens);
        EXPECT_EQ(same.steps(), of.as_given.steps());
        EXPECT_GT(tokens_at(of, 4097), of.as_given.tokens);
        EXPECT_LT(tokens_at(of, 2048), of.as_given.tokens);
        EXPECT_GT(phases_of(of, 2048).front().steps(), of.as_given.steps());
    }
}

TEST(CriticalBatch, IntegratesACriticalBatchThatChanges)
{
    for (const int batch : {64, 2048, 4096, 20'000}) {
        for (const Learning& of : {rising(3e6), rising(2e5), learning(3e6, 5e6)}) {
            const double step = 1024.0 * batch;
            EXPECT_NEAR(tokens_at(of, batch), trained_by_steps(of, batch).front(),
                        step + 1e-6 * of.as_given.tokens)
                << batch;
        }
    }
    // A batch far above the critical one at the beginning costs more than the critical batch of the end says.
    Learning end = rising(2e5);
    end.critical = {end.critical.back()};
    EXPECT_GT(tokens_at(rising(2e5), 4096), 1.01 * tokens_at(end, 4096));
}

TEST(CriticalBatch, ARampTrainsTheRestInTheLastBatch)
{
    for (Learning of : {rising(3e6), learning(3e6, 5e6)}) {
        of.ramp = {{1e11, 256}, {3e11, 1024}};
        const std::vector<Phase> phases = phases_of(of, 4096);
        const std::vector<double> expected = trained_by_steps(of, 4096);
        ASSERT_EQ(phases.size(), 3U);
        for (std::size_t i = 0; i < 3; ++i) {
            const int batch = std::array{256, 1024, 4096}[i];
            EXPECT_EQ(phases[i].global_batch, batch);
            EXPECT_EQ(phases[i].steps(), std::round(phases[i].steps()));
            EXPECT_NEAR(phases[i].tokens, expected[i], 2.0 * 1024.0 * 4096 + 3e-5 * of.as_given.tokens);
        }
        EXPECT_EQ(total(phases_of(with_larger_critical_batches(of, 1.0), 4096)), total(phases));
        const Learning larger = with_larger_critical_batches(of, 4.0);
        EXPECT_NEAR(phases_of(larger, 4096).back().tokens, trained_by_steps(larger, 4096).back(),
                    1e-4 * of.as_given.tokens);
        EXPECT_GT(std::abs(total(phases_of(larger, 4096)) - total(phases)), 1e-2 * of.as_given.tokens);
    }
}

TEST(CriticalBatch, ARampThatIsTooLongEndsWithTheRun)
{
    Learning of = learning(3e6, 5e6);
    of.ramp = {{1e11, 256}, {3e12, 1024}, {1e11, 2048}};
    const std::vector<Phase> phases = phases_of(of, 4096);
    ASSERT_EQ(phases.size(), 2U);
    EXPECT_LT(phases.back().tokens, 1e12);
}

/// OLMo 1B doubled its batch of 1,024 sequences of 4,096 tokens after 168e9 and 503e9 tokens, at
/// no loss (Merrill et al., arXiv
/// 2505.23971, sections 4.2 and 4.3). Their "43 % fewer gradient steps" are of 608e9 tokens and of the 50e9
/// of mid-training, which keeps the last batch; the 608e9 alone have 40.5 % fewer.
TEST(CriticalBatch, StepsOfOlmosRamp)
{
    const auto fewer_steps = [](double tokens) {
        Learning of = learning(4096.0 * 1024.0, 1e15);
        of.as_given = {.tokens = tokens, .sequence = 4096, .global_batch = 4096};
        const double constant = phases_of(of, 1024).front().steps();
        of.ramp = {{168e9, 1024}, {335e9, 2048}};
        double steps = 0.0;
        for (const Phase& phase : phases_of(of, 4096)) {
            steps += phase.steps();
        }
        return 1.0 - steps / constant;
    };
    EXPECT_NEAR(fewer_steps(658e9), 0.4312, 0.0001);
    EXPECT_NEAR(fewer_steps(608e9), 0.4050, 0.0001);
}

TEST(CriticalBatch, KnownValues)
{
    EXPECT_NEAR(formula("kaplan-2020").critical_batch(2.5), 2.55e6, 0.005e6);
    const double sequences = formula("zhang-2024").critical_batch(1e9) / 512.0 / 5.0;
    EXPECT_NEAR(sequences, 589.0, 0.5);
}

TEST(CriticalBatch, FormulasSayWhatTheyAre)
{
    for (const CriticalBatchFormula& of : critical_batch_formulas()) {
        EXPECT_FALSE(of.definition.empty());
        EXPECT_FALSE(of.source.empty());
        EXPECT_GT(of.values.beyond(0.5 * of.values.least), 1.0);
        EXPECT_GT(of.parameters.beyond(2.0 * of.parameters.most), 1.0);
    }
}

}  // namespace
}  // namespace prismopt
