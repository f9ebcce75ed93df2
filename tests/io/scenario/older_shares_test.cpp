#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::HasSubstr;

/// One share for all products of 8 and 4 bits, as before there were kinds.
TEST(OlderShares, AreReadWithAWarning)
{
    const Scenario plain = parse_scenario(good, "x.toml");
    EXPECT_EQ(plain.older_keys, "");
    const Scenario older =
        parse_scenario(with("gpus = ", "accelerator_override.efficiency.gemm_low = 0.5\ngpus = "), "x.toml");
    EXPECT_DOUBLE_EQ(older.cluster.accelerator.efficiency.gemm_fp8, 0.5);
    EXPECT_DOUBLE_EQ(older.cluster.accelerator.efficiency.gemm_fp8_block, 0.5);
    EXPECT_DOUBLE_EQ(older.cluster.accelerator.efficiency.gemm_nvfp4, 0.5);
    EXPECT_THAT(older.older_keys, HasSubstr("gemm_fp8_block"));
    EXPECT_THROW(parse_scenario(with("gpus = ", "accelerator_override.efficiency.gemm_low = 1.5\ngpus = "),
                                "x.toml"),
                 InputError);
}

}  // namespace
}  // namespace prismopt
