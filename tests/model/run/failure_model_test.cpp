#include "model/run/failure_model.hpp"

#include "tests/support/failure_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

/// Kokolis et al., arXiv 2410.21680: nodes of 8 GPUs, 5 minutes to restart, writes that cost nothing.
FailureModel published(int gpus, double rate_per_1000_node_days, double restart_s, double interval_s)
{
    Reliability r{PerSecond{1e-3 * rate_per_1000_node_days / day}, Seconds{restart_s}, Seconds{interval_s},
                  Seconds{0.0}};
    return failure_model(r, {gpus / 8, gpus});
}
FailureModel published(double interval_s) { return published(16384, 6.50, 5 * minute, interval_s); }

/// The published projections: to all the digits that are given.
TEST(FailureModel, GivesThePublishedTimesBetweenFailures)
{
    EXPECT_NEAR(1.0 / published(16384, 6.50, 0.0, hour).rate() / hour, 1.80, 0.005);
    EXPECT_NEAR(1.0 / published(131072, 6.50, 0.0, hour).rate() / hour, 0.225, 0.0005);
    EXPECT_NEAR(1.0 / published(16384, 2.34, 0.0, hour).rate() / hour, 1.80 * 6.50 / 2.34, 0.015);
}

TEST(FailureModel, GivesThePublishedFirstOrderRatios)
{
    EXPECT_NEAR(first_order_ettr(published(hour)), 0.676, 0.0005);
    EXPECT_NEAR(first_order_ettr(published(5 * minute)), 0.931, 0.0005);
    EXPECT_NEAR(first_order_ettr(published(100'000, 2.34, 2 * minute, 2 * minute)), 0.939, 0.0005);
    FailureModel writes = published(100'000, 2.34, 2 * minute, 2 * minute);
    writes.stall_s = 6.0;
    EXPECT_NEAR(first_order_ettr(writes), 0.894, 0.0005);
}

/// Where losses are small the first-order form, exact renewal and histories agree; the histories
/// within 1 % of the renewal always.
TEST(TrainingTime, AgreesWithTheFirstOrderFormWhereLossesAreSmall)
{
    const double productive = 500.0 * hour;
    for (const FailureModel& model :
         {published(5 * minute), published(100'000, 2.34, 2 * minute, 2 * minute)}) {
        const double exact = productive / expected_training_time(productive, model);
        EXPECT_NEAR(first_order_ettr(model), exact, 0.005);
        EXPECT_NEAR(productive / simulate(productive, model, 256).mean, exact, 0.01 * exact);
    }
    for (const double rate : {0.1, 0.5, 1.0, 1.5}) {  // failures an interval
        const FailureModel model = poisson(rate / hour, 10 * minute, hour, 5 * minute);
        const Simulated s = simulate(200 * hour, model, 2048);
        EXPECT_NEAR(s.mean / expected_training_time(200 * hour, model), 1.0, 0.01) << rate;
    }
}

/// Effective training time ratio at 16,384 GPUs by exact renewal 0.715 with a checkpoint an hour where
/// nothing fails in the downtime, and 0.1 % less where it is a restart that may fail. With one every 5
/// minutes the first-order form, 0.931, is nearly exact.
TEST(TrainingTime, GivesThePublishedRatios)
{
    const double productive = 1000.0 * hour;
    FailureModel undisturbed = published(hour);
    std::swap(undisturbed.sources[0].detection_s, undisturbed.sources[0].restart_s);
    EXPECT_NEAR(productive / expected_training_time(productive, undisturbed), 0.715, 0.0005);
    EXPECT_NEAR(productive / expected_training_time(productive, published(5 * minute)), 0.931, 0.004);
    for (const FailureModel& model : {undisturbed, published(hour)}) {
        const double ratio = productive / expected_training_time(productive, model);
        const Simulated hourly = simulate(productive, model, 400);
        EXPECT_NEAR(ratio, 0.715, 0.715 * 0.0015);
        EXPECT_NEAR(productive / hourly.mean, ratio, 4.0 * ratio * hourly.error / hourly.mean + 2e-4);
    }
}

/// Failures faster than restarts are long: 131,072 GPUs and beyond. Several causes, each with a
/// restart and a detection of its own.
TEST(TrainingTime, RestartsFailToo)
{
    const auto cause = [](double rate, double detection_s, double restart_s, std::size_t place) {
        FailureModel::Source source;
        source.rate = rate;
        source.detection_s = detection_s;
        source.restart_s = restart_s;
        source.cause = place;
        return source;
    };
    FailureModel model = poisson(0.0, 0.0, 6 * minute, 10.0);
    model.sources = {cause(1.0 / (20 * minute), 0.0, 10 * minute, 0)};
    const double productive = 300 * model.interval_s;
    // his eq. 13
    const double daly = 20 * minute * std::exp(10.0 / 20.0) * std::expm1((6 * minute + 10.0) / (20 * minute));
    EXPECT_NEAR(expected_training_time(productive, model), 299 * daly + model.interval_s, 1e-9 * 300 * daly);
    const auto check = [&] {
        const Simulated s = simulate(productive, model, 4000);
        // The last interval, which counts at its own length, may fail.
        EXPECT_NEAR(s.mean, expected_training_time(productive, model), 4.0 * s.error + 2e-4 * s.mean + daly);
    };
    check();
    model.sources = {cause(1.0 / (30 * minute), 2 * minute, 15 * minute, 0),
                     cause(1.0 / hour, 5 * minute, 3 * minute, 1), cause(1.0 / day, hour, 10 * hour, 2)};
    check();
}

TEST(TrainingTime, ExpectedIsTheMeanOfManyHistories)
{
    for (const double write : {0.0, 60.0, 600.0}) {
        for (const double interval : {0.2 * hour, hour, 3 * hour}) {
            const FailureModel model = poisson(1.0 / (4 * hour), 10 * minute, interval, write);
            const double productive = 20 * interval + 1.0;  // a last part too short to fail
            const Simulated s = simulate(productive, model, 4000);
            // The table of gaps errs by less than 2e-4 of their mean.
            EXPECT_NEAR(s.mean, expected_training_time(productive, model), 4.0 * s.error + 2e-4 * s.mean)
                << write << " " << interval;
        }
    }
}

/// A bound that prunes must not exceed the mean, whatever is left after the last whole interval; a run that
/// ends on a checkpoint's hour does not wait for that checkpoint.
TEST(TrainingTime, ExpectedNeverExceedsTheMean)
{
    for (const double rate : {0.0, 1.0 / (8 * hour), 1.0 / hour}) {
        for (const double intervals : {0.3, 1.0, 1.5, 2.0, 7.0, 7.9}) {
            const FailureModel model = poisson(rate, 5 * minute, hour, 10 * minute);
            const Simulated s = simulate(intervals * hour, model, 2000);
            EXPECT_LE(expected_training_time(intervals * hour, model), s.mean + 4.0 * s.error)
                << rate << " " << intervals;
        }
    }
}

/// A run that is shorter than the interval begins again after each failure (Daly's equation 13 of
/// one part), however long that is.
TEST(TrainingTime, OfARunWithoutCheckpoints)
{
    const double productive = 2.5 * hour;
    const double between = 4 * hour;
    const double mean = between * std::exp(10 * minute / between) * std::expm1(productive / between);
    const Simulated shorter =
        simulate(productive, poisson(1.0 / between, 10 * minute, 3 * hour, minute), 8000);
    EXPECT_NEAR(shorter.mean, mean, 4.0 * shorter.error + 2e-4 * mean);
    EXPECT_EQ(simulate(productive, poisson(1.0 / between, 10 * minute, 3000 * hour, minute), 8000).mean,
              shorter.mean);
}

TEST(TrainingTime, WithoutFailuresIsWorkAndWrites)
{
    const FailureModel model = poisson(0.0, 5 * minute, hour, minute);
    for (const double hours : {0.5, 1.0, 2.5, 10.0}) {
        const double writes = std::ceil(hours) - 1.0;  // none after the end
        EXPECT_NEAR(expected_training_time(hours * hour, model), hours * hour + writes * minute, 1e-6)
            << hours;
        EXPECT_NEAR(simulate(hours * hour, model, 2).mean, hours * hour + writes * minute, 1e-6);
    }
}

/// Young's interval is first order: within a few percent of the best when writes are short
/// beside the time between failures.
TEST(TrainingTime, YoungsIntervalIsNearTheBest)
{
    const Reliability reliability{PerSecond{1e-3 / day}, Seconds{10 * minute}, Seconds{0.0}, Seconds{30.0}};
    const FailureModel young = failure_model(reliability, {1000, 8000});
    EXPECT_NEAR(young.interval_s, std::sqrt(2.0 * 30.0 * day), 1e-6);  // one failure a day
    const double productive = 1e8;
    const double found = expected_training_time(productive, young);
    double best = std::numeric_limits<double>::infinity();
    for (int i = -80; i <= 80; ++i) {
        FailureModel other = young;
        other.interval_s *= std::pow(1.02, i);
        best = std::min(best, expected_training_time(productive, other));
    }
    EXPECT_LT(found, best * 1.0005);
    for (const double factor : {0.5, 2.0}) {
        FailureModel other = young;
        other.interval_s *= factor;
        EXPECT_GT(expected_training_time(productive, other), found * 1.002) << factor;
    }
}

/// No interval, no failures: no checkpoints. Free writes: as many as one likes, and the time stays finite.
TEST(FailureModel, OfYoungHoldsAtItsLimits)
{
    const FailureModel never =
        failure_model({PerSecond{0.0}, Seconds{600.0}, Seconds{0.0}, Seconds{30.0}}, {1000, 8000});
    EXPECT_EQ(expected_training_time(1e6, never), 1e6);
    EXPECT_EQ(simulate(1e6, never, 2).mean, 1e6);
    EXPECT_FALSE(never.hopeless());

    const FailureModel free =
        failure_model({PerSecond{1e-3 / day}, Seconds{600.0}, Seconds{0.0}, Seconds{0.0}}, {1000, 8000});
    // one failure a day loses its restart and nothing else
    const double restarts_only = 1e6 * (1.0 + 600.0 / day);
    EXPECT_NEAR(expected_training_time(1e6, free), restarts_only, 1e-4 * restarts_only);
    const Simulated s = simulate(1e6, free, 2000);
    EXPECT_NEAR(s.mean, restarts_only, 1e-4 * restarts_only + 4.0 * s.error);
}

TEST(FailureModel, KnowsWhenARunNeverEnds)
{
    EXPECT_FALSE(poisson(1.0 / hour, 60.0, hour, 0.0).hopeless());
    EXPECT_TRUE(poisson(10.0 / hour, 60.0, hour, 0.0).hopeless());
    EXPECT_TRUE(poisson(1.0 / hour, 60.0, hour, 9 * hour).hopeless());
}

/// Three formulas for one question. Daly's higher order is within 0.1 % of the best time, Young's within 1 %;
/// the optimum is where the renewal formula is lowest, by brute force.
TEST(CheckpointInterval, OptimumIsWhereTheTimeIsLowest)
{
    for (const double stall : {6.0, 60.0, 600.0}) {
        const double rate = 1.0 / (2 * hour);
        const auto time = [&](double interval) {
            return expected_training_time(1000.0 * interval, poisson(rate, 5 * minute, interval, stall)) /
                   interval;
        };
        const double best = optimal_interval(rate, stall);
        double least = std::numeric_limits<double>::infinity();
        double at = 0.0;
        for (double interval = 0.2 * best; interval < 3.0 * best; interval *= 1.002) {
            if (time(interval) < least) {
                at = interval;
            }
            least = std::min(least, time(interval));
        }
        EXPECT_NEAR(best / at, 1.0, 0.004) << stall;
        EXPECT_LE(time(best), least * (1.0 + 1e-9));
        EXPECT_LT(time(daly_interval(rate, stall)), 1.001 * least);
        EXPECT_LT(time(young_interval(rate, stall)), 1.01 * least);
        EXPECT_LT(best, young_interval(rate, stall));
    }
}

/// With copies in memory only the failures that destroy them go back to storage; the others lose no more with
/// a longer interval. By brute force over intervals, on the same histories each: within 0.2 % of the best.
TEST(CheckpointInterval, OptimumKnowsOfCopiesInMemory)
{
    Reliability r{PerSecond{}, Seconds{}, Seconds{0.0}, Seconds{60.0}};
    r.interval_rule = IntervalRule::optimal;
    Cause cause;
    cause.name = "any";
    cause.rate = PerSecond{1.0 / (2000.0 * 2 * hour)};  // of 2,000 nodes: one in 2 h
    cause.restart = Seconds{5 * minute};
    cause.memory_kept = 0.9;
    r.causes.push_back(cause);
    r.memory.interval = Seconds{2 * minute};
    FailureModel model = failure_model(r, {2000, 16000});
    EXPECT_DOUBLE_EQ(model.interval_s, optimal_interval(0.1 / (2 * hour), 60.0));
    EXPECT_DOUBLE_EQ(model.interval_s, interval_by(IntervalRule::optimal, model));
    const double chosen = model.interval_s;
    const auto time = [&model](double interval) {
        model.interval_s = interval;
        return simulate(20 * day, model, 2000).mean;
    };
    const double found = time(chosen);
    double best = found;
    for (double factor = 0.125; factor < 8.1; factor *= std::sqrt(2.0)) {
        best = std::min(best, time(factor * chosen));
    }
    EXPECT_LT(found, best * 1.002);
    EXPECT_GT(time(optimal_interval(1.0 / (2 * hour), 60.0)), found * 1.01);  // of all failures: too short
}

TEST(CheckpointInterval, OfDalyHoldsAtItsLimits)
{
    // Writes as long as two times between failures.
    EXPECT_DOUBLE_EQ(daly_interval(1.0 / hour, 2.0 * hour), hour);
    EXPECT_NEAR(daly_interval(1.0 / day, 1e-6), young_interval(1.0 / day, 1e-6), 1e-3);  // nearly free writes
}

TEST(FailureModel, CountsRatesByWhatTheyAreOf)
{
    const auto cause = [](RateOf of, double rate, double restart_s) {
        Cause c;
        c.rate = PerSecond{rate};
        c.of = of;
        c.detection = Seconds{1};
        c.restart = Seconds{restart_s};
        return c;
    };
    Reliability r;
    r.causes = {cause(RateOf::node, 1e-9, 2.0), cause(RateOf::gpu, 1e-9, 4.0), cause(RateOf::job, 1e-9, 8.0),
                cause(RateOf::node, 0.0, 1.0)};
    r.checkpoint_interval = Seconds{hour};
    const FailureModel model = failure_model(r, {10, 80});
    ASSERT_EQ(model.sources.size(), 3U);
    EXPECT_DOUBLE_EQ(model.rate(), 91e-9);
    EXPECT_EQ(model.sources[2].cause, 2U);
    EXPECT_FALSE(model.sources[2].by_node);
    const double down = (10 * 3.0 + 80 * 5.0 + 9.0) / 91.0;
    EXPECT_NEAR(first_order_ettr(model), 1.0 - 91e-9 * (down + 0.5 * hour), 1e-12);
}

/// Against a cluster's failures that are dealt out to its nodes: how clustered are
/// those of a job on some of them?
TEST(FailureModel, AJobSeesItsShareOfAClustersGaps)
{
    constexpr int nodes = 400;
    constexpr double cv = 3.0;
    constexpr int failures = 400'000;
    Reliability r;
    Cause cause;
    cause.rate = PerSecond{1e-9};
    cause.gaps = {GapFamily::gamma, cv, nodes};
    r.causes = {cause};
    r.checkpoint_interval = Seconds{hour};
    for (const int job : {20, 100, 300}) {
        std::mt19937_64 random(static_cast<std::uint64_t>(job));
        std::gamma_distribution<double> gap(1.0 / (cv * cv), cv * cv);
        std::uniform_int_distribution<int> node(0, nodes - 1);
        std::vector<double> seen;
        double since = 0.0;
        for (int i = 0; i < failures; ++i) {
            since += gap(random);
            if (node(random) < job) {
                seen.push_back(since);
                since = 0.0;
            }
        }
        const double mean = std::accumulate(seen.begin(), seen.end(), 0.0) / static_cast<double>(seen.size());
        double squares = 0.0;
        double fourths = 0.0;
        for (const double s : seen) {
            squares += (s / mean - 1.0) * (s / mean - 1.0) / static_cast<double>(seen.size());
            fourths += std::pow(s / mean - 1.0, 4) / static_cast<double>(seen.size());
        }
        // of a variance
        const double error = std::sqrt((fourths - squares * squares) / static_cast<double>(seen.size()));
        const double own = failure_model(r, {job, 8 * job}).sources.front().gaps.cv;
        EXPECT_NEAR(own * own, squares, 4.0 * error) << job;
        EXPECT_GT(own, 1.0 + 4.0 * error) << job;
        EXPECT_LT(own * own, cv * cv - 4.0 * error) << job;
    }
    EXPECT_EQ(failure_model(r, {nodes, 8 * nodes}).sources.front().gaps.cv, cv);
    EXPECT_EQ(failure_model(r, {2 * nodes, 16 * nodes}).sources.front().gaps.cv, cv);
    r.causes.front().gaps.nodes = 0;
    EXPECT_EQ(failure_model(r, {20, 160}).sources.front().gaps.cv, cv);
}

TEST(FailureModel, TakesThePlansOwnIntervalAndSpares)
{
    Reliability r{PerSecond{1e-8}, Seconds{60}, Seconds{hour}, Seconds{30}};
    r.spares = 5;
    EXPECT_EQ(failure_model(r, {10, 80}).interval_s, hour);
    EXPECT_EQ(failure_model(r, {10, 80}).spares, 5);
    EXPECT_EQ(failure_model(r, {10, 80, Seconds{120}, 2}).interval_s, 120.0);
    EXPECT_EQ(failure_model(r, {10, 80, Seconds{120}, 2}).spares, 2);
}

/// Asynchronous writes cannot overlap, however short their snapshots are.
TEST(FailureModel, LeavesTimeForAsynchronousWrites)
{
    Reliability r{PerSecond{1e-3 / day}, Seconds{600}, Seconds{0}, Seconds{300}};
    r.write = CheckpointWrite::asynchronous;
    r.snapshot = Seconds{0.001};
    const FailureModel model = failure_model(r, {2000, 16000});
    EXPECT_EQ(model.stall_s, 0.001);
    EXPECT_EQ(model.lag_s, 300.0);
    EXPECT_EQ(model.interval_s, 300.0);
    EXPECT_EQ(interval_by(IntervalRule::young, model), 300.0);
}

/// Whatever the causes and however rare they are, what prunes does not exceed the quantile of histories (four
/// standard errors of the share of histories below).
TEST(TrainingTime, LeastQuantileNeverExceedsTheQuantile)
{
    constexpr int histories = 4096;
    constexpr double productive = 200.0 * hour;
    int below_the_mean = 0;
    for (const double failures : {0.02, 0.045, 0.08, 0.2, 1.05, 2.0, 30.0}) {
        const FailureModel plain =
            poisson(failures / productive, failures < 1.0 ? 20 * hour : 10 * minute, 2 * hour, 3 * minute);
        FailureModel by_node = plain;
        by_node.node_cv = 0.5;
        FailureModel clusters = plain;
        clusters.sources[0].gaps = {GapFamily::gamma, 3.0};
        clusters.sources[0].detection_s = 10 * hour;
        FailureModel mixed = poisson(30.0 / productive, 10 * minute, 2 * hour, 3 * minute);
        mixed.sources.push_back(plain.sources[0]);
        mixed.sources[1].cause = 1;
        for (const FailureModel& model : {plain, by_node, clusters, mixed}) {
            std::vector<double> seconds = simulate(productive, model, histories).runs.seconds;
            std::sort(seconds.begin(), seconds.end());
            for (const double p : {0.95, 0.99}) {
                const double least = least_training_time_quantile(productive, model, p);
                const double share = p + 4.0 * std::sqrt(p * (1.0 - p) / histories);
                EXPECT_LE(least, seconds[static_cast<std::size_t>(std::min(1.0, share) * (histories - 1))])
                    << failures << ' ' << p;
                EXPECT_GE(least, productive);
                const double mean = least_mean_training_time(productive, model);
                EXPECT_LE(least, mean);
                below_the_mean += mean > seconds[static_cast<std::size_t>(share * (histories - 1))] ? 1 : 0;
            }
        }
    }
    EXPECT_GT(below_the_mean, 0);  // the mean does not bound these quantiles
    const FailureModel frequent = poisson(30.0 / productive, 10 * minute, 2 * hour, 3 * minute);
    EXPECT_EQ(least_training_time_quantile(productive, frequent, 0.95),
              least_mean_training_time(productive, frequent));
}

/// Whatever the causes, what prunes does not exceed the mean of histories.
TEST(TrainingTime, LeastMeanNeverExceedsTheMean)
{
    FailureModel model = poisson(1.0 / (6 * hour), 10 * minute, 2 * hour, 3 * minute);
    const auto check = [](const FailureModel& m, const char* what) {
        for (const double productive : {1.5 * hour, 30.0 * hour, 500.0 * hour}) {
            const Simulated s = simulate(productive, m, 2048);
            EXPECT_LE(least_mean_training_time(productive, m), s.mean + 4.0 * s.error)
                << what << ' ' << productive;
            EXPECT_GE(least_mean_training_time(productive, m), productive) << what << ' ' << productive;
        }
    };
    for (const GapDistribution distribution :
         {GapDistribution{GapFamily::gamma, 2.0}, GapDistribution{GapFamily::weibull, 3.0},
          GapDistribution{GapFamily::weibull, 0.5}}) {
        model.sources[0].gaps = distribution;
        check(model, "gaps");
    }
    model.sources.push_back(model.sources[0]);
    model.sources[1].cause = 1;
    model.sources[1].planned = true;
    model.sources[1].gaps = {GapFamily::constant, 0.0};
    check(model, "planned");
    model.lag_s = 20 * minute;
    model.node_cv = 0.3;
    check(model, "asynchronous, nodes");
    model.memory_interval_s = 5 * minute;
    model.pace = 1.01;
    model.sources[0].memory_kept = 0.7;
    check(model, "memory");
    model.spares = 1;
    model.sources[0].repair_s = 8 * hour;
    model.sources[0].repair_cv = 1.5;
    check(model, "spares");
}

/// Luck is keyed by history and failure: a longer run meets the same failures first.
TEST(TrainingTime, DesignsShareTheirLuck)
{
    const FailureModel model = poisson(1.0 / hour, 0.0, 0.1 * hour, 0.0);
    const Simulated shorter = simulate(100 * hour, model, 50);
    EXPECT_EQ(shorter.runs.seconds, simulate(100 * hour, model, 50).runs.seconds);
    const Simulated longer = simulate(101 * hour, model, 70);
    for (std::size_t h = 0; h < 50; ++h) {
        EXPECT_LE(shorter.runs.seconds[h] + 0.9 * hour, longer.runs.seconds[h]);
    }
    EXPECT_NE(shorter.runs.seconds[3], shorter.runs.seconds[4]);
    EXPECT_NE(shorter.runs.seconds, simulate(100 * hour, model, 50, 2).runs.seconds);
}

}  // namespace
}  // namespace prismopt
