#include "optimizer/numerics/numerics_plots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;

NumericsTable training(const std::string& change)
{
    NumericsTable table{.name = "training", .title = "", .note = ""};
    for (const int step : {40, 80}) {
        table.rows.push_back(
            {{"change", change}, {"step", step}, {"wasserstein", 0.1 * step}, {"loss", nullptr}});
    }
    return table;
}

TEST(NumericsPlots, ShowTheTablesThatAreThere)
{
    NumericsTable length{.name = "length", .title = "", .note = ""};
    for (const char* arithmetic : {"all-rounded", "fp32-accumulation"}) {
        length.rows.push_back(
            {{"arithmetic", arithmetic}, {"kernel", "flash"}, {"sequence", 256}, {"forward_max", 0.01}});
    }
    const std::string both = numerics_svg({length, training("fp8-e4m3 instead of bf16 in products")});
    EXPECT_THAT(both, HasSubstr("Attention in bf16"));
    EXPECT_THAT(both, HasSubstr("fp8-e4m3 instead of bf16 in products"));
    EXPECT_THAT(numerics_svg({length}), Not(HasSubstr("Weights")));
    EXPECT_THAT(numerics_svg({training("other initial weights")}), Not(HasSubstr("Weights")))
        << "far above the rest";
}

}  // namespace
}  // namespace prismopt
