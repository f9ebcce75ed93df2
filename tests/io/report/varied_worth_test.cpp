#include "io/report/varied_worth.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace prismopt {

namespace {

const std::vector<VariedParameter> link_and_memory{
    {.name = "link", .unit = "GB/s", .cluster_value = 25.0, .price_per_unit = 0.01},
    {.name = "memory", .unit = "GB", .cluster_value = 80.0, .price_per_unit = std::nullopt}};

MachineRow machine(double link, double memory, double price, double hours)
{
    return {.values = {link, memory},
            .others = {},
            .price = price,
            .use = {.gpu_hours = hours, .low = hours, .high = hours}};
}

TEST(VariedWorths, AreTakenFromTheMachinesBesideTheCheapest)
{
    const std::vector<MachineRow> machines{machine(25.0, 80.0, 2.0, 100.0), machine(50.0, 80.0, 2.25, 80.0),
                                           machine(100.0, 80.0, 2.75, 76.0), machine(25.0, 160.0, 2.0, 95.0),
                                           machine(50.0, 160.0, 2.25, 70.0)};
    const VariedWorths found = varied_worths(link_and_memory, machines);
    ASSERT_EQ(found.curves.size(), 2u);
    const VariedWorth& link = found.curves[0];
    EXPECT_EQ(link.others, "memory 160 GB");  // that of the cheapest, 50 and 160
    ASSERT_EQ(link.curve.points.size(), 2u);
    EXPECT_NEAR(link.curve.points[1].worth->value, 2.0 * 95.0 / 70.0 - 2.0, 1e-12);
    EXPECT_EQ(link.curve.points[1].pays, Pays::yes);
    EXPECT_EQ(link.curve.best, 1u);
    const VariedWorth& memory = found.curves[1];
    EXPECT_EQ(memory.others, "link 50 GB/s");
    EXPECT_NEAR(memory.curve.points[1].worth->value, 2.25 * 80.0 / 70.0 - 2.25, 1e-12);
    ASSERT_EQ(found.pairs.size(), 1u);  // 0.857 together, 0.5 and 0.105 alone
    EXPECT_NEAR(found.pairs[0].joint.value, 2.0 * 100.0 / 70.0 - 2.0, 1e-12);
    EXPECT_NEAR(found.pairs[0].interaction.value, 200.0 / 70.0 - 200.0 / 80.0 - 200.0 / 95.0 + 2.0, 1e-12);
}

TEST(VariedWorths, WithoutAnEvaluatedPlanAreUpperLimits)
{
    std::vector<MachineRow> machines{machine(25.0, 80.0, 2.0, 100.0), machine(50.0, 80.0, 2.5, 90.0)};
    machines[1].use.open = true;
    machines[1].use.high = std::numeric_limits<double>::infinity();
    const VariedWorths found = varied_worths(link_and_memory, machines);
    ASSERT_EQ(found.curves.size(), 1u);
    EXPECT_TRUE(found.curves[0].open[1]);
    EXPECT_NEAR(found.curves[0].curve.points[1].worth->high, 200.0 / 90.0 - 2.0, 1e-12);
    EXPECT_NEAR(found.curves[0].curve.points[1].worth->low, -2.0, 1e-12);
    // Costs 0.25: more than the most that it can be worth.
    EXPECT_EQ(found.curves[0].curve.points[1].pays, Pays::no);
    EXPECT_EQ(found.curves[0].curve.best, 0u);
}

TEST(VariedWorths, OfBetterHardwareAreNotLess)
{
    std::vector<VariedParameter> parameters = link_and_memory;
    parameters[0].better = VariedParameter::Better::more;
    std::vector<MachineRow> machines{machine(25.0, 80.0, 2.0, 100.0), machine(50.0, 80.0, 2.5, 80.0),
                                     machine(100.0, 80.0, 3.0, 95.0)};
    machines[2].use.open = true;  // only a bad plan was evaluated there
    machines[2].use.low = 70.0;
    const VariedWorths found = varied_worths(parameters, machines);
    const BreakEvenPoint& best = found.curves.at(0).curve.points[2];
    EXPECT_NEAR(best.worth->low, 200.0 / 80.0 - 2.0, 1e-12);  // what 50 GB/s do, 100 GB/s do, too
    EXPECT_NEAR(best.worth->high, 200.0 / 70.0 - 2.0, 1e-12);
    EXPECT_NEAR(best.worth->value, best.worth->low, 1e-12);
    machines[2].use.low = 90.0;  // so that 50 GB/s need no less
    machines[1].use.open = true;
    machines[1].use.low = 60.0;
    EXPECT_NEAR(varied_worths(parameters, machines).curves.at(0).curve.points[1].worth->high,
                200.0 / 80.0 - 2.0, 1e-12);
}

TEST(VariedWorths, HaveTheLowestPriceAsBaseWhereNoMachineHasTheCluster)
{
    const VariedWorths found =
        varied_worths(link_and_memory, {machine(50.0, 80.0, 2.5, 90.0), machine(100.0, 80.0, 3.0, 60.0)});
    EXPECT_DOUBLE_EQ(found.curves.at(0).curve.base_value, 50.0);
    EXPECT_DOUBLE_EQ(found.curves.at(0).curve.base_price, 2.5);
}

TEST(VariedWorths, DoNotMixFurtherChoices)
{
    std::vector<MachineRow> machines{machine(25.0, 80.0, 2.0, 100.0), machine(50.0, 80.0, 2.25, 80.0)};
    machines[1].others = "workload=other";
    EXPECT_TRUE(varied_worths(link_and_memory, machines).curves.empty());
    EXPECT_FALSE(varied_worths(link_and_memory, std::vector<MachineRow>{}).why.empty());
}

}  // namespace

}  // namespace prismopt
