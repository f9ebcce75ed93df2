#include "model/promise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace prismopt {
namespace {

TEST(PromiseFactor, WithoutTheModelErrorIsOne)
{
    const Promise exact{.probability = 0.9, .model_error = false};
    EXPECT_EQ(promise_quantiles(exact, 0.6), std::vector{0.9});
    EXPECT_EQ(promise_factor(exact, 0.9, {}), 1.0);
    EXPECT_TRUE(promise_quantiles({.probability = 0.55, .model_error = false}, 0.6).empty());
    EXPECT_TRUE(promise_quantiles({.probability = 0.55, .model_error = true}, 0.6).empty());
}

/// A training time of which no draw is below its quantile b with more than the probability of that: the worst
/// case has b itself, or nothing.
double least_promised(double below, double probability, double weight, double deviation, double others,
                      std::mt19937& random)
{
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<double> times;
    for (int i = 0; i < 200'000; ++i) {
        const double time = uniform(random) < below ? 0.0 : 1.0;
        times.push_back(time * (uniform(random) < weight ? std::exp(deviation * normal(random)) : others));
    }
    const auto at =
        times.begin() + static_cast<std::ptrdiff_t>(probability * static_cast<double>(times.size()));
    std::nth_element(times.begin(), at, times.end());
    return *at;
}

/// The factor is reached by the worst case, and by no deviation that is allowed does it get lower.
TEST(PromiseFactor, IsThatOfTheWorstCase)
{
    constexpr double as_fast_as_it_likes = -std::numeric_limits<double>::infinity();
    std::mt19937 random(3);
    for (const double weight : {1.0, 0.6, 0.3}) {
        for (const double probability : {0.8, 0.9, 0.95}) {
            const Promise promise{probability, true};
            const LeastModelError error{{{weight, 0.0, 0.1}, {1.0 - weight, as_fast_as_it_likes, 0.0}}};
            for (const double quantile : promise_quantiles(promise, 0.55)) {
                const double factor = promise_factor(promise, quantile, error);
                const double with_least = least_promised(quantile, probability, weight, 0.1, 1e-3, random);
                const double with_most =
                    least_promised(quantile, probability, weight, largest_model_deviation, 1e-3, random);
                if (factor > 0.0) {
                    EXPECT_NEAR(std::min(with_least, with_most) / factor, 1.0, 0.03)
                        << weight << " " << probability;
                } else {
                    EXPECT_LT(with_least, 0.01) << weight << " " << probability;
                }
            }
        }
    }
}

TEST(PromiseFactor, IsLargerWhereTheOtherSoftwareIsKnown)
{
    const Promise promise{0.9, true};
    const LeastModelError unknown{{{0.4, 0.0, 0.1}, {0.6, -std::numeric_limits<double>::infinity(), 0.0}}};
    const LeastModelError slower{{{0.4, 0.0, 0.1}, {0.6, 0.3, 0.1}}};
    EXPECT_GT(promise_factor(promise, 0.55, slower), promise_factor(promise, 0.55, unknown));
}

TEST(PromiseFactor, IsZeroWhereOtherSoftwareAloneKeepsIt)
{
    EXPECT_EQ(promise_factor({0.9, true}, 0.55,
                             {{{0.05, 0.0, 0.1}, {0.95, -std::numeric_limits<double>::infinity(), 0.0}}}),
              0.0);
}

}  // namespace
}  // namespace prismopt
