#include "model/calibration/calibration.hpp"
#include "model/calibration/fit/outliers.hpp"

#include "model/calibration/fit/failure_fit.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/gpus/gpu_effects.hpp"
#include "model/calibration/gpus/slow_gpus.hpp"
#include "model/calibration/samples.hpp"
#include "model/calibration/trace/waiting.hpp"
#include "tests/support/synthetic_job.hpp"
#include "tests/support/test_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>

namespace prismopt {
namespace {

const CalibratedDistribution* distribution(const Calibration& calibration, const std::string& key)
{
    for (const CalibratedDistribution& found : calibration.distributions) {
        if (found.key == key) {
            return &found;
        }
    }
    return nullptr;
}

TEST(Calibrate, NamesTheSlowGpuAndTheLongStage)
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
    // A sixth of it is in its stage's mean; and the GPUs' own spread.
    EXPECT_NEAR(calibration.slow[0].excess, 0.15, 0.035);
    EXPECT_EQ(calibration.slow[1].name, "stage 2, forward-compute");
    EXPECT_NEAR(calibration.slow[1].excess, 0.5, 0.05);
}

/// One GPU of 16 is 30 % slower. Its stage's others are as those of other stages: 7.5 % in the
/// stage's mean, nothing in its median.
TEST(Calibrate, ASlowGpuIsNoLongStage)
{
    SyntheticJob job;
    job.replicas = 4;
    job.stages = 4;
    job.steps = 50;
    job.gpu = 0.002;
    job.slow_worker = 0.3;
    const Calibration calibration = calibrate(SyntheticTrace(job, 9).next());
    ASSERT_EQ(calibration.slow.size(), 1U);
    EXPECT_EQ(calibration.slow[0].name, "GPU of dp 1, stage 1");
}

TEST(Calibrate, KeepsTheStepsOfASlowTrend)
{
    SyntheticJob job;
    job.steps = 200;
    Trace trace = SyntheticTrace(job, 12).next();
    for (TraceOp& op : trace.ops) {
        const float longer = 1.0F + 0.03F * static_cast<float>(op.step) / 200.0F;
        op.duration_s *= longer;
        op.start_s *= static_cast<double>(longer);
    }
    const Calibration calibration = calibrate(trace);
    EXPECT_TRUE(calibration.warm_up.empty());
    EXPECT_TRUE(calibration.drift.found);
    ASSERT_EQ(calibration.notes.size(), 1U);
    EXPECT_GT(std::get<TrendNote>(calibration.notes[0]).change, 0.0);
}

TEST(Calibrate, NamesNobodyAmongEquals)
{
    SyntheticJob job;
    job.replicas = 16;
    job.steps = 30;
    job.gpu = 0.02;
    job.microbatch = 0.1;
    EXPECT_TRUE(calibrate(SyntheticTrace(job, 10).next()).slow.empty());
}

TEST(Calibrate, WaitingIsNoTransfer)
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

/// Transfers of 50 us with a cv of 10 %; three tenths of them wait, 1 ms on average,
/// exponentially: no gap between the two.
TEST(Waiting, ExponentialWaitsAreSeparatedFromTransfers)
{
    std::mt19937_64 generator(6);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (const auto& [share, mean_s] : {std::pair{0.3, 1e-3}, std::pair{0.1, 300e-6}, std::pair{0.0, 0.0}}) {
        std::vector<double> seconds;
        for (int i = 0; i < 20'000; ++i) {
            const double wait =
                uniform(generator) < share ? -mean_s * std::log(1.0 - uniform(generator)) : 0.0;
            seconds.push_back(50e-6 * std::exp(0.1 * normal(generator)) + wait);
        }
        const double threshold = waiting_threshold(seconds);
        std::vector<double> transfers;
        std::copy_if(seconds.begin(), seconds.end(), std::back_inserter(transfers),
                     [&](double s) { return s <= threshold; });
        // Waits of less than the transfers' spread cannot be detected: those below
        // 20 us, 2 % and 7 % of the waits.
        EXPECT_NEAR(1.0 - static_cast<double>(transfers.size()) / 20'000.0, share, 0.02 * share + 0.012)
            << share;
        EXPECT_NEAR(mean_of(transfers), 50e-6 * std::exp(0.005), 0.5e-6) << share;
        EXPECT_NEAR(std::sqrt(variance_of(transfers)) / mean_of(transfers), 0.1, 0.01) << share;
    }
}

/// Skewed distributions of one kind, and transfers of two sizes, wait for nobody.
TEST(Waiting, ATailIsNoWaiting)
{
    std::mt19937_64 generator(7);
    std::normal_distribution<double> normal;
    std::gamma_distribution<double> gamma(2.0, 25e-6);
    std::vector<double> wide;
    std::vector<double> skewed;
    std::vector<double> sizes;
    for (int i = 0; i < 5000; ++i) {
        wide.push_back(50e-6 * std::exp(normal(generator)));
        skewed.push_back(gamma(generator));
        sizes.push_back((i % 3 == 0 ? 120e-6 : 50e-6) * std::exp(0.05 * normal(generator)));
    }
    for (const auto* values : {&wide, &skewed, &sizes}) {
        EXPECT_EQ(waiting_threshold(*values), std::numeric_limits<double>::infinity());
    }
}

/// Each rank starts a step where its own last one ended, so that a slow one falls behind, as unsynchronised
/// clocks make it seem. Ranks of one profile: the same kernels, without microbatches.
Trace profile_of_ranks(int ranks, double slow, double spread, unsigned seed)
{
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    Trace trace;
    trace.source = "test";
    for (int rank = 0; rank < ranks; ++rank) {
        const double own = std::exp(spread * normal(generator)) * (rank == 5 ? slow : 1.0);
        double now = 0.0;
        for (int step = 0; step < 20; ++step) {
            for (int k = 0; k < 20; ++k) {
                TraceOp op;
                op.step = step;
                op.worker = trace.worker_index({rank, 0});
                op.kind = trace.kind_index(k % 2 == 0 ? "gemm" : "layer_norm", test_names());
                op.sequence = k / 2;
                op.start_s = now;
                op.duration_s =
                    static_cast<float>((k % 2 == 0 ? 8e-4 : 2e-4) * own * std::exp(0.02 * normal(generator)));
                now += static_cast<double>(op.duration_s);
                trace.ops.push_back(op);
            }
        }
    }
    sort_by_start(trace);
    return trace;
}

TEST(GpuEffects, OfProfilesOfSeveralRanks)
{
    const Calibration calibration = calibrate(profile_of_ranks(8, 1.2, 0.0, 1));
    EXPECT_TRUE(calibration.warm_up.empty());
    ASSERT_EQ(calibration.slow.size(), 1U);
    EXPECT_EQ(calibration.slow[0].name, "GPU of rank 5");
    // 200 kernels of each kind: four standard errors of the mean that gemms dominate.
    EXPECT_NEAR(calibration.slow[0].excess, 0.2, 4.0 * 1.2 * 0.02 / std::sqrt(200.0));
    ASSERT_NE(distribution(calibration, "gpu"), nullptr);
    EXPECT_EQ(distribution(calibration, "gpu")->fit.distribution.slow.probability, 1.0 / 8.0);
    EXPECT_NEAR(distribution(calibration, "gpu")->fit.distribution.slow.excess, 0.2,
                4.0 * 1.2 * 0.02 / std::sqrt(200.0));
    // One of eight is 0.2 longer: a cv of 0.2 sqrt(7 / 64) over the mean of 1.025, and no more.
    EXPECT_NEAR(DistributionQuantile(distribution(calibration, "gpu")->fit.distribution).moments().cv(),
                0.2 * std::sqrt(7.0 / 64.0) / 1.025, 0.003);
    ASSERT_NE(distribution(calibration, "residual.gemm"), nullptr);
    const DistributionQuantile rest(distribution(calibration, "residual.gemm")->fit.distribution);
    // The slow GPU is not in it.
    EXPECT_NEAR(rest.moments().cv(), 0.02, 4.0 * 0.02 / std::sqrt(2.0 * 1600.0));
}

TEST(GpuEffects, SpreadOfManyRanksIsRecovered)
{
    for (const unsigned seed : {2U, 3U, 4U}) {
        const Component gpu = gpu_effects(profile_of_ranks(64, 1.0, 0.03, seed)).component;
        EXPECT_TRUE(gpu.present);
        EXPECT_NEAR(std::sqrt(gpu.variance), 0.03, 4.0 * 0.03 / std::sqrt(128.0));
        EXPECT_LT(gpu.low, 0.03 * 0.03);
        EXPECT_GT(gpu.high, 0.03 * 0.03);
        EXPECT_FALSE(gpu_effects(profile_of_ranks(64, 1.0, 0.0, seed + 10)).component.present);
    }
    EXPECT_EQ(gpu_effects(profile_of_ranks(1, 1.0, 0.0, 5)).component.unknown, UnknownComponent::own_kernels);
}

/// Steps of GPUs; one may be slow in some.
std::vector<std::vector<double>> steps_of_gpus(int gpus, int steps, double share, unsigned seed)
{
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<std::vector<double>> logs(static_cast<std::size_t>(gpus));
    for (std::size_t g = 0; g < logs.size(); ++g) {
        const double own = 0.02 * normal(generator);
        for (int s = 0; s < steps; ++s) {
            logs[g].push_back(own + 0.03 * normal(generator) +
                              (g == 2 && uniform(generator) < share ? std::log(1.2) : 0.0));
        }
    }
    return logs;
}

/// Holm's correction at 1 %: of 300 jobs of equal GPUs 3 have a false alarm, 8
/// with three standard errors more.
TEST(SometimesSlow, IsFoundInItsStepsAndNotInvented)
{
    int alarms = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        for (const auto& [gpus, steps] : {std::pair{4, 20}, {8, 60}, {32, 200}}) {
            alarms += sometimes_slow(steps_of_gpus(gpus, steps, 0.0, seed)).empty() ? 0 : 1;
        }
        const std::vector<SometimesSlow> found = sometimes_slow(steps_of_gpus(8, 100, 0.3, seed));
        ASSERT_EQ(found.size(), 1U) << seed;
        EXPECT_EQ(found[0].index, 2U);
        EXPECT_NEAR(found[0].share, 0.3, 4.0 * std::sqrt(0.3 * 0.7 / 100.0));
        EXPECT_NEAR(found[0].excess, 0.2, 4.5 * 1.2 * 0.03 / std::sqrt(0.2 * 100.0));
    }
    EXPECT_LE(alarms, 8);
    EXPECT_TRUE(sometimes_slow(steps_of_gpus(3, 100, 0.3, 1)).empty());
}

TEST(Calibrate, NotesAGpuThatIsSlowNowAndThen)
{
    SyntheticJob job;
    job.replicas = 4;
    job.steps = 100;
    Trace trace = SyntheticTrace(job, 9).next();
    for (TraceOp& op : trace.ops) {
        if (op.worker == 3 && op.step % 10 < 3) {
            op.duration_s *= 1.2F;
        }
    }
    const Calibration calibration = calibrate(trace);
    std::vector<ThrottlingGpu> noted;
    for (const CalibrationNote& note : calibration.notes) {
        if (const auto* slow = std::get_if<ThrottlingGpu>(&note)) {
            noted.push_back(*slow);
        }
    }
    ASSERT_EQ(noted.size(), 1U);
    EXPECT_EQ(noted[0].gpu, "GPU of dp 1, stage 1");
    EXPECT_NEAR(noted[0].share, 0.3, 0.005);
    EXPECT_NEAR(noted[0].excess, 0.2, 0.005);
}

TEST(Trace, OperationsOfAbsurdLengthAreNamed)
{
    SyntheticJob job;
    job.steps = 20;
    Trace trace = SyntheticTrace(job, 2).next();
    const std::size_t before = trace.ops.size();
    EXPECT_EQ(exclude_absurd(trace), 0U);
    trace.ops[before / 2].duration_s = 3600.0F;
    const std::uint32_t line = trace.ops[before / 2].line;
    EXPECT_EQ(exclude_absurd(trace), 1U);
    EXPECT_EQ(trace.ops.size(), before - 1);
    ASSERT_EQ(trace.faults.size(), 1U);
    EXPECT_EQ(trace.faults[0].reason, FaultReason::absurd_for_its_kind);
    EXPECT_EQ(trace.faults[0].first_line, line);
}

/// Of 2,000 times of about 50 us one is 500 s: it is excluded, and the rest have the spread of the others.
TEST(Collectives, TimesOfAbsurdLengthAreNamed)
{
    std::mt19937_64 generator(6);
    std::normal_distribution<double> normal;
    std::vector<CollectiveRun> times;
    for (std::uint32_t i = 0; i < 2000; ++i) {
        times.push_back({"all_reduce, 256 bytes", 50e-6 * std::exp(0.1 * normal(generator)), 1, 2 + i});
    }
    std::vector<Fault> faults;
    exclude_absurd(times, faults);
    EXPECT_TRUE(faults.empty());
    times[700].seconds = 500.0;
    exclude_absurd(times, faults);
    EXPECT_EQ(times.size(), 1999U);
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].first_line, 702U);
    EXPECT_EQ(faults[0].reason, FaultReason::absurd_for_its_series);
    EXPECT_EQ(faults[0].of, "all_reduce, 256 bytes");
    const Calibration calibration = calibrate_collectives(times, "test", test_names());
    // Of 2,000 times: four standard errors of a standard deviation, sd / sqrt(2 n).
    EXPECT_NEAR(DistributionQuantile(distribution(calibration, "residual.dp_collective")->fit.distribution)
                    .moments()
                    .cv(),
                0.1, 4.0 * 0.1 / std::sqrt(4000.0));
}

