#include "io/report/study_accuracy.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

LeftOutErrors family(RunKind kind, int rows, double error, const std::string& machine)
{
    LeftOutErrors errors;
    errors.source = "a source";
    errors.line = machine;
    errors.kind = kind;
    errors.rows = rows;
    errors.left_out = {error, 1.0, 0.2};
    errors.machines = {machine};
    return errors;
}

TEST(StudyAccuracy, IsOfTheKindMachineAndSoftware)
{
    FittedModel model;
    model.left_out = {family(RunKind::mixture, 3, 0.1, "h100-sxm megatron-core"),
                      family(RunKind::mixture, 1, 0.3, "h100-sxm megatron-bridge"),
                      family(RunKind::mixture, 3, 0.1, "h100-sxm-96gb megatron-core"),
                      family(RunKind::dense, 9, 0.01, "h100-sxm megatron-core")};
    const KindAccuracy named = kind_accuracy(model, RunKind::mixture, "h100-sxm", "megatron-core");
    ASSERT_EQ(named.alike.size(), 1U);
    EXPECT_EQ(named.alike.front().rows, 3);
    EXPECT_EQ(named.other_rows, 4);
    EXPECT_NEAR(named.others.error, (0.3 + 3 * 0.1) / 4, 1e-12);
    EXPECT_EQ(kind_accuracy(model, RunKind::mixture, "h100-sxm", "").alike.size(), 2U);  // software not named
    EXPECT_TRUE(kind_accuracy(model, RunKind::hybrid, "h100-sxm", "").alike.empty());
}

TEST(StudyAccuracy, KnowsTheMachinesOfTheCatalogsFit)
{
    const FittedModel model = fitted_model();
    for (const LeftOutErrors& errors : model.left_out) {
        EXPECT_FALSE(errors.machines.empty()) << errors.source;
    }
    EXPECT_FALSE(kind_accuracy(model, RunKind::dense, "a100-sxm-80gb", "megatron-2022").alike.empty());
}

}  // namespace
}  // namespace prismopt
