#include "search/branch_sampler.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

Axis numbers(std::string name, int count)
{
    Axis axis{std::move(name), true, {}};
    for (int i = 1; i <= count; ++i) {
        axis.labels.push_back(std::to_string(i));
    }
    return axis;
}

/// a divides b, c is at most a, and a = 7 is a dead end.
Space uneven()
{
    return {{numbers("a", 12), numbers("b", 48), numbers("c", 10), numbers("d", 4)},
            {{"a divides b", 2, [](std::span<const int> p) { return (p[1] + 1) % (p[0] + 1) == 0; }},
             {"no 7", 2, [](std::span<const int> p) { return p[0] + 1 != 7; }},
             {"c up to a", 3, [](std::span<const int> p) { return p[2] <= p[0]; }}}};
}

std::uint64_t allowed_in(const Space& space, std::uint64_t begin, std::uint64_t end)
{
    std::uint64_t count = 0;
    space.enumerate(begin, end, [&](std::uint64_t, std::span<const int>) { ++count; });
    return count;
}

TEST(BranchSampler, EstimatesHowManyTuplesAreAllowed)
{
    const Space space = uneven();
    const auto all = static_cast<double>(allowed_in(space, 0, space.size()));
    for (const std::uint64_t most : {1U, 4U, 40U, 5000U}) {
        const BranchSampler sampler(space, most);
        constexpr int descents = 4000;
        double sum = 0.0;
        double squares = 0.0;
        int dead_ends = 0;
        for (int i = 0; i < descents; ++i) {
            SearchRandom random(3, static_cast<std::uint32_t>(i));
            const auto branch = sampler.descend(random);
            dead_ends += branch ? 0 : 1;
            const double found =
                branch ? branch->weight * static_cast<double>(allowed_in(space, branch->begin, branch->end))
                       : 0.0;
            sum += found;
            squares += found * found;
        }
        const double mean = sum / descents;
        const double error = std::sqrt((squares / descents - mean * mean) / descents);
        EXPECT_NEAR(mean, all, 4.0 * error + 1e-9 * all) << most;
        EXPECT_LT(error, 0.05 * all);
        EXPECT_EQ(dead_ends > 0, most < 1920);  // branches of whole values of a hide it
    }
}

TEST(BranchSampler, BranchesAreBehindLeadingLabels)
{
    const Space space = uneven();
    for (const std::uint64_t most : {1U, 4U, 39U, 40U, 1920U}) {
        SearchRandom random(1, 1);
        const auto branch = BranchSampler(space, most).descend(random);
        ASSERT_TRUE(branch);
        const std::uint64_t size = branch->end - branch->begin;
        EXPECT_EQ(branch->begin % size, 0U);
        EXPECT_TRUE(size == (most < 40 ? 4U : most < 1920 ? 40U : 1920U)) << size;
    }
}

}  // namespace
}  // namespace prismopt
