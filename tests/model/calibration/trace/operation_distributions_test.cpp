#include "model/calibration/trace/operation_distributions.hpp"

#include "model/calibration/calibration.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/trace/thin_trace.hpp"
#include "tests/support/synthetic_job.hpp"
#include "tests/support/test_names.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

double sd_of(const std::vector<double>& factors)
{
    std::vector<double> logs;
    for (const double factor : factors) {
        logs.push_back(std::log(factor));
    }
    return std::sqrt(variance_of(logs));
}

const std::vector<double>& pool(const OperationDistributions& distributions, KernelClass kernel)
{
    return distributions.pools[static_cast<std::size_t>(kernel)];
}

/// Position, replicas and what a step shares are in the durations, and not in the distribution of a transfer.
TEST(OperationDistributions, AreOfWhatPositionAndStepLeave)
{
    SyntheticJob job;
    job.steps = 200;
    job.communication = 0.03;
    job.communication_step = 0.2;
    job.position = 0.5;
    const OperationDistributions distributions = operation_distributions(SyntheticTrace(job, 2).next(), true);
    // Four standard errors of a standard deviation of 6,400 transfers and of 400 collectives.
    EXPECT_NEAR(sd_of(pool(distributions, KernelClass::p2p)), 0.03, 4.0 * 0.03 / std::sqrt(2.0 * 6400.0));
    EXPECT_NEAR(sd_of(pool(distributions, KernelClass::dp_collective)), 0.03,
                4.0 * 0.03 / std::sqrt(2.0 * 400.0));
    EXPECT_NEAR(std::sqrt(distributions.communication.front().variance), 0.2,
                4.0 * 0.2 / std::sqrt(2.0 * 200.0));
    for (const Signature& signature : distributions.signatures) {
        if (signature.name == "forward-send") {
            EXPECT_GT(signature.spread, 0.35);  // of means of 1, 1.5, 2, 2.5
            EXPECT_NEAR(signature.own, 0.03, 0.002);
        }
    }
}

TEST(OperationDistributions, WhatHappensOncePerStepIsNoDistributionOfAClass)
{
    SyntheticJob job;
    job.steps = 60;
    job.slow_clip = 2.0;
    const OperationDistributions distributions = operation_distributions(SyntheticTrace(job, 2).next(), true);
    EXPECT_TRUE(pool(distributions, KernelClass::elementwise).empty());
    EXPECT_EQ(distributions.special[static_cast<std::size_t>(KernelClass::elementwise)], "optimizer");
}

/// A collective of a thousandth of the others' time does not show how long the class takes.
TEST(OperationDistributions, AreOfKindsWithANotableTime)
{
    SyntheticJob job;
    job.steps = 100;
    job.communication = 0.02;
    Trace trace = SyntheticTrace(job, 2).next();
    const std::uint16_t small = trace.kind_index("norm-all-reduce", test_names());
    std::vector<TraceOp> added;
    for (const TraceOp& op : trace.ops) {
        if (trace.kinds[op.kind].kernel == KernelClass::dp_collective) {
            added.push_back(op);
            added.back().kind = small;
            added.back().duration_s *= op.step % 2 == 0 ? 1e-3F : 2e-3F;
        }
    }
    trace.ops.insert(trace.ops.end(), added.begin(), added.end());
    sort_by_start(trace);
    const OperationDistributions distributions = operation_distributions(trace, true);
    EXPECT_EQ(pool(distributions, KernelClass::dp_collective).size(), 200U);
    EXPECT_NEAR(sd_of(pool(distributions, KernelClass::dp_collective)), 0.02,
                4.0 * 0.02 / std::sqrt(2.0 * 200.0));
    for (const Signature& signature : distributions.signatures) {
        EXPECT_EQ(signature.in_class, signature.name != "norm-all-reduce" && signature.name != "optimizer")
            << signature.name;
    }
}

/// One step cannot distinguish a position from chance, but its replicas can.
TEST(OperationDistributions, OfOneStepAreOfTheReplicas)
{
    SyntheticJob job;
    job.steps = 1;
    job.replicas = 50;
    job.communication = 0.05;
    job.position = 0.5;
    const OperationDistributions distributions = operation_distributions(SyntheticTrace(job, 2).next(), true);
    EXPECT_NEAR(sd_of(pool(distributions, KernelClass::p2p)), 0.05, 4.0 * 0.05 / std::sqrt(2.0 * 400.0));
    EXPECT_EQ(distributions.communication.front().unknown, UnknownComponent::no_freedom);
}

TEST(Calibrate, OfOneStepLeavesWhatItDoesNotShow)
{
    for (const auto& [replicas, stages, microbatches] :
         {std::tuple{1, 4, 1}, {4, 1, 1}, {1, 1, 4}, {1, 1, 1}, {4, 2, 4}}) {
        SyntheticJob job;
        job.steps = 1;
        job.replicas = replicas;
        job.stages = stages;
        job.microbatches = microbatches;
        const Calibration calibration = calibrate(SyntheticTrace(job, 2).next());
        for (const CalibratedDistribution& distribution : calibration.distributions) {
            EXPECT_TRUE(distribution.key == "operation" || distribution.key.starts_with("residual."))
                << distribution.key;
        }
        EXPECT_GE(calibration.left.size(), 4U);
    }
}

TEST(Calibrate, OfTwoDistributionsOfAKeyThatOfMoreValuesStays)
{
    Calibration calibration;
    DistributionFit few = constant_distribution("eight");
    few.values = 8;
    DistributionFit many = constant_distribution("four hundred");
    many.values = 400;
    add_distribution(calibration, {"gpu", few});
    add_distribution(calibration, {"gpu", many});
    ASSERT_EQ(calibration.distributions.size(), 1U);
    EXPECT_EQ(calibration.distributions[0].fit.values, 400U);
    EXPECT_NE(calibration.distributions[0].fit.distribution.source.find("than the 8 values of: eight"),
              std::string::npos);
    add_distribution(calibration, {"gpu", few});
    EXPECT_EQ(calibration.distributions[0].fit.values, 400U);
}

TEST(ThinTrace, DropsMicrobatchesAndReplicasBeforeSteps)
{
    SyntheticJob job;
    job.steps = 30;
    job.replicas = 40;
    job.microbatches = 8;
    const Trace trace = SyntheticTrace(job, 2).next();
    std::vector<std::int32_t> steps;
    for (int step = 0; step < job.steps; ++step) {
        steps.push_back(step);
    }
    EXPECT_EQ(thin_trace(trace, steps, trace.ops.size()).ops.size(), trace.ops.size());
    for (const std::size_t divisor : {2U, 5U}) {
        const Trace thin = thin_trace(trace, steps, trace.ops.size() / divisor);
        EXPECT_EQ(step_times(thin).size(), 30U) << divisor;
        EXPECT_LT(static_cast<double>(thin.ops.size()), 1.3 * static_cast<double>(trace.ops.size() / divisor))
            << divisor;
    }
    // A quarter of the microbatches and half of the replicas are the least: then steps go.
    const Trace least = thin_trace(trace, steps, trace.ops.size() / 100);
    EXPECT_LT(step_times(least).size(), 30U);
    int microbatches = 0;
    for (const TraceOp& op : least.ops) {
        microbatches = std::max(microbatches, op.microbatch + 1);
    }
    EXPECT_GT(microbatches, 1);
}

}  // namespace
}  // namespace prismopt
