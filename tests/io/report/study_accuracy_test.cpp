#include "io/report/study_accuracy.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

HeldOutErrors family(RunKind kind, int rows, double error, const std::string& machine)
{
    HeldOutErrors errors;
    errors.source = "a source";
    errors.line = machine;
    errors.kind = kind;
    errors.rows = rows;
    errors.held_out = {error, 1.0, 0.2};
    errors.machines = {machine};
    return errors;
}

TEST(StudyAccuracy, IsOfTheKindMachineAndSoftware)
{
    FittedModel model;
    model.held_out = {family(RunKind::moe, 3, 0.1, "h100-sxm megatron-core"),
                      family(RunKind::moe, 1, 0.3, "h100-sxm megatron-bridge"),
                      family(RunKind::moe, 3, 0.1, "h100-sxm-96gb megatron-core"),
                      family(RunKind::dense, 9, 0.01, "h100-sxm megatron-core")};
    const KindAccuracy named = kind_accuracy(model, RunKind::moe, "h100-sxm", "megatron-core");
    ASSERT_EQ(named.on_machine.size(), 1U);
    EXPECT_EQ(named.on_machine.front().rows, 3);
    EXPECT_EQ(named.other_rows, 4);
    EXPECT_NEAR(named.others.error, (0.3 + 3 * 0.1) / 4, 1e-12);
    // Software not named.
    EXPECT_EQ(kind_accuracy(model, RunKind::moe, "h100-sxm", "").on_machine.size(), 2U);
    EXPECT_TRUE(kind_accuracy(model, RunKind::hybrid, "h100-sxm", "").on_machine.empty());
}

TEST(StudyAccuracy, KnowsTheMachinesOfTheCatalogsFit)
{
    const FittedModel model = fitted_model();
    for (const HeldOutErrors& errors : model.held_out) {
        EXPECT_FALSE(errors.machines.empty()) << errors.source;
    }
    EXPECT_FALSE(kind_accuracy(model, RunKind::dense, "a100-sxm-80gb", "megatron-2022").on_machine.empty());
}

}  // namespace
}  // namespace prismopt
