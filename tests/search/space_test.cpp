#include "search/space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<Axis> axes_of(const std::vector<int>& sizes)
{
    std::vector<Axis> axes(sizes.size());
    for (std::size_t a = 0; a < sizes.size(); ++a) {
        axes[a].name = "axis" + std::to_string(a);
        axes[a].labels.assign(static_cast<std::size_t>(sizes[a]), "label");
    }
    return axes;
}

std::vector<std::uint64_t> counts(const std::vector<Rejected>& rejected)
{
    std::vector<std::uint64_t> counts;
    counts.reserve(rejected.size());
    for (const Rejected& entry : rejected) {
        counts.push_back(entry.count);
    }
    return counts;
}

/// Allows about `keep` in 16 of the leading tuples, in no pattern that follows the axes.
Constraint scattered(const std::string& reason, std::size_t depth, std::uint64_t salt, std::uint64_t keep)
{
    return {reason, depth, [salt, keep](std::span<const int> leading) {
                auto hash = static_cast<std::uint32_t>(salt);
                for (const int label : leading) {
                    hash = (hash ^ static_cast<std::uint32_t>(label + 1)) * 2654435761U;
                }
                return (hash >> 28) < keep;
            }};
}

struct Found {
    std::vector<std::uint64_t> visited;
    std::map<std::string, std::uint64_t> rejected;
};

/// Looks at every raw tuple: the violated constraint of the least depth counts
/// it, the first given among equals.
Found brute_force(const Space& space, const std::vector<Constraint>& constraints)
{
    Found found;
    for (const Constraint& constraint : constraints) {
        found.rejected[constraint.reason] = 0;
    }
    for (std::uint64_t index = 0; index < space.size(); ++index) {
        const Point point = space.point(index);
        const Constraint* blamed = nullptr;
        for (const Constraint& constraint : constraints) {
            if (constraint.allows(std::span(point).first(constraint.depth))) {
                continue;
            }
            if (blamed == nullptr || constraint.depth < blamed->depth) {
                blamed = &constraint;
            }
        }
        if (blamed == nullptr) {
            found.visited.push_back(index);
        } else {
            ++found.rejected[blamed->reason];
        }
    }
    return found;
}

void enumerate(const Space& space, std::uint64_t begin, std::uint64_t end, Found& found)
{
    std::uint64_t visited = 0;
    std::uint64_t rejected = 0;
    for (const Rejected& entry :
         space.enumerate(begin, end, [&](std::uint64_t index, std::span<const int> point) {
             EXPECT_EQ(space.point(index), Point(point.begin(), point.end()));
             found.visited.push_back(index);
             ++visited;
         })) {
        found.rejected[entry.reason] += entry.count;
        rejected += entry.count;
    }
    EXPECT_EQ(visited + rejected, end - begin);
}

TEST(Space, LastAxisVariesFastest)
{
    const Space space(axes_of({2, 3, 4}), {});
    EXPECT_EQ(space.size(), 24U);
    EXPECT_THAT(space.point(0), ElementsAre(0, 0, 0));
    EXPECT_THAT(space.point(1), ElementsAre(0, 0, 1));
    EXPECT_THAT(space.point(23), ElementsAre(1, 2, 3));
    for (std::uint64_t index = 0; index < space.size(); ++index) {
        EXPECT_EQ(space.index(space.point(index)), index);
    }
}

TEST(Space, EnumeratesWhatBruteForceFindsForAnySplit)
{
    std::mt19937 random(7);
    for (unsigned trial = 0; trial < 60; ++trial) {
        std::vector<int> sizes(1 + random() % 5);
        for (int& size : sizes) {
            size = 1 + static_cast<int>(random() % 5);
        }
        std::vector<Constraint> constraints;
        for (unsigned c = trial % 6; c > 0; --c) {
            const std::size_t depth = 1 + random() % sizes.size();
            constraints.push_back(
                scattered("reason" + std::to_string(random() % 4), depth, random(), 8 + random() % 8));
        }
        const Space space(axes_of(sizes), constraints);
        const Found expected = brute_force(space, constraints);

        Found whole = {{}, expected.rejected};
        for (auto& entry : whole.rejected) {
            entry.second = 0;
        }
        Found by_range = whole;
        enumerate(space, 0, space.size(), whole);
        for (std::uint64_t begin = 0; begin < space.size();) {
            const std::uint64_t end = begin + random() % (space.size() - begin + 1);
            enumerate(space, begin, end, by_range);
            begin = end;
        }
        EXPECT_EQ(whole.visited, expected.visited) << "trial " << trial;
        EXPECT_EQ(whole.rejected, expected.rejected) << "trial " << trial;
        EXPECT_EQ(by_range.visited, expected.visited) << "trial " << trial;
        EXPECT_EQ(by_range.rejected, expected.rejected) << "trial " << trial;
    }
}