/// A long time of a short series beside a series that takes as long, and a slow GPU, are no slips.
TEST(Collectives, LongTimesThatCanBeStay)
{
    std::vector<CollectiveRun> times(20, {"short", 50e-6});
    times.resize(40, {"long", 6.0});
    times[3].seconds = 50.0;
    std::vector<Fault> faults;
    exclude_absurd(times, faults);
    EXPECT_TRUE(faults.empty());
    times[4].seconds = 61.0;
    times.push_back({"once", 500.0});  // does not show how long times can be
    exclude_absurd(times, faults);
    EXPECT_EQ(times.size(), 40U);
    EXPECT_EQ(faults.size(), 1U);
    std::vector<GpuRun> runs(20, {"gemm", "0", "", 2.0});
    runs[7].seconds = 100.0;
    faults.clear();
    exclude_absurd(runs, faults);
    EXPECT_TRUE(faults.empty());
    runs[7].seconds = 1e4;
    exclude_absurd(runs, faults);
    EXPECT_EQ(runs.size(), 19U);
    EXPECT_EQ(faults.size(), 1U);
}

TEST(Trace, TwoJobsOneAfterTheOtherAreDistinguished)
{
    SyntheticJob job;
    job.steps = 40;
    for (const double factor : {1.0, 5.0}) {
        Trace trace = SyntheticTrace(job, 2).next();
        for (TraceOp& op : trace.ops) {
            if (op.step >= 20) {
                op.step += 10'000;
                op.duration_s *= static_cast<float>(factor);
            }
        }
        const std::int32_t last = trace.ops.back().step;  // of which the trace has only the beginning
        trace.ops.resize(trace.ops.size() - 3);
        ASSERT_EQ(trace.ops.back().step, last);
        const std::vector<TraceProblem> found = problems(trace);
        ASSERT_EQ(found.size(), factor == 1.0 ? 0U : 1U);  // windows of one job jump, too
        if (!found.empty()) {
            const auto* jobs = std::get_if<JobsInOneFile>(&found[0].what);
            ASSERT_NE(jobs, nullptr);
            EXPECT_EQ(jobs->after.first, 10020);
            EXPECT_EQ(jobs->after.last, 10039);
            EXPECT_NE(jobs->after.low_s > jobs->before.high_s, jobs->before.low_s > jobs->after.high_s);
        }
    }
}

