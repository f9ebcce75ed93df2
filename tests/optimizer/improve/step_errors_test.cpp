#include "optimizer/improve/step_errors.hpp"

#include "model/base/powers.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/plan_posterior.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace prismopt {
namespace {

struct Spread {
    double mean = 0.0;
    double deviation = 0.0;
};

template <class ValueOf>
Spread spread_of(ValueOf&& value_of)
{
    Spread spread;
    for (std::size_t d = 0; d < posterior_draws; ++d) {
        spread.mean += value_of(d) / posterior_draws;
    }
    for (std::size_t d = 0; d < posterior_draws; ++d) {
        spread.deviation += square(value_of(d) - spread.mean) / posterior_draws;
    }
    spread.deviation = std::sqrt(spread.deviation);
    return spread;
}

/// What a measured step says of its plan, it says of others in part; the error of their ratio
/// shrinks no more than their own.
TEST(StepErrors, FollowAMeasuredStep)
{
    const Scenario scenario = tiny_scenario("gpus = [8]\ntp = [1, 2]\npp = [1, 2]\n");
    const std::array plans{parse_design("gpus=8 tp=1 pp=2", scenario),
                           parse_design("gpus=8 tp=2 pp=2", scenario)};
    const StudyModel model(scenario, tables_of(scenario, {plans[0], plans[1]}));
    const auto draws_with = [&](const std::optional<MeasuredStep>& measured) {
        return step_error_draws(scenario, model.problem, plans, measured);
    };
    const std::vector<double> before = draws_with(std::nullopt);
    const std::vector<double> after = draws_with(MeasuredStep{1.1, 1.0});
    const auto own = [](const std::vector<double>& draws, std::size_t plan) {
        return spread_of([&](std::size_t d) { return draws[2 * d + plan]; });
    };
    const auto between = [](const std::vector<double>& draws) {
        return spread_of([&](std::size_t d) { return draws[2 * d + 1] - draws[2 * d]; });
    };
    EXPECT_NEAR(own(before, 0).mean, 0.0, 0.02);
    EXPECT_NEAR(own(after, 0).mean, std::log(1.1), 0.02);
    EXPECT_LT(own(after, 0).deviation, 0.5 * own(before, 0).deviation);
    EXPECT_GT(own(after, 1).mean, 0.5 * std::log(1.1));
    EXPECT_LT(own(after, 1).deviation, own(before, 1).deviation);
    EXPECT_LT(between(before).deviation, own(before, 0).deviation);  // what they share cancels
    EXPECT_NEAR(between(after).deviation, between(before).deviation, 0.5 * between(before).deviation);
}

}  // namespace
}  // namespace prismopt
