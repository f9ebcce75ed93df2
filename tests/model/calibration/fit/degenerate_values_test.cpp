/// Fits to durations that hardly any distribution has: each ends, and gives a distribution or none.

#include "tests/support/degenerate_values.hpp"

#include "model/calibration/calibration.hpp"
#include "model/calibration/fit/failure_fit.hpp"
#include "model/calibration/fit/fit_distribution.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/fit/likelihoods.hpp"
#include "model/calibration/samples.hpp"
#include "tests/support/synthetic_job.hpp"
#include "tests/support/test_names.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

/// The distribution can be drawn from.
void expect_usable(const DistributionFit& fit, const std::string& what)
{
    const DistributionQuantile quantile(fit.distribution);
    EXPECT_NEAR(quantile.moments().mean, 1.0, 1e-6) << what;
    EXPECT_TRUE(quantile(0.999, false) >= quantile(0.001, false)) << what;
    EXPECT_TRUE(std::isfinite(fit.ks)) << what;
}

/// Four of the five folds of the other value hold equal values only.
TEST(DegenerateValues, OfFiftyEqualValuesAndOneOtherADistributionIsFitted)
{
    for (const std::size_t place : {0U, 25U, 50U}) {
        std::vector<double> values(51, 100e-6);
        values[place] = 101e-6;
        const DistributionFit fit = fit_distribution(values, "test");
        EXPECT_EQ(fit.values, 51U);
        EXPECT_EQ(fit.family, "empirical");
        expect_usable(fit, "place " + std::to_string(place));
    }
}

TEST(DegenerateValues, EachFamilyIsFittedOrRefused)
{
    for (const std::string& kind : degenerate_kinds()) {
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            std::vector<double> values = degenerate_values(kind, seed, 300).values;
            const double mean = mean_of(values);
            std::transform(values.begin(), values.end(), values.begin(),
                           [mean](double x) { return x / mean; });
            for (const FamilyRecipe& recipe : family_recipes()) {
                const auto fitted = recipe.fit(values);
                if (!fitted) {
                    continue;
                }
                EXPECT_TRUE(std::isfinite(fitted->unit) && fitted->unit > 0.0)
                    << recipe.name << " of " << kind << ' ' << seed;
            }
        }
    }
}

TEST(DegenerateValues, ADistributionIsChosenWhateverTheyAre)
{
    for (const std::string& kind : degenerate_kinds()) {
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            const std::vector<double> values = degenerate_values(kind, seed).values;
            expect_usable(fit_distribution(values, "test"), kind + " " + std::to_string(seed));
        }
    }
}

TEST(DegenerateValues, TracesOfCoarseClocksAreCalibrated)
{
    for (const double tick : {1e-6, 1e-3, 0.01, 0.1}) {
        SyntheticJob job;
        job.steps = 60;
        job.step = 0.01;
        job.gpu = 0.01;
        Trace trace = SyntheticTrace(job, 4).next();
        for (TraceOp& op : trace.ops) {
            op.start_s = tick * std::round(op.start_s / tick);
            op.duration_s = static_cast<float>(tick * std::round(static_cast<double>(op.duration_s) / tick));
        }
        sort_by_start(trace);
        for (const CalibratedDistribution& distribution : calibrate(trace).distributions) {
            expect_usable(distribution.fit, distribution.key + ", ticks of " + std::to_string(tick));
        }
    }
}

TEST(DegenerateValues, BenchmarksCollectivesAndOutagesAreCalibrated)
{
    for (const std::string& kind : degenerate_kinds()) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const std::string what = kind + " " + std::to_string(seed);
            const std::vector<double> values = degenerate_values(kind, seed, 300).values;
            std::vector<GpuRun> runs;
            std::vector<CollectiveRun> times;
            std::vector<Outage> outages;
            for (std::size_t i = 0; i < values.size(); ++i) {
                const std::string gpu = std::to_string(i % 24);
                runs.push_back({"gemm", gpu, std::to_string(i % 24 / 4), values[i], 1});
                times.push_back({i % 3 == 0 ? "all-reduce 1 GB" : "sendrecv 1 MB", values[i], 1, 1});
                outages.push_back({gpu, i % 2 == 0 ? "gpu" : "nic", 3600.0 * values[i] / values[0], -1.0});
            }
            for (const CalibratedDistribution& distribution :
                 calibrate_gpu_runs(runs, "test").distributions) {
                expect_usable(distribution.fit, distribution.key + " of " + what);
            }
            for (const CalibratedDistribution& distribution :
                 calibrate_collectives(times, "test", test_names()).distributions) {
                expect_usable(distribution.fit, distribution.key + " of " + what);
            }
            for (const CauseFit& cause : fit_failures(outages, {100, 0.0}).causes) {
                EXPECT_GE(cause.gap_cv, 0.0) << what;
            }
        }
    }
}

}  // namespace
}  // namespace prismopt
