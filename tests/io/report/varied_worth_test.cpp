#include "io/report/varied_worth.hpp"

#include "io/report/front/plan_words.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/scenario/variants.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace prismopt {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double no_limit = std::numeric_limits<double>::infinity();

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
    machines[1].use.high = no_limit;
    const VariedWorths found = varied_worths(link_and_memory, machines);
    ASSERT_EQ(found.curves.size(), 1u);
    EXPECT_EQ(found.curves[0].statuses[1], BestPlanStatus::excluded);
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
    EXPECT_EQ(found.curves[0].base_choice, BaseChoice::lowest_price);
    EXPECT_THAT(varied_worth_notes(found), ElementsAre(HasSubstr("25 GB/s, is not searched")));
}

TEST(VariedWorths, HaveTheClusterAsBaseIfItHasAPlan)
{
    const VariedWorths found =
        varied_worths(link_and_memory, {machine(10.0, 80.0, 1.0, 95.0), machine(25.0, 80.0, 2.0, 90.0)});
    EXPECT_DOUBLE_EQ(found.curves.at(0).curve.base_value, 25.0);
    EXPECT_EQ(found.curves[0].base_choice, BaseChoice::of_cluster);
    EXPECT_TRUE(varied_worth_notes(found).empty());
}

TEST(VariedWorths, OfInfeasibleMachinesHaveAPrice)
{
    const VariedWorths found =
        varied_worths(link_and_memory, {machine(25.0, 80.0, 2.0, 90.0), machine(50.0, 80.0, 2.25, no_limit)});
    const BreakEvenPoint& infeasible = found.curves.at(0).curve.points[1];
    EXPECT_EQ(found.curves[0].statuses[1], BestPlanStatus::infeasible);
    EXPECT_FALSE(infeasible.worth.has_value());
    EXPECT_NEAR(infeasible.stated, 0.25, 1e-12);
}

/// A proved study of nodes of 8 GPUs, as in the cluster, of 16 and of 32. No plan is listed yet.
Results nodes_study()
{
    Results results;
    results.study.scenario_text = good + R"(
[[knob]]
of = "group"
tier = "node"
values = [8, 16, 32]
price = { per = 8, cost = "0.02 USD/h" }
)";
    results.study.outcome.proved = true;
    const Scenario scenario = scenario_of(results.study);
    Axis axis{.name = std::string(variant_axis), .ordered = false, .labels = {}};
    for (const ChosenValues& values : scenario.variants) {
        axis.labels.push_back(variant_text(scenario.choices, values));
    }
    results.axes = {axis};
    results.objectives = {{.name = "cost", .units = "USD", .long_name = "cost"}};
    return results;
}

void add_plan(Results& results, int variant, double bound, std::optional<Estimate> cost)
{
    EvaluatedPoint& plan = results.evaluations.emplace_back();
    plan.index = results.raw_tuples++;
    plan.point = {variant};
    plan.bounds = {bound};
    ++results.feasible;
    if (!cost) {
        return;
    }
    plan.objectives = {*cost};
    if (std::isfinite(cost->high)) {
        FrontPoint& of_front = results.front.emplace_back();
        of_front.index = plan.index;
        of_front.point = plan.point;
        of_front.objectives = plan.objectives;
    }
}

/// Plans on 8 GPUs have no upper limit, the only plan on 16 has one, and on 32 no combination is feasible.
Results listed_study()
{
    Results results = nodes_study();
    add_plan(results, 0, 950.0, std::nullopt);
    add_plan(results, 0, 960.0, Estimate{1100.0, 1050.0, no_limit, 1050.0, no_limit});
    add_plan(results, 1, 970.0, Estimate{1000.0, 990.0, 1010.0, 990.0, 1010.0});
    results.rejected = {Rejected{.reason = "out of memory", .count = 5, .nearest = {}}};
    results.raw_tuples += 5;
    return results;
}

TEST(VariedWorths, DistinguishExcludedInfeasibleAndUnexaminedMachines)
{
    Results results = listed_study();
    const VariedWorths found = varied_worths(results);
    const VariedWorth& nodes = found.curves.at(0);
    EXPECT_THAT(nodes.statuses,
                ElementsAre(BestPlanStatus::excluded, BestPlanStatus::known, BestPlanStatus::infeasible));
    const BreakEvenPoint& excluded = nodes.curve.points[0];
    ASSERT_TRUE(excluded.worth.has_value());
    EXPECT_NEAR(excluded.worth->high, 3.62 * (1010.0 / 3.62) / (950.0 / 3.60) - 3.62, 1e-9);
    EXPECT_NEAR(excluded.worth->low, -3.62, 1e-9);
    EXPECT_NEAR(excluded.stated, -0.02, 1e-9);

    ++results.feasible;  // one that the results do not list
    ++results.raw_tuples;
    EXPECT_EQ(varied_worths(results).curves.at(0).statuses[2], BestPlanStatus::unlisted);
    --results.feasible;  // one that was not examined
    EXPECT_EQ(varied_worths(results).curves.at(0).statuses[2], BestPlanStatus::unlisted);
    results.study.outcome.proved = false;
    EXPECT_EQ(varied_worths(results).curves.at(0).statuses[2], BestPlanStatus::unexamined);
    EXPECT_EQ(varied_worths(results).curves.at(0).statuses[0], BestPlanStatus::unexamined);
    --results.raw_tuples;  // all were examined, but the search was stopped
    EXPECT_EQ(varied_worths(results).curves.at(0).statuses[0], BestPlanStatus::unevaluated);
}

TEST(VariedWorths, AreTheSameFactsInAllFormats)
{
    const Results results = listed_study();
    const VariedWorths found = varied_worths(results);
    EXPECT_EQ(found.curves.at(0).base_choice, BaseChoice::lowest_price);
    EXPECT_DOUBLE_EQ(found.curves[0].curve.base_value, 16.0);

    const auto curve = varied_worth_json(found)["curves"][0];
    EXPECT_EQ(curve["base_choice"], "lowest price");
    EXPECT_EQ(curve["cluster_value"], 8.0);
    EXPECT_EQ(curve["points"][0]["best_plan"], "excluded");
    EXPECT_EQ(curve["points"][2]["best_plan"], "infeasible");

    const std::string text = varied_worth_text(results);
    EXPECT_THAT(text, HasSubstr("base: lowest price, at 3.62 USD per GPU-hour"));
    EXPECT_THAT(text, HasSubstr("(excluded); costs -0.02"));

    const auto cells = varied_worth_cells(found);
    ASSERT_EQ(cells.size(), 4u);
    EXPECT_THAT(cells[1][2], HasSubstr("(excluded)"));
    EXPECT_EQ(cells[3][2], "infeasible");
    EXPECT_THAT(varied_worth_notes(found), ElementsAre(StartsWith("base of node.group: "),
                                                       StartsWith("excluded: "), StartsWith("infeasible: ")));

    const std::string csv = varied_worth_csv(found);
    EXPECT_EQ(std::ranges::count(csv, '\n'), 4);
    EXPECT_THAT(csv, HasSubstr(",excluded,16,lowest price,3.62"));
    EXPECT_THAT(csv, HasSubstr(",known,16,lowest price,3.62"));
    EXPECT_THAT(csv, HasSubstr("node.group,,32,,,,,,,,,,"));
    EXPECT_THAT(csv, HasSubstr(",infeasible,16,lowest price,3.62"));
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
