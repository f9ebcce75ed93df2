#include "model/break_even.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace prismopt {
namespace {

MachineUse exactly(double hours) { return {.gpu_hours = hours, .low = hours, .high = hours}; }

/// At the break-even, the work costs the same: 3 USD/h for 100 h, 4 USD/h for 75 h.
TEST(BreakEven, IsThePriceAtWhichCostIsEqual)
{
    EXPECT_DOUBLE_EQ(break_even(exactly(100.0), exactly(75.0), 3.0).value, 1.0);
    EXPECT_DOUBLE_EQ(break_even(exactly(100.0), exactly(100.0), 3.0).value, 0.0);
    EXPECT_LT(break_even(exactly(100.0), exactly(120.0), 3.0).value, 0.0);
}

TEST(BreakEven, CountsElectricity)
{
    MachineUse base = exactly(100.0);
    MachineUse other = exactly(80.0);
    base.electricity = 0.1;
    other.electricity = 0.3;
    const double worth = break_even(base, other, 2.0).value;
    EXPECT_NEAR((2.0 + worth + 0.3) * 80.0, 2.1 * 100.0, 1e-9);
}

TEST(BreakEven, HasTheLimitsThatFollowFromThoseOfTheHours)
{
    const MachineUse base{.gpu_hours = 100.0, .low = 90.0, .high = 110.0};
    const MachineUse other{.gpu_hours = 80.0, .low = 75.0, .high = 85.0};
    const Estimate worth = break_even(base, other, 2.0);
    EXPECT_DOUBLE_EQ(worth.value, 0.5);
    EXPECT_DOUBLE_EQ(worth.low, 2.0 * 90.0 / 85.0 - 2.0);
    EXPECT_DOUBLE_EQ(worth.high, 2.0 * 110.0 / 75.0 - 2.0);
    const MachineUse unknown{.gpu_hours = 80.0, .low = 75.0, .high = std::numeric_limits<double>::infinity()};
    EXPECT_DOUBLE_EQ(break_even(base, unknown, 2.0).low, -2.0);
}

/// Draws that move both machines equally leave no doubt.
TEST(BreakEven, OnSharedDrawsIsSurerThanItsHours)
{
    MachineUse base = exactly(100.0);
    MachineUse other = exactly(80.0);
    for (int s = 0; s < 8; ++s) {
        const double factor = 1.0 + 0.02 * (s - 3.5);
        base.pseudo_values.push_back(100.0 * factor);
        other.pseudo_values.push_back(80.0 * factor);
    }
    const Estimate worth = break_even(base, other, 2.0);
    EXPECT_DOUBLE_EQ(worth.value, 0.5);
    EXPECT_NEAR(worth.high - worth.low, 0.0, 1e-12);
}

/// Changes that shorten the same work by factors: 2 (1 / 0.8 - 1) + 2
/// (1 / 0.5 - 1) is less than 2 (1 / 0.4 - 1).
TEST(BreakEven, OfTwoChangesInteracts)
{
    const Estimate interaction =
        break_even_interaction(exactly(100.0), exactly(80.0), exactly(50.0), exactly(40.0), 2.0);
    EXPECT_NEAR(interaction.value, 3.0 - 0.5 - 2.0, 1e-12);
    const Estimate none =
        break_even_interaction(exactly(100.0), exactly(100.0), exactly(50.0), exactly(50.0), 2.0);
    EXPECT_NEAR(none.value, 0.0, 1e-12);
}

TEST(BreakEvenCurve, HasWorthAndMarginalValueOfEachLevel)
{
    const std::vector<ParameterLevel> levels{
        {10.0, exactly(125.0)}, {20.0, exactly(100.0)}, {40.0, exactly(80.0)}, {80.0, exactly(78.0)}};
    const BreakEvenCurve curve = break_even_curve(levels, 1, 2.0, 0.02);
    EXPECT_DOUBLE_EQ(curve.base_value, 20.0);
    EXPECT_NEAR(curve.points[0].worth->value, -0.4, 1e-12);
    EXPECT_DOUBLE_EQ(curve.points[1].worth->value, 0.0);
    EXPECT_NEAR(curve.points[2].worth->value, 0.5, 1e-12);
    EXPECT_FALSE(curve.points[0].per_unit);
    EXPECT_NEAR(curve.points[1].per_unit->value, 0.04, 1e-12);
    EXPECT_NEAR(curve.points[2].per_unit->value, 0.025, 1e-12);
    EXPECT_NEAR(curve.points[3].per_unit->value, (200.0 / 78.0 - 200.0 / 80.0) / 40.0, 1e-12);
    EXPECT_EQ(curve.points[0].pays, Pays::no);  // saves 0.2, and costs 0.4
    EXPECT_EQ(curve.points[2].pays, Pays::yes);
    EXPECT_EQ(curve.points[3].pays, Pays::no);
    EXPECT_EQ(curve.points[3].last_step, Pays::no);
    EXPECT_EQ(curve.best, 2u);
}

TEST(BreakEvenCurve, WhereLessIsBetterPaysForLess)
{
    const std::vector<ParameterLevel> levels{{1.0, exactly(90.0)}, {2.0, exactly(100.0)}};
    const BreakEvenCurve curve = break_even_curve(levels, 1, 2.0, -0.1);
    EXPECT_NEAR(curve.points[0].stated, 0.1, 1e-12);
    EXPECT_EQ(curve.points[0].pays, Pays::yes);
    EXPECT_EQ(curve.points[1].last_step, Pays::yes);
    EXPECT_EQ(curve.best, 0u);
}

TEST(BreakEvenCurve, SkipsWhatIsInfeasible)
{
    const double none = std::numeric_limits<double>::infinity();
    const std::vector<ParameterLevel> levels{
        {1.0, exactly(none)}, {2.0, exactly(100.0)}, {3.0, exactly(none)}, {4.0, exactly(50.0)}};
    const BreakEvenCurve curve = break_even_curve(levels, 1, 2.0, std::nullopt);
    EXPECT_FALSE(curve.points[0].worth);
    EXPECT_FALSE(curve.points[2].worth);
    EXPECT_NEAR(curve.points[3].per_unit->value, 1.0, 1e-12);
    EXPECT_EQ(curve.points[3].pays, Pays::unpriced);
    EXPECT_FALSE(curve.best);
}

}  // namespace
}  // namespace prismopt
