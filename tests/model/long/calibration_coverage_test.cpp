/// 95 % intervals of calibrations of 200 simulated measurements: 90 to 98 % of them contain the truth.

#include "tests/support/calibration_truth.hpp"

#include <gtest/gtest.h>

#include <iostream>

namespace prismopt {
namespace {

constexpr int seeds = 200;

void expect_coverage(const Coverage& coverage)
{
    std::cout << coverage.of << ": " << 100.0 * coverage.share() << " % of " << coverage.intervals << '\n';
    testing::Test::RecordProperty(coverage.of, std::to_string(coverage.share()));
    EXPECT_GE(coverage.share(), 0.90) << coverage.of;
    EXPECT_LE(coverage.share(), coverage.wide ? 1.0 : 0.98) << coverage.of;
}

TEST(CalibrationCoverage, OfGpusAndNodes)
{
    for (const Coverage& coverage : coverage_of_members(seeds)) {
        expect_coverage(coverage);
    }
}

TEST(CalibrationCoverage, BesideASlowWorker)
{
    for (const Coverage& coverage : coverage_beside_slow_worker(seeds)) {
        expect_coverage(coverage);
    }
}

TEST(CalibrationCoverage, OfExponents)
{
    for (const Coverage& coverage : coverage_of_exponents(seeds)) {
        expect_coverage(coverage);
    }
}

TEST(CalibrationCoverage, OfFailureRates)
{
    for (const FailureProcess& process : failure_processes()) {
        expect_coverage(coverage_of_rates(process, seeds));
    }
}

}  // namespace
}  // namespace prismopt
