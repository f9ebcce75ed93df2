#include "io/report/breakdown_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One stage of 10 s and 30 GB.
StageBreakdown stage()
{
    StageBreakdown stage;
    stage.kernels = {{.block = "attention", .kind = KernelClass::gemm, .seconds = 2.0, .again_s = 0.0},
                     {.block = "mlp", .kind = KernelClass::gemm, .seconds = 5.0, .again_s = 1.0},
                     {.block = "", .kind = KernelClass::host_wait, .seconds = 0.5, .again_s = 0.0}};
    stage.messages = {{.kind = KernelClass::tensor_all_gather, .exposed_s = 1.0, .hidden_s = 3.0}};
    stage.optimizer_s = 0.5;
    stage.waiting_s = 1.0;
    stage.memory.parameters = Bytes{10e9};
    stage.memory.activations = Bytes{20e9};
    stage.activations = {{"mlp", 15e9}, {"attention", 5e9}};
    return stage;
}

TEST(BreakdownText, NamesTheComponentsOfAStep)
{
    const std::vector<StageBreakdown> stages{stage()};
    const std::string text = step_components_text(stages, 10.5);
    EXPECT_THAT(text, HasSubstr("matrix products                     6.000  57.1  mlp 4, attention 2"));
    EXPECT_THAT(text,
                HasSubstr("tensor-parallel collectives         1.000   9.5  all_gather; 3 more are hidden"));
    EXPECT_THAT(text, HasSubstr("recompute                           1.000   9.5  matrix products"));
    EXPECT_THAT(text, HasSubstr("variation of GPUs, steps, samples   0.500   4.8"));
    EXPECT_THAT(text, Not(HasSubstr("expert-parallel")));
    EXPECT_EQ(stage_components_text(stages), "");
}

TEST(BreakdownText, NamesTheComponentsOfMemory)
{
    const std::vector<StageBreakdown> stages{stage()};
    const std::string text = memory_components_text(stages, Bytes{80e9});
    EXPECT_THAT(text, HasSubstr("activations          20.00  66.7  mlp 15, attention 5"));
    EXPECT_THAT(text, HasSubstr("needed               30.00   100  of 80.0 GB"));
}

TEST(BreakdownText, SaysWhyAnotherPlanDiffers)
{
    const std::vector<StageBreakdown> first{stage()};
    std::vector<StageBreakdown> second{stage()};
    second.front().kernels[1] = {.block = "mlp", .kind = KernelClass::gemm, .seconds = 4.0, .again_s = 0.0};
    second.front().waiting_s = 1.02;
    second.front().memory.activations = Bytes{1020e9};
    EXPECT_EQ(reason_text({first, 10.5}, {second, 9.52}), "recompute -1 s, activations +1000 GB");
    const std::string text = difference_text({first, 10.5}, {second, 9.52});
    EXPECT_THAT(text, HasSubstr("recompute                             1.000    0.000      -1.000"));
    EXPECT_EQ(breakdown_json(second).at(0).at("parts_s").at("recompute"), 0.0);
}

}  // namespace
}  // namespace prismopt
