#include "optimizer/loop/legs.hpp"

#include "io/base/input_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Leg> legs_that_saved(const std::vector<std::uint64_t>& records)
{
    std::vector<Leg> legs;
    for (const std::uint64_t saved : records) {
        legs.emplace_back();
        legs.back().saved = saved;
    }
    return legs;
}

TEST(Legs, FollowEachOtherWhileTheySaveSomething)
{
    EXPECT_THAT(why_last_leg(legs_that_saved({5}), 3, "F.h5"), IsEmpty());
    EXPECT_THAT(why_last_leg(legs_that_saved({0, 1}), 3, "F.h5"), IsEmpty());
    EXPECT_THAT(why_last_leg(legs_that_saved({5, 0}), 3, "F.h5"), HasSubstr("saved nothing"));
}

TEST(Legs, AreAtMostSoMany)
{
    EXPECT_THAT(why_last_leg(legs_that_saved({5, 6, 7}), 3, "F.h5"), HasSubstr("prismopt resume F.h5"));
    EXPECT_NO_THROW(refuse_more_legs(legs_that_saved({5, 6}), 3, "F.h5"));
    EXPECT_THROW(refuse_more_legs(legs_that_saved({5, 6, 7}), 3, "F.h5"), InputError);
}

}  // namespace
}  // namespace prismopt
