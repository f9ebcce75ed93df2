#include "optimizer/preview/scale_curve.hpp"

#include "tests/optimizer/tiny_study.hpp"

#include "optimizer/space/design_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace prismopt {
namespace {

constexpr const char* space = "gpus = [24]\ntp = [2]\npp = [4]\n";

Scenario quiet()
{
    Scenario scenario = tiny_scenario(space);
    scenario.variability = {};
    return scenario;
}

/// Sizes of 2 GPUs a stage: 8 is a replica, so every power of two is some of them.
TEST(ScaleCurve, HasTheSameWorkPerGpuAtEverySize)
{
    const Scenario scenario = quiet();
    ParallelPlan plan = parse_design("", scenario);
    const ScaleCurve curve = scale_curve(scenario, plan, {64, 1});
    ASSERT_EQ(curve.points.size(), 15U);
    EXPECT_EQ(curve.points.front().gpus, 8);
    EXPECT_EQ(curve.points.front().plan.dp, 1);
    EXPECT_EQ(curve.points.back().gpus, 131072);
    EXPECT_EQ(curve.points.back().plan.dp, 16384);
    for (const ScalePoint& p : curve.points) {
        EXPECT_EQ(p.plan.pp, 4);
        EXPECT_NEAR(p.p95_s / p.p5_s, 1.0, 1e-6);  // nothing varies
        EXPECT_NEAR(p.p50_s / p.nominal_s, 1.0, 1e-4);
        EXPECT_EQ(p.slower.front(), 0.0);
    }
}

/// A factor of the whole step is all that varies: lognormal, so its probabilities are known.
TEST(ScaleCurve, ProbabilitiesAreThoseOfTheDistribution)
{
    Scenario scenario = quiet();
    const double cv = 0.04;
    scenario.variability.common_step = {LogNormal{cv}, {}, 20.0, "test"};
    const ScaleCurve curve = scale_curve(scenario, parse_design("", scenario), {64, 1});
    const double sigma = std::sqrt(std::log1p(cv * cv));
    for (const ScalePoint& p : curve.points) {
        for (std::size_t i = 0; i < slower_by.size(); ++i) {
            const double z = (std::log1p(slower_by[i]) + 0.5 * sigma * sigma) / sigma;
            // Straight lines between nodes; noise-free to 1e-5.
            EXPECT_NEAR(p.slower[i], 0.5 * std::erfc(z / std::sqrt(2.0)), 3e-3);
        }
    }
}

TEST(ScaleCurve, BelowAReplicaStagesHaveAsManyLayers)
{
    Scenario scenario = quiet();
    scenario.space.tp = {2};
    ParallelPlan plan = parse_design("gpus=24 tp=4 pp=2", scenario);
    plan.pp = 4;  // 16 GPUs a replica
    plan.dp = 1;
    const ScaleCurve curve = scale_curve(scenario, plan, {64, 1});
    ASSERT_GE(curve.points.size(), 2U);
    EXPECT_EQ(curve.points[0].gpus, 8);
    EXPECT_EQ(curve.points[0].plan.pp, 2);
    EXPECT_EQ(curve.points[1].plan.pp, 4);
}

/// It is of the first phase's steps: later ones, on GPUs and by plans of their own, are not scaled.
TEST(ScaleCurve, LeavesLaterPhasesOut)
{
    Scenario scenario = quiet();
    const ParallelPlan plan = parse_design("", scenario);
    scenario.phases.resize(1);
    const ScaleCurve alone = scale_curve(scenario, plan, {64, 1});
    scenario.phases.push_back(scenario.phases.front());
    scenario.phases.back().own.gpus = 12;
    scenario.phases.back().own.tp = 1;
    const ScaleCurve both = scale_curve(scenario, plan, {64, 1});
    EXPECT_EQ(scale_curve_text(both), scale_curve_text(alone));
}

TEST(ScaleCurve, EndsWithAKnownCluster)
{
    Scenario scenario = quiet();
    scenario.cluster.node_factors.assign(scenario.cluster.nodes(), 1.0);
    const ScaleCurve curve = scale_curve(scenario, parse_design("", scenario), {64, 1});
    ASSERT_EQ(curve.points.size(), 2U);  // 8 and 16 of 24 GPUs
    EXPECT_TRUE(curve.nodes_known);
    const std::string text = scale_curve_text(curve);
    EXPECT_NE(text.find("this cluster"), std::string::npos);
    EXPECT_NE(text.find("\n  65536 skipped: the cluster with known nodes has only 24 GPUs\n   64k+ "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\n 131072 skipped: "), std::string::npos);
}

TEST(ScaleCurve, EverySizeIsThereOrSaysWhyNot)
{
    const Scenario scenario = quiet();
    ParallelPlan plan = parse_design("", scenario);
    plan.pp = 3;  // of 4 layers, and replicas of 6 GPUs
    const ScaleCurve curve = scale_curve(scenario, plan, {64, 1});
    EXPECT_TRUE(curve.points.empty());
    ASSERT_EQ(curve.refused.size(), 15U);
    EXPECT_EQ(curve.refused.front().gpus, 8);
    EXPECT_EQ(curve.refused.back().gpus, 131072);
    for (const RefusedScale& size : curve.refused) {
        EXPECT_EQ(size.why, "not a multiple of the tp*cp*pp = 6 GPUs of a replica");
    }
}

}  // namespace
}  // namespace prismopt
