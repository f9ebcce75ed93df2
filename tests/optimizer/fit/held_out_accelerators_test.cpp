#include "optimizer/fit/held_out_accelerators.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

/// Siblings are listed, but contain no information about a chip without any.
TEST(HeldOutAccelerators, OfOneFamilyDoNotWidenTheOthers)
{
    const BorrowedShares stranger{
        .measured = "a", .shares_of = "b", .errors = {0.2}, .needed = {0.1}, .weight = {1.0}};
    const BorrowedShares sibling{.measured = "a",
                                 .shares_of = "c",
                                 .sibling = true,
                                 .errors = {0.8},
                                 .needed = {0.4},
                                 .weight = {100.0}};
    EXPECT_DOUBLE_EQ(unmeasured_deviation({stranger, sibling}), 0.1);
}

}  // namespace
}  // namespace prismopt