/// A process of known spread and memory, and none.
TEST(Drift, IsFoundWhereItIs)
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
    // 4,000 steps are 40 independent stretches of twice the memory: four
    // standard errors, sqrt(1/80) of the cv.
    EXPECT_NEAR(found.cv, 0.02, 0.02 * 4.0 * std::sqrt(1.0 / 80.0));
    EXPECT_GT(found.time_s, 100.0 / 2.0);
    EXPECT_LT(found.time_s, 100.0 * 2.0);
    EXPECT_FALSE(fit_drift(noise, places, 2.0).found);
    EXPECT_FALSE(fit_drift({noise.begin(), noise.begin() + 20}, places, 2.0).found);
}

/// Values of normal workers, of which one more than 1 % of the time would be an error of the level.
TEST(Outliers, FewWorkers)
{
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal(0.0, 0.01);
    constexpr int runs = 1000;
    for (const std::size_t workers : {6U, 8U, 16U}) {
        int wrong = 0;
        int found = 0;
        for (int run = 0; run < runs; ++run) {
            std::vector<double> values(workers);
            std::generate(values.begin(), values.end(), [&] { return normal(generator); });
            const std::vector<double> errors(workers, 0.001);
            wrong += outliers(values, errors).empty() ? 0 : 1;
            values[1] += 0.3;
            const std::vector<Outlier> slow = outliers(values, errors);
            found += std::any_of(slow.begin(), slow.end(),
                                 [](const Outlier& outlier) { return outlier.index == 1; })
                         ? 1
                         : 0;
        }
        EXPECT_LE(wrong, runs / 40) << workers;
        EXPECT_GE(found, runs * 9 / 10) << workers;
    }
}

