#include "model/calibrate/calibration.hpp"
#include "model/calibrate/outliers.hpp"

#include "model/calibrate/failure_fit.hpp"
#include "model/calibrate/samples.hpp"
#include "tests/support/synthetic_job.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace prismopt {
namespace {

const CalibratedLaw* law(const Calibration& calibration, const std::string& key)
{
    for (const CalibratedLaw& found : calibration.laws) {
        if (found.key == key) {
            return &found;
        }
    }
    return nullptr;
}

TEST(Calibrate, names_the_slow_gpu_and_the_long_stage)
{
    SyntheticJob job;
    job.replicas = 6;
    job.stages = 3;
    job.steps = 50;
    job.gpu = 0.005;
    job.slow_worker = 0.15;
    job.long_stage = 0.5;
    const Calibration calibration = calibrate(SyntheticTrace(job, 9).next());
    ASSERT_EQ(calibration.slow.size(), 3U);
    EXPECT_EQ(calibration.slow[0].name, "GPU of dp 1, stage 1");
    EXPECT_NEAR(calibration.slow[0].excess, 0.15, 0.035);  // a sixth of it is in its stage's mean; and the GPUs' own spread
    EXPECT_EQ(calibration.slow[1].name, "stage 2, forward-compute");
    EXPECT_NEAR(calibration.slow[1].excess, 0.5, 0.05);
}

TEST(Calibrate, names_nobody_among_equals)
{
    SyntheticJob job;
    job.replicas = 16;
    job.steps = 30;
    job.gpu = 0.02;
    job.microbatch = 0.1;
    EXPECT_TRUE(calibrate(SyntheticTrace(job, 10).next()).slow.empty());
}

TEST(Calibrate, waiting_is_no_transfer)
{
    SyntheticJob job;
    job.steps = 50;
    job.communication = 0.1;
    Trace trace = SyntheticTrace(job, 4).next();
    std::size_t sends = 0;
    for (TraceOp& op : trace.ops) {
        if (trace.kinds[op.kind].role == OpRole::send && ++sends % 4 == 0) {
            op.duration_s += 0.1F;
        }
    }
    for (const Signature& signature : calibrate(trace).signatures) {
        if (signature.name.find("send") != std::string::npos) {
            EXPECT_NEAR(signature.waiting, 0.25, 0.01) << signature.name;
            EXPECT_NEAR(signature.mean_s, 0.002, 0.0002) << signature.name;
        }
    }
}

/// A process of known spread and memory, and none.
TEST(Drift, is_found_where_it_is)
{
    std::mt19937_64 generator(5);
    std::normal_distribution<double> normal;
    std::vector<double> series;
    std::vector<double> noise;
    std::vector<std::int32_t> places;
    double drift = 0.02 * normal(generator);
    const double memory = std::exp(-1.0 / 50.0);
    for (int i = 0; i < 4000; ++i) {
        drift = memory * drift + 0.02 * std::sqrt(1.0 - memory * memory) * normal(generator);
        series.push_back(drift + 0.02 * normal(generator));
        noise.push_back(0.02 * normal(generator));
        places.push_back(i);
    }
    const DriftFit found = fit_drift(series, places, 2.0);
    EXPECT_TRUE(found.found);
    // 4,000 steps are 40 independent stretches of twice the memory: four standard errors, sqrt(1/80) of the cv.
    EXPECT_NEAR(found.cv, 0.02, 0.02 * 4.0 * std::sqrt(1.0 / 80.0));
    EXPECT_GT(found.time_s, 100.0 / 2.0);
    EXPECT_LT(found.time_s, 100.0 * 2.0);
    EXPECT_FALSE(fit_drift(noise, places, 2.0).found);
    EXPECT_FALSE(fit_drift({noise.begin(), noise.begin() + 20}, places, 2.0).found);
}

TEST(Outliers, one_among_many)
{
    std::vector<double> values;
    for (int i = 0; i < 100; ++i) {
        values.push_back(0.01 * std::sin(i * 1.7));
    }
    values[40] = 0.2;
    const std::vector<Outlier> found = outliers(values, std::vector<double>(100, 0.001));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].index, 40U);
    EXPECT_TRUE(outliers({1.0, 9.0}, {0.1, 0.1}).empty());
}

