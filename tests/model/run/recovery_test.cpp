/// Hot spares and failures of whole units, judged by a simulation of its own: plain queues of nodes,
/// draws of the standard library.

#include "model/run/failure_model.hpp"

#include "tests/support/failure_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace prismopt {
namespace {

/// A cause as the documentation describes it; gaps are exponential.
struct PlainCause {
    double rate;  // of the job
    double detection;
    double restart;
    double repair;
    double repair_cv;
    int unit;  // nodes of one
};
struct PlainJob {
    int nodes;
    double interval;
    double write;
    int spares;
    double switch_time;  // negative: spares are not hot
    std::vector<PlainCause> causes;
};

double plain_run(const PlainJob& job, double productive, std::mt19937_64& random)
{
    std::vector<double> repaired_at;  // nodes in repair
    double now = 0.0;
    double saved = 0.0;
    double restart = 0.0;
    while (true) {
        double gap = std::numeric_limits<double>::infinity();
        const PlainCause* cause = nullptr;
        for (const PlainCause& one : job.causes) {
            // without memory: drawn anew
            const double own = std::exponential_distribution<>(one.rate)(random);
            if (own < gap) {
                cause = &one;
            }
            gap = std::min(gap, own);
        }
        double clock = restart;
        double done = saved;
        while (clock < gap && done < productive) {
            const double work = std::min(job.interval, productive - done);
            const bool last = done + work >= productive;
            const double took = work + (last ? 0.0 : job.write);
            if (clock + took > gap) {
                break;
            }
            clock += took;
            done += work;
        }
        if (done >= productive) {
            return now + clock;
        }
        saved = done;
        restart = std::max(0.0, restart - gap);
        now += gap;
        const int units = (job.nodes + cause->unit - 1) / cause->unit;
        const int unit = std::uniform_int_distribution<>(0, units - 1)(random);
        const int failed = std::min(cause->unit, job.nodes - unit * cause->unit);
        const double sigma = std::sqrt(std::log1p(cause->repair_cv * cause->repair_cv));
        const double back = now + cause->repair * std::exp(sigma * std::normal_distribution<>()(random) -
                                                           0.5 * sigma * sigma);
        now += cause->detection;
        std::erase_if(repaired_at, [now](double when) { return when <= now; });
        const int ready = job.spares - static_cast<int>(repaired_at.size());
        const bool switched = job.switch_time >= 0.0 && ready >= failed;
        repaired_at.insert(repaired_at.end(), static_cast<std::size_t>(failed), back);
        std::sort(repaired_at.begin(), repaired_at.end());
        while (static_cast<int>(repaired_at.size()) > job.spares) {
            now = std::max(now, repaired_at.front());
            repaired_at.erase(repaired_at.begin());
        }
        restart = std::max(restart, switched ? job.switch_time : cause->restart);
    }
}

Reliability described(const PlainJob& job)
{
    Reliability r;
    r.checkpoint_interval = Seconds{job.interval};
    r.checkpoint_write = Seconds{job.write};
    r.spares = job.spares;
    if (job.switch_time >= 0.0) {
        r.recovery = Recovery::hot_spares;
        r.switch_time = Seconds{job.switch_time};
    }
    for (const PlainCause& one : job.causes) {
        Cause& cause = r.causes.emplace_back();
        cause.of = one.unit > 1 ? RateOf::unit : RateOf::node;
        cause.unit_nodes = one.unit;
        cause.rate = PerSecond{one.rate / ((job.nodes + one.unit - 1) / one.unit)};
        cause.detection = Seconds{one.detection};
        cause.restart = Seconds{one.restart};
        cause.repair = Seconds{one.repair};
        cause.repair_cv = one.repair_cv;
    }
    return r;
}

/// Means of both, four standard errors of their difference; and what prunes stays below.
TEST(Recovery, IsThatOfAPlainSimulation)
{
    constexpr int runs = 4000;
    constexpr double productive = 20 * day;
    std::mt19937_64 random(5);
    for (const double switch_time : {-1.0, 30.0, 5 * minute}) {
        for (const int spares : {0, 1, 4, 9}) {
            for (const int nodes : {10, 16, 3}) {
                const PlainJob job{nodes,
                                   hour,
                                   2 * minute,
                                   spares,
                                   switch_time,
                                   {{1.0 / (8 * hour), 3 * minute, 25 * minute, 10 * hour, 1.5, 1},
                                    {1.0 / (2 * day), 5 * minute, 40 * minute, 8 * hour, 0.5, 4}}};
                double sum = 0.0;
                double squares = 0.0;
                for (int run = 0; run < runs; ++run) {
                    const double seconds = plain_run(job, productive, random);
                    sum += seconds;
                    squares += seconds * seconds;
                }
                const double mean = sum / runs;
                const double error = std::sqrt((squares / runs - mean * mean) / runs);
                const FailureModel model = failure_model(described(job), {nodes, 8 * nodes});
                const Simulated fast = simulate(productive, model, runs);
                EXPECT_NEAR(fast.mean, mean, 4.0 * std::hypot(fast.error, error))
                    << switch_time << ' ' << spares << ' ' << nodes;
                EXPECT_LE(least_mean_training_time(productive, model), mean + 4.0 * error);
                std::vector<double> sorted = fast.runs.seconds;
                std::sort(sorted.begin(), sorted.end());
                EXPECT_LE(least_training_time_quantile(productive, model, 0.95),
                          sorted[static_cast<std::size_t>(0.97 * runs)]);
            }
        }
    }
}

/// Hot spares that never run out: exact renewal with the switch in place of the restart.
TEST(Recovery, OfEnoughHotSparesIsARenewal)
{
    Reliability r{PerSecond{1.0 / (40 * hour)}, Seconds{20 * minute}, Seconds{hour}, Seconds{minute}};
    r.recovery = Recovery::hot_spares;
    r.switch_time = Seconds{90.0};
    const FailureModel hot = failure_model(r, {8, 64});
    ASSERT_TRUE(hot.memoryless());
    const FailureModel quick = poisson(1.0 / (5 * hour), 90.0, hour, minute);
    EXPECT_NEAR(expected_training_time(30 * day, hot), expected_training_time(30 * day, quick), 1e-9 * day);
    const Simulated s = simulate(30 * day, hot, 4000);
    EXPECT_NEAR(s.mean, expected_training_time(30 * day, hot), 4.0 * s.error);
    r.switch_time = Seconds{hour};  // who is slower to switch than to restart restarts
    EXPECT_NEAR(expected_training_time(30 * day, failure_model(r, {8, 64})),
                expected_training_time(30 * day, poisson(1.0 / (5 * hour), 20 * minute, hour, minute)),
                1e-9 * day);
}

/// Where no spare can take over, hot spares change nothing, to the bit: none are
/// there, or the job failed as a whole.
TEST(Recovery, WithoutASpareIsARestart)
{
    PlainJob job{12, hour, minute, 0, -1.0, {{1.0 / (8 * hour), 3 * minute, 25 * minute, 10 * hour, 1.5, 1}}};
    const std::vector<double> restarts =
        simulate(10 * day, failure_model(described(job), {12, 96}), 128).runs.seconds;
    job.switch_time = 10.0;
    EXPECT_EQ(simulate(10 * day, failure_model(described(job), {12, 96}), 128).runs.seconds, restarts);
    Reliability whole = described(job);
    whole.spares = enough_spares;
    whole.causes[0].of = RateOf::job;
    const std::vector<double> hot = simulate(10 * day, failure_model(whole, {12, 96}), 128).runs.seconds;
    whole.recovery = Recovery::restart;
    EXPECT_EQ(simulate(10 * day, failure_model(whole, {12, 96}), 128).runs.seconds, hot);
}

/// A job has a unit's failures once per unit that it uses, in whole or in part.
TEST(UnitFailures, CountUnitsInUse)
{
    Reliability r;
    r.checkpoint_interval = Seconds{hour};
    Cause& rack = r.causes.emplace_back();
    rack.of = RateOf::unit;
    rack.unit_nodes = 4;
    rack.rate = PerSecond{1e-7};
    const auto source = [&r](int nodes) { return failure_model(r, {nodes, 8 * nodes}).sources.front(); };
    EXPECT_DOUBLE_EQ(source(16).rate, 4e-7);
    EXPECT_EQ(source(16).last_unit_nodes, 4);
    EXPECT_DOUBLE_EQ(source(17).rate, 5e-7);
    EXPECT_EQ(source(17).last_unit_nodes, 1);
    EXPECT_DOUBLE_EQ(source(3).rate, 1e-7);
    EXPECT_EQ(source(3).last_unit_nodes, 3);
    EXPECT_EQ(source(3).unit_nodes, 3);
    EXPECT_FALSE(source(16).by_node);
}

/// Fewer spares than a unit has nodes: each of its failures waits for the whole repair, as without any.
TEST(UnitFailures, NeedASpareForEachNode)
{
    PlainJob job{16, hour, minute, 3, -1.0, {{1.0 / (5 * day), 0.0, 20 * minute, 6 * hour, 0.01, 4}}};
    const Simulated few = simulate(60 * day, failure_model(described(job), {16, 128}), 500);
    EXPECT_NEAR(few.runs.cause[0].waiting_gpu_s / few.runs.cause[0].failures, 6 * hour, 0.01 * hour);
    job.spares = 400;
    EXPECT_EQ(simulate(60 * day, failure_model(described(job), {16, 128}), 100).runs.cause[0].waiting_gpu_s,
              0.0);
}

}  // namespace
}  // namespace prismopt
