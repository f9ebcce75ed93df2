#include "optimizer/fit/fit_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace prismopt {
namespace {

using nlohmann::json;

TEST(FitJson, OfShortlistsHasGroupsAndTheLengthOfEachTrait)
{
    const ShortlistAccuracy group{
        .source = "a", .job = "a: GPT", .one_node = true, .plans = 9, .covering = 2, .hit = true};
    Discrepancy discrepancy;
    discrepancy.deviation = 0.125;
    for (std::size_t k = 0; k < PlanTraits::count; ++k) {
        discrepancy.lengths[k] = 1.0 + static_cast<double>(k);
    }
    const json found = json::parse(shortlists_json({group, group}, discrepancy));
    ASSERT_EQ(found["groups"].size(), 2U);
    EXPECT_EQ(found["groups"][0]["job"], "a: GPT");
    EXPECT_EQ(found["groups"][0]["plans"], 9);
    EXPECT_EQ(found["discrepancy"]["by_plan"], 0.125);
    const json& lengths = found["discrepancy"]["lengths"];
    ASSERT_EQ(lengths.size(), static_cast<std::size_t>(PlanTraits::count));
    for (std::size_t k = 0; k < PlanTraits::count; ++k) {
        EXPECT_EQ(lengths[k]["trait"], PlanTraits::name(k));
        EXPECT_EQ(lengths[k]["length"], discrepancy.lengths[k]);
    }
}

/// A system's error is the mean of its rows; one that stands apart says so.
TEST(FitJson, OfComponentsHasErrorsBySystem)
{
    Components components;
    for (const double measured_s : {1.0, 4.0}) {
        MeasuredCollective& row = components.collectives.emplace_back();
        row.what = "8 x A100";
        row.measured_s = measured_s;
        row.doubtful = true;
    }
    components.network.fitted_s = {2.0, 2.0};
    components.network.held_out_s = {2.0, 2.0};
    const json found = json::parse(components_json(components));
    ASSERT_EQ(found["systems"].size(), 1U);
    EXPECT_EQ(found["systems"][0]["rows"], 2);
    EXPECT_DOUBLE_EQ(found["systems"][0]["error"], 0.75);
    EXPECT_DOUBLE_EQ(found["systems"][0]["bias"], 0.25);
    EXPECT_EQ(found["systems"][0]["apart"], true);
}

}  // namespace
}  // namespace prismopt