TEST(Outliers, OneAmongMany)
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

TEST(Failures, RatesAndClusters)
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
    // No clusters: counts of 4 a node have a cv of 0.5 already, all of it Poisson's.
    EXPECT_LT(fit.node_cv, 0.35);
    EXPECT_NEAR(fit.causes[0].repair_s, 3600.0, 1e-6);
    for (std::size_t i = 0; i < outages.size(); ++i) {
        outages[i].start_s = 86'400.0 * 10.0 * static_cast<double>(i / 10) + static_cast<double>(i % 10);
    }
    EXPECT_TRUE(fit_failures(outages, {100, 400.0 * 86'400.0}).causes[0].clustered);
}

TEST(GpuRuns, SpreadBetweenAndWithin)
{
    std::mt19937_64 generator(8);
    std::normal_distribution<double> normal;
    std::vector<GpuRun> runs;
    for (int gpu = 0; gpu < 400; ++gpu) {
        const double own = std::exp(0.02 * normal(generator)) * (gpu == 17 ? 1.3 : 1.0);
        for (int repeat = 0; repeat < 9; ++repeat) {
            runs.push_back(
                {"gemm", std::to_string(gpu), "", 0.5 * own * std::exp(0.005 * normal(generator))});
        }
    }
    const Calibration calibration = calibrate_gpu_runs(runs, "test");
    ASSERT_NE(distribution(calibration, "gpu"), nullptr);
    const DistributionQuantile quantile(distribution(calibration, "gpu")->fit.distribution);
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
            const double factor =
                own * std::exp(gpu_spread * normal(generator)) * (node == 17 && gpu == 3 ? 1.25 : 1.0);
            for (int repeat = 0; repeat < 5; ++repeat) {
                runs.push_back({"", std::to_string(gpu), "n" + std::to_string(node),
                                0.1 * factor * std::exp(0.002 * normal(generator))});
            }
        }
    }
    return runs;
}
double spread_of(const CalibratedDistribution& distribution)
{
    const DistributionQuantile quantile(distribution.fit.distribution);
    return 0.5 * (quantile(0.8413, false) - quantile(0.1587, false));
}