TEST(Failures, rates_and_clusters)
{
    std::vector<Outage> outages;
    std::mt19937_64 generator(3);
    std::exponential_distribution<double> gap(1.0 / 86'400.0);
    double time = 0.0;
    for (int i = 0; i < 400; ++i) {
        time += gap(generator);
        outages.push_back({std::to_string(generator() % 100), "GPU", time, time + 3600.0});
    }
    const FailureFit fit = fit_failures(outages, {100, time});
    ASSERT_EQ(fit.causes.size(), 1U);
    EXPECT_NEAR(fit.causes[0].per_node_day, 0.01, 4.0 * 0.01 / std::sqrt(400.0));
    EXPECT_LT(fit.causes[0].low, 0.01);
    EXPECT_GT(fit.causes[0].high, 0.01);
    EXPECT_FALSE(fit.causes[0].clustered);
    EXPECT_LT(fit.node_cv, 0.35);  // no clusters: counts of 4 a node have a cv of 0.5 already, all of it Poisson's
    EXPECT_NEAR(fit.causes[0].repair_s, 3600.0, 1e-6);
    for (std::size_t i = 0; i < outages.size(); ++i) {
        outages[i].start_s = 86'400.0 * 10.0 * static_cast<double>(i / 10) + static_cast<double>(i % 10);
    }
    EXPECT_TRUE(fit_failures(outages, {100, 400.0 * 86'400.0}).causes[0].clustered);
}

TEST(GpuRuns, spread_between_and_within)
{
    std::mt19937_64 generator(8);
    std::normal_distribution<double> normal;
    std::vector<GpuRun> runs;
    for (int gpu = 0; gpu < 400; ++gpu) {
        const double own = std::exp(0.02 * normal(generator)) * (gpu == 17 ? 1.3 : 1.0);
        for (int repeat = 0; repeat < 9; ++repeat) {
            runs.push_back({"gemm", std::to_string(gpu), "", 0.5 * own * std::exp(0.005 * normal(generator))});
        }
    }
    const Calibration calibration = calibrate_gpu_runs(runs, "test");
    ASSERT_NE(law(calibration, "gpu"), nullptr);
    const LawQuantile quantile(law(calibration, "gpu")->fit.law);
    // Of 400 GPUs: four standard errors of a quantile near one standard deviation, 1.4 sd / sqrt(n).
    EXPECT_NEAR(quantile(0.84, false) - quantile(0.5, false), 0.02, 4.0 * 1.4 * 0.02 / 20.0);
    ASSERT_EQ(calibration.slow.size(), 1U);
    EXPECT_EQ(calibration.slow[0].name, "GPU 17, gemm");
}

/// Eight GPUs a node, numbered anew on each, as tools number them.
std::vector<GpuRun> cluster_runs(double node_spread, double gpu_spread, unsigned seed)
{
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<GpuRun> runs;
    for (int node = 0; node < 50; ++node) {
        const double own = std::exp(node_spread * normal(generator));
        for (int gpu = 0; gpu < 8; ++gpu) {
            const double factor = own * std::exp(gpu_spread * normal(generator)) * (node == 17 && gpu == 3 ? 1.25 : 1.0);
            for (int repeat = 0; repeat < 5; ++repeat) {
                runs.push_back(
                    {"", std::to_string(gpu), "n" + std::to_string(node), 0.1 * factor * std::exp(0.002 * normal(generator))});
            }
        }
    }
    return runs;
}
double spread_of(const CalibratedLaw& law)
{
    const LawQuantile quantile(law.fit.law);
    return 0.5 * (quantile(0.8413, false) - quantile(0.1587, false));
}

TEST(GpuRuns, numbers_of_gpus_are_their_nodes)
{
    const Calibration calibration = calibrate_gpu_runs(cluster_runs(0.0, 0.015, 2), "test");
    ASSERT_NE(law(calibration, "gpu"), nullptr);
    EXPECT_EQ(law(calibration, "gpu")->fit.values, 400U);
    // Of 400 GPUs: four standard errors, sd / sqrt(2 n), and as much again for quantiles near one standard deviation.
    EXPECT_NEAR(spread_of(*law(calibration, "gpu")), 0.015, 4.0 * 1.4 * 0.015 / std::sqrt(800.0));
    ASSERT_NE(law(calibration, "node"), nullptr);
    EXPECT_EQ(law(calibration, "node")->fit.family, "constant");
    ASSERT_EQ(calibration.slow.size(), 1U);
    EXPECT_EQ(calibration.slow[0].name, "GPU 3 of node n17");
    EXPECT_NEAR(calibration.slow[0].excess, 0.25, 4.0 * 0.015);
}

TEST(GpuRuns, nodes_take_what_their_gpus_share)
{
    const Calibration calibration = calibrate_gpu_runs(cluster_runs(0.03, 0.01, 3), "test");
    ASSERT_NE(law(calibration, "node"), nullptr);
    EXPECT_NEAR(spread_of(*law(calibration, "node")), 0.03, 4.0 * 1.4 * 0.03 / std::sqrt(100.0));
    EXPECT_NEAR(spread_of(*law(calibration, "gpu")), 0.01, 4.0 * 1.4 * 0.01 / std::sqrt(800.0));
    ASSERT_EQ(calibration.slow.size(), 1U);
    EXPECT_EQ(calibration.slow[0].name, "GPU 3 of node n17");
}

TEST(GpuRuns, says_that_a_gpu_is_too_fast_to_be_true)
{
    std::vector<GpuRun> runs = cluster_runs(0.0, 0.015, 4);
    for (GpuRun& run : runs) {
        run.seconds = 1.0 / run.seconds;
    }
    const Calibration calibration = calibrate_gpu_runs(runs, "test");
    EXPECT_TRUE(calibration.slow.empty());
    ASSERT_EQ(calibration.notes.size(), 1U);
    EXPECT_NE(calibration.notes[0].find("GPU 3 of node n17 takes 2"), std::string::npos) << calibration.notes[0];
}

}  // namespace
}  // namespace prismopt
