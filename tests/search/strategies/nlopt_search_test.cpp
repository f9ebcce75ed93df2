#include "search/strategies/nlopt_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace prismopt {
namespace {

constexpr double infeasible = std::numeric_limits<double>::infinity();

class EachMethod : public testing::TestWithParam<TuneMethod> {};
INSTANTIATE_TEST_SUITE_P(All, EachMethod,
                         testing::Values(TuneMethod::sbplx, TuneMethod::bobyqa, TuneMethod::direct_l,
                                         TuneMethod::crs2, TuneMethod::global_then_local));

/// Training time times price, with a bandwidth and a clock that cost the same for what they gain: (work / f +
/// bytes / B + t0) * (base + c f + b B). By symmetry both stand at the same x = f / work = B / bytes.
TEST_P(EachMethod, FindsTheBandwidthAndClockThatAreWorthTheirPrice)
{
    const double work = 3.0;
    const double bytes = 5.0;
    const double base = 2.0;
    const double b =
        0.1 /
        bytes;  // equal price for equal effect: by symmetry both hardware parameters stand at the same x
    const double c = 0.1 / work;
    const auto cost = [=](std::span<const double> k) {
        return (work / k[0] + bytes / k[1]) * (base + c * k[0] + b * k[1]);
    };
    // Along f = work x, B = bytes x the cost is 2/x * (base + 0.2 x) = 2 base / x + 0.4: it
    // falls for ever, so the box decides.
    const Box box{{1.0, 1.0}, {work * 8.0, bytes * 8.0}};
    const Tuned tuned =
        minimise(cost, box, std::vector{2.0, 2.0}, {.method = GetParam(), .max_evaluations = 400});
    EXPECT_NEAR(tuned.value, 2.0 * base / 8.0 + 0.4, 2e-3);
    EXPECT_LE(tuned.evaluations, 402);

    // With a fixed share of time t0 more speed gains less and less: x = sqrt(2 base / (0.2 t0)).
    const double t0 = 1.0;
    const auto inner = [=](std::span<const double> k) { return cost(k) + t0 * (base + c * k[0] + b * k[1]); };
    const double x = std::sqrt(2.0 * base / (0.2 * t0));
    const Tuned inside =
        minimise(inner, box, std::vector{2.0, 2.0}, {.method = GetParam(), .max_evaluations = 600});
    EXPECT_NEAR(inside.value, 2.0 * base / x + 0.4 + t0 * (base + 0.2 * x), 2e-3);
    EXPECT_NEAR(inside.x[0], work * x, 0.05 * work * x);
    EXPECT_NEAR(inside.x[1], bytes * x, 0.05 * bytes * x);
}

TEST(Minimise, GlobalMethodsLeaveALocalMinimum)
{
    const auto rastrigin = [](std::span<const double> x) {
        double sum = 20.0;
        for (const double v : x) {
            sum += v * v - 10.0 * std::cos(2.0 * std::numbers::pi * v);
        }
        return sum;
    };
    const Box box{{-4.3, -3.9}, {5.1, 5.4}};
    const std::vector start{2.0, 3.0};
    const Tuned local =
        minimise(rastrigin, box, start, {.method = TuneMethod::sbplx, .max_evaluations = 2000});
    const Tuned both =
        minimise(rastrigin, box, start, {.method = TuneMethod::global_then_local, .max_evaluations = 2000});
    EXPECT_GT(local.value, 0.5);
    EXPECT_LT(both.value, 1e-4);
}

TEST(Minimise, KeepsTheBestAndLeavesWhatCannotWork)
{
    const auto half = [](std::span<const double> x) { return x[0] > 0.5 ? infeasible : -x[0]; };
    for (const TuneMethod method :
         {TuneMethod::sbplx, TuneMethod::bobyqa, TuneMethod::direct_l, TuneMethod::global_then_local}) {
        const Tuned tuned =
            minimise(half, {{0.0}, {1.0}}, std::vector{0.1}, {.method = method, .max_evaluations = 300});
        EXPECT_LE(tuned.x[0], 0.5);
        EXPECT_GT(tuned.x[0], 0.45);
    }
    const auto flat = [](std::span<const double>) { return 1.0; };
    EXPECT_EQ(
        minimise(flat, {{0.0, 0.0}, {1.0, 1.0}}, std::vector{0.5, 0.5}, {.method = TuneMethod::bobyqa}).value,
        1.0);
    EXPECT_EQ(minimise(flat, {}, {}).evaluations, 1);
    EXPECT_THROW(minimise(flat, {{0.0}, {1.0}}, std::vector{2.0}), std::invalid_argument);
}

TEST(Minimise, PassesOnWhatTheCostThrowsAndAsksNoMore)
{
    struct Stopped {};
    for (const TuneMethod method : {TuneMethod::sbplx, TuneMethod::bobyqa, TuneMethod::direct_l,
                                    TuneMethod::crs2, TuneMethod::global_then_local}) {
        int asked = 0;
        const auto cost = [&](std::span<const double> x) {
            if (++asked == 15) {
                throw Stopped{};
            }
            return (x[0] - 0.3) * (x[0] - 0.3) + x[1] * x[1];
        };
        EXPECT_THROW(minimise(cost, {{0.0, -1.0}, {1.0, 1.0}}, std::vector{0.5, 0.5},
                              {.method = method, .tolerance = 1e-9}),
                     Stopped);
        EXPECT_EQ(asked, 15);
    }
}

/// Schaffer: f1 = x^2, f2 = (x - 2)^2. Where w1 f1 = w2 f2 (unit box 4 x 4) both terms are
/// equal: x = 2 / (1 + sqrt(w1 / w2)).
TEST(Scalarisation, WeightsMoveTheMinimumAlongTheFront)
{
    for (const double w : {0.1, 0.3, 0.5, 0.8}) {
        const Scalarisation scalar{
            .weight = {w, 1.0 - w}, .ideal = {0.0, 0.0}, .nadir = {4.0, 4.0}, .share = 1e-6};
        const auto cost = [&](std::span<const double> x) {
            return scalar(std::vector{x[0] * x[0], (x[0] - 2.0) * (x[0] - 2.0)});
        };
        const Tuned tuned =
            minimise(cost, {{-3.0}, {5.0}}, std::vector{4.0}, {.max_evaluations = 400, .tolerance = 1e-7});
        EXPECT_NEAR(tuned.x[0], 2.0 / (1.0 + std::sqrt(w / (1.0 - w))), 1e-4);
    }
}

}  // namespace
}  // namespace prismopt