TEST(GpuRuns, NumbersOfGpusAreTheirNodes)
{
    const Calibration calibration = calibrate_gpu_runs(cluster_runs(0.0, 0.015, 2), "test");
    ASSERT_NE(distribution(calibration, "gpu"), nullptr);
    EXPECT_EQ(distribution(calibration, "gpu")->fit.values, 400U);
    // Of 400 GPUs: four standard errors, sd / sqrt(2 n), and as much again for
    // quantiles near one standard deviation.
    EXPECT_NEAR(spread_of(*distribution(calibration, "gpu")), 0.015, 4.0 * 1.4 * 0.015 / std::sqrt(800.0));
    ASSERT_NE(distribution(calibration, "node"), nullptr);
    EXPECT_EQ(distribution(calibration, "node")->fit.family, "constant");
    ASSERT_EQ(calibration.slow.size(), 1U);
    EXPECT_EQ(calibration.slow[0].name, "GPU 3 of node n17");
    EXPECT_NEAR(calibration.slow[0].excess, 0.25, 4.0 * 0.015);
}

TEST(GpuRuns, NodeFactorsAreWhatTheirGpusShare)
{
    const Calibration calibration = calibrate_gpu_runs(cluster_runs(0.03, 0.01, 3), "test");
    ASSERT_NE(distribution(calibration, "node"), nullptr);
    EXPECT_NEAR(spread_of(*distribution(calibration, "node")), 0.03, 4.0 * 1.4 * 0.03 / std::sqrt(100.0));
    EXPECT_NEAR(spread_of(*distribution(calibration, "gpu")), 0.01, 4.0 * 1.4 * 0.01 / std::sqrt(800.0));
    ASSERT_EQ(calibration.slow.size(), 1U);
    EXPECT_EQ(calibration.slow[0].name, "GPU 3 of node n17");
}

