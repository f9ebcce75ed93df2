#include "io/results/may_not_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace prismopt {
namespace {

FrontPoint plan(std::uint64_t index, std::initializer_list<double> objectives, double fits)
{
    FrontPoint point;
    point.index = index;
    for (const double value : objectives) {
        point.objectives.emplace_back().value = value;
    }
    point.prediction.fit_probability = fits;
    return point;
}

/// 1: the front has it all. 2: as good as 3, which is surer. 4: dearer than 3, but
/// surer. 5 and 6: the same twice.
TEST(MayNotFitList, HasWhatNoSurerPlanMatches)
{
    Results results;
    results.front = {plan(10, {3.0, 3.0}, 1.0)};
    results.may_not_fit.plans = {plan(1, {3.0, 4.0}, 0.8), plan(2, {2.0, 2.0}, 0.3),
                                 plan(3, {2.0, 2.0}, 0.4), plan(4, {2.5, 2.5}, 0.6),
                                 plan(5, {1.0, 5.0}, 0.5), plan(6, {1.0, 5.0}, 0.5)};
    sift_may_not_fit(results);
    std::vector<std::uint64_t> kept;
    for (const FrontPoint& point : results.may_not_fit.plans) {
        kept.push_back(point.index);
    }
    EXPECT_THAT(kept, testing::ElementsAre(3, 4, 5, 6));
}

}  // namespace
}  // namespace prismopt