/// A further constraint has the effect of one more constraint of the space.
TEST(Space, EnumeratesUnderAFurtherConstraint)
{
    const Constraint own = scattered("own", 2, 1, 11);
    const Constraint further = scattered("further", 2, 2, 9);
    const auto found = [&](const Space& space, std::span<const Constraint> also) {
        Found all;
        for (const Rejected& entry : space.enumerate(
                 7, 300, [&](std::uint64_t index, std::span<const int>) { all.visited.push_back(index); },
                 also)) {
            all.rejected[entry.reason] = entry.count;
        }
        return all;
    };
    const std::vector<int> sizes{5, 6, 3, 4};
    const Found expected = found(Space(axes_of(sizes), {own, further}), {});
    const Found actual = found(Space(axes_of(sizes), {own}), std::span(&further, 1));
    EXPECT_EQ(actual.visited, expected.visited);
    EXPECT_EQ(actual.rejected, expected.rejected);
    EXPECT_GT(actual.rejected.at("further"), 0U);
}

TEST(Space, AddsCountsByReasonAndKeepsTheClosestTuple)
{
    std::vector<Rejected> all{{"memory", 2, 5.0, "far"}, {"rule", 1, 0.0, ""}};
    add(std::vector<Rejected>{{"rule", 3, 0.0, ""}, {"memory", 1, 4.0, "near"}, {"other", 1, 0.0, "first"}},
        all);
    add(std::vector<Rejected>{{"memory", 1, 4.5, "between"},
                              {"memory", 0, 0.0, "none"},
                              {"rule", 1, 2.0, "nearest_rule"}},
        all);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].count, 4U);
    EXPECT_EQ(all[0].nearest, "near");
    EXPECT_EQ(all[0].miss, 4.0);
    EXPECT_EQ(all[1].count, 5U);
    EXPECT_EQ(all[1].nearest, "nearest_rule");
    EXPECT_EQ(all[2].nearest, "first");
}

TEST(Space, CountsUnderTheEarliestConstraintInTheOrderGiven)
{
    const auto never = [](std::span<const int>) { return false; };
    const auto not_first = [](std::span<const int> leading) { return leading[0] != 0; };
    const Space space(axes_of({4, 5}),
                      {{"late", 2, never}, {"early", 1, not_first}, {"early too", 1, not_first}});
    const auto rejected = space.enumerate(0, 20, [](std::uint64_t, std::span<const int>) { FAIL(); });
    EXPECT_EQ(rejected.front().reason, "late");
    EXPECT_THAT(counts(rejected), ElementsAre(15, 5, 0));
}

TEST(Space, SkipsSubspacesWithoutLookingInside)
{
    // 2^60 tuples behind each label of the first axis: only a search that skips them ends.
    std::vector<int> sizes(21, 8);
    std::uint64_t asked = 0;
    const auto allows = [&](std::span<const int> leading) {
        ++asked;
        return std::all_of(leading.begin(), leading.end(), [](int label) { return label == 0; });
    };
    std::vector<Constraint> constraints;
    for (std::size_t depth = 1; depth <= sizes.size(); ++depth) {
        constraints.push_back({"not zero", depth, allows});
    }
    const Space space(axes_of(sizes), constraints);
    std::uint64_t visited = 0;
    const auto rejected =
        space.enumerate(0, space.size(), [&](std::uint64_t, std::span<const int>) { ++visited; });
    EXPECT_EQ(visited, 1U);
    EXPECT_THAT(counts(rejected), ElementsAre(space.size() - 1));
    EXPECT_EQ(asked, 21U * 8U);
}

TEST(Space, RefusesWhatCannotBeEnumerated)
{
    const auto always = [](std::span<const int>) { return true; };
    const auto make = [](const std::vector<Axis>& axes, const std::vector<Constraint>& constraints) {
        return [axes, constraints] { return Space(axes, constraints); };
    };
    EXPECT_THAT(make({}, {}), ThrowsMessage<std::invalid_argument>(HasSubstr("without axes")));
    EXPECT_THAT(make(axes_of({2, 0}), {}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("\"axis1\" has no labels")));
    EXPECT_THAT(make({{.name = "tp", .labels = {"1"}}, {.name = "tp", .labels = {"1"}}}, {}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("two axes are called \"tp\"")));
    EXPECT_THAT(make(axes_of({2, 2}), {{"deep", 3, always}}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("1 to 2")));
    EXPECT_THAT(make(axes_of({2, 2}), {{"shallow", 0, always}}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("1 to 2")));
    EXPECT_THAT(make(axes_of({2}), {{"mute", 1, nullptr}}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("\"mute\"")));
    EXPECT_THAT(make(axes_of(std::vector<int>(64, 2)), {}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("2^64")));
    EXPECT_EQ(Space(axes_of(std::vector<int>(63, 2)), {}).size(), std::uint64_t{1} << 63);

    const Space space(axes_of({2, 3}), {});
    const auto visit = [](std::uint64_t, std::span<const int>) {};
    EXPECT_THROW(space.point(6), std::out_of_range);
    EXPECT_THROW(space.index(Point{1, 3}), std::out_of_range);
    EXPECT_THROW(space.index(Point{1}), std::invalid_argument);
    EXPECT_THROW(space.enumerate(0, 7, visit), std::out_of_range);
    EXPECT_THROW(space.enumerate(3, 2, visit), std::out_of_range);
}

}  // namespace
}  // namespace prismopt