/// Of 400 GPUs one is 25 % slower: the distribution's usual part has none of it, and
/// its slow mode has it as often.
TEST(GpuRuns, SlowOnesAreARareMode)
{
    const Calibration calibration = calibrate_gpu_runs(cluster_runs(0.0, 0.015, 2), "test");
    const Distribution gpu = distribution(calibration, "gpu")->fit.distribution;
    EXPECT_EQ(gpu.slow.probability, 1.0 / 400.0);
    EXPECT_NEAR(gpu.slow.excess, 0.25, 4.0 * 0.015);
    Distribution usual = gpu;
    usual.slow = {};
    EXPECT_NEAR(DistributionQuantile(usual).moments().cv(), 0.015, 4.0 * 0.015 / std::sqrt(800.0));
    ASSERT_EQ(calibration.notes.size(), 1U);
    const auto& share = std::get<SlowShare>(calibration.notes[0]);
    EXPECT_EQ(share.key, "gpu");
    EXPECT_EQ(share.slow, 1U);
    EXPECT_EQ(share.excess, gpu.slow.excess);
}

/// A run is the sum of many kernels.
TEST(GpuRuns, ShowNothingOfKernels)
{
    Calibration calibration = calibrate_gpu_runs(cluster_runs(0.0, 0.015, 2), "test");
    EXPECT_EQ(distribution(calibration, "residual.gemm"), nullptr);
    ASSERT_EQ(calibration.left.size(), 1U);
    EXPECT_EQ(calibration.left[0].key, "residual.gemm");
    // About the median of five, of variance 0.287 and covariance 1/5 with each:
    // sqrt(1 + 0.287 - 2 / 5) = 0.94 of 0.2 %.
    const auto& runs = std::get<RunsOnly>(calibration.left[0].why);
    EXPECT_NEAR(runs.spread, 0.94 * 0.002, 4.0 * 0.94 * 0.002 / std::sqrt(2.0 * 2000.0));
    EXPECT_EQ(runs.source, "test");
    Calibration kernels;
    DistributionFit measured = constant_distribution("kernels");
    kernels.distributions.push_back({"residual.gemm", measured});
    merge(kernels, calibration);
    EXPECT_TRUE(kernels.left.empty());
}

TEST(Collectives, MeansOfIterationsSaySo)
{
    std::mt19937_64 generator(4);
    std::normal_distribution<double> normal;
    std::vector<CollectiveRun> times;
    for (int i = 0; i < 50; ++i) {
        times.push_back({"all_reduce", 1e-3 * std::exp(0.02 * normal(generator)), 20});
    }
    const std::string source =
        distribution(calibrate_collectives(times, "test", test_names()), "residual.dp_collective")
            ->fit.distribution.source;
    EXPECT_NE(source.find("means of 20 iterations"), std::string::npos) << source;
    EXPECT_NE(source.find("at most 4.5 times"), std::string::npos) << source;
}

/// Of three GPUs a variance is known to a factor of 40 upwards: 95 % limits hold the truth in 34 of
/// 40, three standard errors below.
TEST(Calibrate, LimitsOfFewGpusAreWide)
{
    int inside = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        SyntheticJob job;
        job.replicas = 3;
        job.stages = 1;
        job.steps = 12;
        job.gpu = 0.05;
        const std::vector<Component> components = calibrate(SyntheticTrace(job, seed).next()).components;
        const Component& gpu = components[1];
        ASSERT_EQ(gpu.name, "gpu");
        EXPECT_GE(gpu.high, 39.0 * gpu.variance);
        inside += gpu.low <= 0.05 * 0.05 && 0.05 * 0.05 <= gpu.high ? 1 : 0;
    }
    EXPECT_GE(inside, 34);
}

TEST(GpuRuns, SaysThatAGpuIsTooFastToBeTrue)
{
    std::vector<GpuRun> runs = cluster_runs(0.0, 0.015, 4);
    for (GpuRun& run : runs) {
        run.seconds = 1.0 / run.seconds;
    }
    const Calibration calibration = calibrate_gpu_runs(runs, "test");
    EXPECT_TRUE(calibration.slow.empty());
    ASSERT_EQ(calibration.notes.size(), 1U);
    const auto& fast = std::get<FastNote>(calibration.notes[0]);
    EXPECT_EQ(fast.gpu.substr(0, 17), "GPU 3 of node n17");
    EXPECT_NEAR(fast.less, 0.2, 4.0 * 0.015);
}

}  // namespace
}  // namespace prismopt
