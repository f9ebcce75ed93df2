#include "model/calibration/trace/step_effects.hpp"

#include "model/calibration/calibration.hpp"
#include "tests/support/test_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace prismopt {
namespace {

/// Standard deviations of logarithms, of ranks that a profiler timed kernel by kernel.
struct Profile {
    int ranks = 1;
    int steps = 10;
    double step = 0.0;
    double rank_in_step = 0.0;
    double gemms_of_step = 0.0;  // of what gemms alone share
    double kernel = 0.05;
};

Trace trace_of(const Profile& profile, unsigned seed)
{
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> steps;
    std::vector<double> gemms;
    for (int step = 0; step < profile.steps; ++step) {
        steps.push_back(profile.step * normal(generator));
        gemms.push_back(profile.gemms_of_step * normal(generator));
    }
    Trace trace;
    trace.source = "test";
    for (int rank = 0; rank < profile.ranks; ++rank) {
        double now = 0.0;
        for (int step = 0; step < profile.steps; ++step) {
            const double shared =
                steps[static_cast<std::size_t>(step)] + profile.rank_in_step * normal(generator);
            for (int k = 0; k < 40; ++k) {
                TraceOp op;
                op.step = step;
                op.worker = trace.worker_index({rank, 0});
                op.kind = trace.kind_index(k % 2 == 0 ? "gemm" : "layer_norm", test_names());
                op.sequence = k / 2;
                op.start_s = now;
                const double own = k % 2 == 0 ? gemms[static_cast<std::size_t>(step)] : 0.0;
                op.duration_s = static_cast<float>(
                    (k % 2 == 0 ? 8e-4 : 2e-4) * std::exp(shared + own + profile.kernel * normal(generator)));
                now += static_cast<double>(op.duration_s);
                trace.ops.push_back(op);
            }
        }
    }
    sort_by_start(trace);
    return trace;
}

const CalibratedDistribution* distribution(const Calibration& calibration, const std::string& key)
{
    const auto found = std::find_if(calibration.distributions.begin(), calibration.distributions.end(),
                                    [&](const CalibratedDistribution& l) { return l.key == key; });
    return found == calibration.distributions.end() ? nullptr : &*found;
}

struct Count {
    int inside = 0, present = 0, stage_inside = 0, stage_present = 0;
};
Count count(const Profile& profile, int repeats)
{
    Count counted;
    for (int seed = 0; seed < repeats; ++seed) {
        const StepEffects found = step_effects(trace_of(profile, static_cast<unsigned>(100 + seed)));
        const Component& step = found.components[0];
        const Component& stage = found.components[1];
        const double truth = profile.step * profile.step;
        const double stage_truth = profile.rank_in_step * profile.rank_in_step;
        counted.inside += step.low <= truth && truth <= step.high ? 1 : 0;
        counted.present += step.present ? 1 : 0;
        counted.stage_inside += stage.low <= stage_truth && stage_truth <= stage.high ? 1 : 0;
        counted.stage_present += stage.present ? 1 : 0;
    }
    return counted;
}

/// 95 % limits hold the truth in 81 of 100 at least, five standard errors below; the F test at 1 % finds
/// what is not there in 5 at most.
TEST(StepEffects, LimitsHoldTheTruth)
{
    for (const auto& [ranks, steps] : {std::pair{1, 3}, {1, 30}, {4, 5}, {4, 30}}) {
        for (const double rank_in_step : {0.0, 0.03}) {
            const Profile varied{ranks, steps, 0.05, ranks > 1 ? rank_in_step : 0.0};
            const Count found = count(varied, 100);
            EXPECT_GE(found.inside, 84) << ranks << " ranks, " << steps << " steps, " << rank_in_step;
            // The variance of three draws is chance: P(chi2(2) / 2 > F(2, 40) /
            // (1 + 0.05^2 / 0.0092^2)) = exp(-5.2 / 30.5) =
            // 0.84, less three standard errors; of five with ranks in steps beside, 0.92 by the same.
            EXPECT_GE(found.present, steps < 10 ? 73 : 95)
                << ranks << " ranks, " << steps << " steps, " << rank_in_step;
            Profile equal = varied;
            equal.step = 0.0;
            EXPECT_LE(count(equal, 100).present, 5)
                << ranks << " ranks, " << steps << " steps, " << rank_in_step;
            if (ranks > 1) {
                EXPECT_GE(found.stage_inside, 84) << steps << " steps, " << rank_in_step;
                EXPECT_GE(found.stage_present, rank_in_step > 0.0 ? 100 : 0);
                EXPECT_LE(found.stage_present, rank_in_step > 0.0 ? 100 : 5);
            }
        }
    }
}

/// Gemms are eight tenths of the time: so much of what they share is the step's.
TEST(StepEffects, KindsCountByTheirTime)
{
    Profile profile{1, 400};
    profile.gemms_of_step = 0.1;
    EXPECT_NEAR(std::sqrt(step_effects(trace_of(profile, 1)).components[0].variance), 0.08,
                4.0 * 0.08 / std::sqrt(800.0));
}

TEST(Calibrate, ProfilesShowWhatAStepShares)
{
    Profile profile{2, 100, 0.05, 0.02};
    const Calibration found = calibrate(trace_of(profile, 3));
    ASSERT_NE(distribution(found, "common_compute"), nullptr);
    EXPECT_NEAR(DistributionQuantile(distribution(found, "common_compute")->fit.distribution).moments().cv(),
                0.05, 4.0 * 0.05 / std::sqrt(200.0));
    ASSERT_NE(distribution(found, "stage"), nullptr);
    EXPECT_NEAR(DistributionQuantile(distribution(found, "stage")->fit.distribution).moments().cv(), 0.02,
                4.0 * 0.02 / std::sqrt(198.0));
    ASSERT_NE(distribution(found, "residual.gemm"), nullptr);  // what a gemm has of its own is written beside
    EXPECT_NEAR(DistributionQuantile(distribution(found, "residual.gemm")->fit.distribution).moments().cv(),
                std::hypot(0.05, 0.02 / std::sqrt(2.0)), 0.004);
    ASSERT_EQ(found.components.size(), 4U);
    EXPECT_EQ(found.components[0].name, "step");
    EXPECT_EQ(found.components[3].name, "residual");
}

/// What is not there is constant where that is known, and left to the profile otherwise.
TEST(Calibrate, ProfilesInventNoSteps)
{
    const Calibration many = calibrate(trace_of({1, 200, 0.0, 0.0, 0.0, 0.02}, 4));
    ASSERT_NE(distribution(many, "common_compute"), nullptr);
    EXPECT_EQ(distribution(many, "common_compute")->fit.family, "constant");
    for (const int steps : {1, 3}) {
        const Calibration few = calibrate(trace_of({1, steps, 0.0, 0.0, 0.0, 0.2}, 4));
        EXPECT_EQ(distribution(few, "common_compute"), nullptr) << steps;
        EXPECT_TRUE(std::any_of(few.left.begin(), few.left.end(), [](const auto& l) {
            return l.key == "common_compute";
        })) << steps;
    }
}

/// One step of one rank: forty kernels of two kinds show the spread of one; one kernel per kind does not.
TEST(Calibrate, OneStepShowsTheSpreadOfItsKernels)
{
    Trace trace = trace_of({1, 1, 0.0, 0.0, 0.0, 0.05}, 5);
    const Calibration found = calibrate(trace);
    for (const char* key : {"residual.gemm", "residual.elementwise"}) {
        ASSERT_NE(distribution(found, key), nullptr) << key;
        EXPECT_NEAR(DistributionQuantile(distribution(found, key)->fit.distribution).moments().cv(), 0.05,
                    4.0 * 0.05 / std::sqrt(2.0 * 19.0))
            << key;
        EXPECT_NE(distribution(found, key)->fit.distribution.source.find("upper limit"), std::string::npos);
    }
    std::erase_if(trace.ops, [](const TraceOp& op) { return op.sequence > 0; });
    EXPECT_TRUE(calibrate(trace).distributions.empty());
    // Ranks do the same work: each position is compared with itself, and positions may differ.
    Trace ranks = trace_of({50, 1, 0.0, 0.0, 0.0, 0.05}, 6);
    for (TraceOp& op : ranks.ops) {
        op.duration_s *= 1.0F + static_cast<float>(op.sequence);
    }
    const Calibration of_ranks = calibrate(ranks);
    ASSERT_NE(distribution(of_ranks, "residual.gemm"), nullptr);
    EXPECT_NEAR(
        DistributionQuantile(distribution(of_ranks, "residual.gemm")->fit.distribution).moments().cv(), 0.05,
        4.0 * 0.05 / std::sqrt(2000.0));
}

}  // namespace
}  // namespace prismopt
