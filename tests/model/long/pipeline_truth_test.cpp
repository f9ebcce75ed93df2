/// Single pipelines against a million draws of a simulation that shares no code with the sampler.

#include "tests/support/plain_pipeline.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

namespace prismopt {
namespace {

constexpr int draws = 1'024'000;  // whole blocks, halved too

TEST(PlainPipeline, MatchesInTheTail)
{
    for (const PlainCase& c : plain_cases()) {
        const std::vector<double> plain = plain_pipeline_draws(4, 8, c.noise, draws);
        const std::vector<double> fast = sampled_pipeline(4, 8, c.noise, 4 * draws);
        for (const double p : {0.5, 0.99, 0.999}) {
            const double score = score_of_quantile(fast, plain, p);
            EXPECT_LT(std::abs(score), 3.29) << c.name << ", p = " << p;  // joint 99.9 % interval
            RecordProperty(std::string(c.name) + ", p = " + std::to_string(p) + ", joint errors",
                           std::to_string(score));
        }
    }
}

constexpr std::array probabilities{0.5, 0.99, 0.999};

/// Quantiles of p = 16, m = 64 with their standard errors, as PrintsTheReference gave them.
struct Stored {
    double value;
    double error;
};
constexpr std::array<std::array<Stored, 3>, 3> stored{{
    {{{257.07914, 0.00089}, {258.78071, 0.00324}, {259.35823, 0.00574}}},
    {{{301.99311, 0.00572}, {312.86574, 0.01897}, {316.83600, 0.05277}}},
    {{{259.54932, 0.00346}, {266.73862, 0.01481}, {269.77916, 0.03328}}},
}};

TEST(PlainPipeline, MatchesStoredQuantilesOfADeepOne)
{
    const auto cases = plain_cases();
    for (std::size_t c = 0; c < stored.size(); ++c) {
        const std::vector<double> fast = sampled_pipeline(16, 64, cases[c].noise, draws / 2);
        for (std::size_t k = 0; k < probabilities.size(); ++k) {
            const double p = probabilities[k];
            const double error = std::hypot(quantile_error(fast, p), stored[c][k].error);
            const double difference = sorted_quantile(fast, p) - stored[c][k].value;
            // Joint 99.9 % interval.
            EXPECT_LT(std::abs(difference), 3.29 * error) << cases[c].name << ", p = " << p;
            RecordProperty(std::string(cases[c].name) + ", p = " + std::to_string(p),
                           std::to_string(difference / error) + " joint errors; " +
                               std::to_string(100.0 * difference / stored[c][k].value) + " %");
        }
    }
}

/// model_long_tests --gtest_filter='*PrintsTheReference' --gtest_also_run_disabled_tests: minutes.
TEST(PlainPipeline, DISABLED_PrintsTheReference)
{
    for (const PlainCase& c : plain_cases()) {
        const std::vector<double> plain = plain_pipeline_draws(16, 64, c.noise, 1'000'000);
        for (const double p : probabilities) {
            std::printf("{%.5f, %.5f}, ", sorted_quantile(plain, p), quantile_error(plain, p));
        }
        std::printf("  // %s\n", c.name);
    }
}

}  // namespace
}  // namespace prismopt
