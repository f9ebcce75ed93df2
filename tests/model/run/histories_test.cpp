#include "model/run/histories.hpp"

#include "tests/support/failure_runs.hpp"
#include "tests/support/reference_history.hpp"

#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/weibull.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

namespace prismopt {
namespace {

FailureModel::Source source_of(double rate, std::size_t cause)
{
    FailureModel::Source source;
    source.rate = rate;
    source.cause = cause;
    source.detection_s = 5 * minute;
    source.restart_s = 10 * minute;
    return source;
}

/// Each feature alone and all together.
struct Case {
    std::string name;
    std::vector<FailureModel> models;
};
std::vector<Case> cases()
{
    const FailureModel plain = poisson(1.0 / (3 * hour), 10 * minute, hour, 2 * minute);
    std::vector<Case> list{{"plain", {plain}}};
    const auto add = [&](const std::string& name, const std::function<void(FailureModel&)>& change) {
        FailureModel model = plain;
        change(model);
        list.push_back({name, {model}});
    };
    add("gamma gaps", [](FailureModel& m) { m.sources[0].gaps = {GapFamily::gamma, 1.6}; });
    add("weibull gaps", [](FailureModel& m) { m.sources[0].gaps = {GapFamily::weibull, 2.0}; });
    add("causes", [](FailureModel& m) {
        m.sources = {source_of(1e-4, 0), source_of(5e-5, 1), source_of(2e-5, 3)};
    });
    add("restarts that fail", [](FailureModel& m) {
        m.sources = {source_of(1.0 / hour, 0), source_of(1.0 / (3 * hour), 1)};
        m.sources[1].restart_s = 2 * hour;
    });
    add("asynchronous", [](FailureModel& m) { m.lag_s = 25 * minute; });
    add("memory", [](FailureModel& m) {
        m.memory_interval_s = 5 * minute;
        m.pace = 1.02;
        m.sources[0].memory_kept = 0.6;
    });
    add("planned", [](FailureModel& m) {
        m.sources.push_back(source_of(1.0 / day, 1));
        m.sources[1].planned = true;
        m.sources[1].gaps = {GapFamily::constant, 0.0};
    });
    add("nodes", [](FailureModel& m) { m.node_cv = 0.4; });
    add("uncertain rate", [](FailureModel& m) { m.sources[0].rate_cv = 0.6; });
    for (const int spares : {0, 1, 3}) {
        add("spares " + std::to_string(spares), [spares](FailureModel& m) {
            m.spares = spares;
            m.sources[0].detection_s = 7 * minute;
            m.sources[0].repair_s = 6 * hour;
            m.sources[0].repair_cv = 1.5;
        });
    }
    for (const int spares : {enough_spares, 1, 3, 6}) {
        add(std::string("hot spares and units ") +
                (spares == enough_spares ? "enough" : std::to_string(spares)),
            [spares](FailureModel& m) {
                m.spares = spares;
                m.sources = {source_of(1.0 / (5 * hour), 0), source_of(1.0 / (12 * hour), 1)};
                for (FailureModel::Source& source : m.sources) {
                    source.switch_s = minute;
                    source.repair_s = 5 * hour;
                    source.repair_cv = 1.5;
                }
                m.sources[1].units = 3;
                m.sources[1].unit_nodes = 4;
                m.sources[1].last_unit_nodes = 2;
                m.sources[1].by_node = false;
            });
    }
    FailureModel all = list[3].models[0];
    all.sources[2].rate_cv = 0.4;
    all.sources[1].gaps = {GapFamily::weibull, 1.8};
    all.sources[2].by_node = false;
    all.node_cv = 0.3;
    all.lag_s = 10 * minute;
    all.memory_interval_s = 5 * minute;
    all.pace = 1.01;
    all.sources[0].memory_kept = 0.5;
    all.sources[1].repair_s = 10 * hour;
    all.spares = 1;
    FailureModel larger = all;
    for (FailureModel::Source& source : larger.sources) {
        source.rate *= 2.0;
    }
    larger.sources.push_back(source_of(3e-5, 4));
    list.push_back({"all, in two segments", {all, larger}});
    return list;
}

std::vector<RunSegment> segments_of(const Case& c, std::size_t histories)
{
    std::vector<RunSegment> segments;
    for (const FailureModel& model : c.models) {
        RunSegment segment{model, 8, {}};
        for (std::size_t h = 0; h < histories; ++h) {
            segment.productive_s.push_back((60.0 + 0.37 * static_cast<double>(h)) * hour);
        }
        segments.push_back(segment);
    }
    return segments;
}

/// Failures of a Poisson process whose rate is known to a part of it are negative
/// binomial: variance mean + (mean cv)^2.
TEST(UncertainRates, GiveNegativeBinomialCounts)
{
    constexpr int runs = 6400;
    constexpr double cv = 0.5;
    FailureModel model = poisson(1.0 / (10 * hour), 0.0, hour, 0.0);
    model.sources[0].rate_cv = cv;
    model.sources[0].detection_s = 1e-3;
    FailureTables tables(exponential_gaps());
    const RunSegment segment{model, 1, std::vector<double>(runs, 200 * hour)};
    const Histories histories = sample_histories({&segment, 1}, 1, tables, 3, Purpose::search);
    const double mean = histories.cause[0].failures;
    // Of the time lost to rework, which is proportional to the failures: half an hour each, uniform.
    double sum = 0.0;
    double squares = 0.0;
    for (const double seconds : histories.seconds) {
        const double lost = (seconds - 200 * hour) / (0.5 * hour);
        sum += lost / runs;
        squares += lost * lost / runs;
    }
    const double variance = squares - sum * sum;
    // Failures of time spent on rework come on top: mean (1 + mean rework) and so on;
    // at a rate of 0.1 an hour, 5 %.
    const double expected = mean * (1.0 + 1.0 / 3.0) + mean * mean * cv * cv * 1.1;
    EXPECT_NEAR(mean, 20.0 * 1.05, 0.04 * mean);
    EXPECT_NEAR(variance, expected, 0.12 * expected);
}

class EachHistory : public testing::TestWithParam<Case> {};

TEST_P(EachHistory, IsTheReferences)
{
    constexpr std::size_t histories = 150;
    FailureTables tables(exponential_gaps());
    const std::vector<RunSegment> segments = segments_of(GetParam(), histories);
    const Histories fast = sample_histories(segments, 5, tables, 7, Purpose::search);
    ASSERT_EQ(fast.seconds.size(), histories);
    double failures = 0.0;
    double waited = 0.0;
    for (std::uint32_t h = 0; h < histories; ++h) {
        const ReferenceHistory slow(segments, tables, 7, h);
        ASSERT_NEAR(fast.seconds[h], slow.seconds, 1e-9 * slow.seconds) << h;
        failures += slow.failures;
        waited += slow.waited;
    }
    double counted = 0.0;
    double waiting = 0.0;
    for (const CauseLoss& loss : fast.cause) {
        counted += loss.failures * histories;
        waiting += loss.waiting_gpu_s * histories / 8.0;
    }
    EXPECT_NEAR(counted, failures, 1e-6);
    EXPECT_NEAR(waiting, waited, 1e-6 * (1.0 + waited));
}

/// The clock's time is work, and what the losses say.
TEST_P(EachHistory, TimeIsWorkAndLosses)
{
    FailureTables tables(exponential_gaps());
    const std::vector<RunSegment> segments = segments_of(GetParam(), 100);
    const Histories runs = sample_histories(segments, 5, tables, 7, Purpose::search);
    double sum = runs.checkpoint_gpu_s;
    for (const CauseLoss& loss : runs.cause) {
        sum += loss.rework_gpu_s + loss.down_gpu_s + loss.waiting_gpu_s;
    }
    for (const RunSegment& segment : segments) {
        for (const double productive : segment.productive_s) {
            sum += 8.0 * productive / 100.0;
        }
    }
    double time = 0.0;
    for (const double seconds : runs.seconds) {
        time += 8.0 * seconds / 100.0;
    }
    EXPECT_NEAR(sum, time, 1e-9 * time);
}

/// A history is the same whoever else is computed beside it.
TEST_P(EachHistory, DoesNotDependOnTheNumberOfRuns)
{
    FailureTables tables(exponential_gaps());
    const Histories few = sample_histories(segments_of(GetParam(), 3), 5, tables, 7, Purpose::search);
    const Histories many = sample_histories(segments_of(GetParam(), 130), 5, tables, 7, Purpose::search);
    for (std::size_t h = 0; h < 3; ++h) {
        EXPECT_EQ(few.seconds[h], many.seconds[h]);
    }
}

INSTANTIATE_TEST_SUITE_P(Runs, EachHistory, testing::ValuesIn(cases()), [](const auto& which) {
    std::string name = which.param.name;
    std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
    return name;
});

/// Clustered failures, exactly, by renewal reward: an attempt lasts E[gap] + detection and saves interval *
/// sum over j of P(gap >= restart + lag + j cycle). A run of a thousand attempts is that but for its ends.
/// The first begins without a restart and lasts the remainder of a gap, R: P(R > t) is the integral of
/// P(gap > t) from t on over the mean, E[R] = mean (1 + cv^2) /
/// 2.
TEST(ClusteredFailures, HaveTheRatioOfRenewalReward)
{
    const double mean = 3 * hour;
    const auto weibull_scale = [](double shape) { return 1.0 / std::tgamma(1.0 + 1.0 / shape); };
    const double shape = 0.5;  // cv^2 = gamma(5) / gamma(3)^2 - 1 = 5
    const boost::math::weibull weibull(shape, mean * weibull_scale(shape));
    const boost::math::gamma_distribution<> gamma(1.0 / 4.0, 4.0 * mean);  // cv 2
    const auto check = [&](const GapDistribution& distribution, double lag,
                           const std::function<double(double)>& survival) {
        FailureModel model = poisson(1.0 / mean, 12 * minute, 0.5 * hour, 3 * minute);
        model.sources[0].gaps = distribution;
        model.sources[0].detection_s = 5 * minute;
        model.lag_s = lag;
        double saved = 0.0;
        double saved_first = 0.0;
        const double cycle = model.interval_s + model.stall_s;
        constexpr int steps = 1000;  // of the integral, a cycle
        double rest = 0.0;           // integral of the survival
        for (int j = 4000; j > 0; --j) {
            saved += model.interval_s * survival(model.sources[0].restart_s + lag + j * cycle);
            for (int i = 0; i < steps && j < 400; ++i) {
                rest += survival(lag + (j + (i + 0.5) / steps) * cycle) * cycle / steps;
            }
            saved_first += model.interval_s * rest / mean;
        }
        const double ratio = saved / (mean + model.sources[0].detection_s);
        const double first =
            0.5 * mean * (1.0 + distribution.cv * distribution.cv) + model.sources[0].detection_s;
        const double productive = 1000.0 * saved;
        const double expected = first + (productive - saved_first) / ratio;
        const Simulated s = simulate(productive, model, 1024);
        // The last attempt does not end by failing: two attempts' worth at most.
        EXPECT_NEAR(expected / s.mean, 1.0, 0.004 + 4.0 * s.error / s.mean);
    };
    for (const double lag : {0.0, 20 * minute}) {
        check({GapFamily::weibull, std::sqrt(5.0)}, lag,
              [&](double t) { return cdf(complement(weibull, t)); });
        check({GapFamily::gamma, 2.0}, lag, [&](double t) { return cdf(complement(gamma, t)); });
    }
}

/// Of a process that has run for long, rate * t failures in t on average, however short t is. Announced stops
/// lose no work: a run is its productive time and a second of detection for each failure.
TEST(ClusteredFailures, AreAsManyInShortRunsAsInLongOnes)
{
    constexpr double rate = 8 / (1000 * day);  // 8 nodes
    struct Run {
        double productive_s;
        int histories;
    };
    for (const GapDistribution distribution :
         {GapDistribution{GapFamily::gamma, 2.95}, GapDistribution{GapFamily::weibull, 3.0},
          GapDistribution{GapFamily::weibull, 0.5}, GapDistribution{}}) {
        for (const Run run : {Run{1.6 * hour, 400'000}, Run{6.3 * day, 100'000}, Run{628 * day, 4000}}) {
            FailureModel model = poisson(rate, 0.0, std::numeric_limits<double>::infinity(), 0.0);
            model.sources[0].detection_s = 1.0;
            model.sources[0].planned = true;
            model.sources[0].gaps = distribution;
            const Simulated s = simulate(run.productive_s, model, run.histories);
            const double expected = rate * run.productive_s;
            EXPECT_NEAR(s.mean - run.productive_s, expected, 4.0 * s.error)
                << distribution.cv << ' ' << run.productive_s;
            EXPECT_NEAR(least_mean_training_time(run.productive_s, model), s.mean, 4.0 * s.error);
            EXPECT_LT(s.error, 0.25 * expected) << distribution.cv << ' ' << run.productive_s;
        }
    }
}

/// A timetable begins with the run: of stops every day, two and a half days have two.
TEST(PlannedStops, BeginWithTheRun)
{
    FailureModel model = poisson(1.0 / day, 0.0, std::numeric_limits<double>::infinity(), 0.0);
    model.sources[0].planned = true;
    model.sources[0].gaps = {GapFamily::constant, 0.0};
    EXPECT_EQ(simulate(2.5 * day, model, 100).runs.cause[0].failures, 2.0);
}

/// No spare: each failure waits for its own repair. So many that none is missing: nothing waits.
TEST(Spares, NoneMeansWaitingForEachRepair)
{
    FailureModel model = poisson(1.0 / day, 10 * minute, hour, minute);
    model.sources[0].repair_s = 5 * hour;
    model.sources[0].repair_cv = 1.0;
    model.spares = 0;
    const double productive = 100 * day;
    const Simulated none = simulate(productive, model, 2000);
    FailureModel longer = model;
    longer.spares = enough_spares;
    longer.sources[0].detection_s += 5 * hour;  // the mean repair, in which nothing fails
    EXPECT_NEAR(none.mean, expected_training_time(productive, longer), 4.0 * none.error + 2e-4 * none.mean);
    model.spares = 40;
    const Simulated many = simulate(productive, model, 200);
    EXPECT_EQ(many.runs.cause[0].waiting_gpu_s, 0.0);
}

/// One spare, repairs of a constant time R, gaps G exponential: a failure that waited for w leaves R - w
/// until its node is back when training goes on, so the next waits for max(0, R - w - G). The stationary
/// P(w > y) = E[1 - e^(-rate (R - w - y))]+ by iteration.
TEST(Spares, OneIsMissedAsOftenAsItsChainSays)
{
    const double rate = 1.0 / (10 * hour);
    const double repair = 15 * hour;
    constexpr int places = 400;
    std::vector<double> above(places + 1, 0.0);  // P(w > y) at y = repair * i / places
    for (int iteration = 0; iteration < 200; ++iteration) {
        std::vector<double> next(places + 1, 0.0);
        for (int i = 0; i <= places; ++i) {
            const double left = repair * (places - i) / places;  // R - y
            next[i] = (1.0 - above[0]) * (1.0 - std::exp(-rate * left));
            for (int k = 0; k < places - i; ++k) {
                next[i] += (above[k] - above[k + 1]) *
                           (1.0 - std::exp(-rate * (left - repair * (k + 0.5) / places)));
            }
        }
        above = next;
    }
    double wait = 0.0;
    for (int i = 0; i < places; ++i) {
        wait += 0.5 * (above[i] + above[i + 1]) * repair / places;
    }
    FailureModel model = poisson(rate, 0.0, hour, 0.0);
    model.sources[0].repair_s = repair;
    model.sources[0].repair_cv = 0.001;
    model.spares = 1;
    const Simulated s = simulate(200 * day, model, 500);
    // About 240,000 failures, neighbours correlated: the mean to 0.5 %; the first of
    // each run finds the spare there.
    EXPECT_NEAR(s.runs.cause[0].waiting_gpu_s / s.runs.cause[0].failures, wait, 0.015 * wait);
}

/// Nodes with rates of their own make the number of failures of a run negative binomial.
TEST(NodeRates, SpreadTheNumberOfFailures)
{
    FailureModel model = poisson(1.0 / hour, 0.0, hour, 0.0);
    model.interval_s = 10 * minute;
    model.node_cv = 0.3;
    const int histories = 4000;
    FailureTables tables(exponential_gaps());
    const double running = 100 * hour;
    // Without downtime and with short intervals, time beyond the work is rework:
    // nearly half an interval a failure.
    const RunSegment segment{model, 1, std::vector<double>(histories, running)};
    const Histories runs = sample_histories({&segment, 1}, 1, tables, 3, Purpose::search);
    const double mean = runs.cause[0].failures;
    double squares = 0.0;
    double lost = 0.0;
    for (const double seconds : runs.seconds) {
        lost += (seconds - running) / histories;
    }
    for (const double seconds : runs.seconds) {
        squares += std::pow(seconds - running - lost, 2) / (histories - 1);
    }
    // Variance of lost time: mean * E[loss^2] of single losses, uniform over the interval, +
    // (mean loss cv)^2 of the rates.
    const double single = 10 * minute;
    const double expected = mean * single * single / 3.0 + std::pow(0.3 * lost, 2);
    EXPECT_NEAR(mean, running / hour * (1.0 + 1.0 / 12.0), 0.05 * mean);
    EXPECT_NEAR(squares, expected, 0.15 * expected);
}

/// Llama 3 405B (arXiv 2407.21783, section 3.3.4): 54 days on 16,384 GPUs, 419 unexpected and 47 planned
/// interruptions, more than 90 % effective training time with automated restarts.
TEST(Histories, GiveLlama3s54Days)
{
    const std::vector<std::pair<const char*, double>> counts{{"GPU", 148},    {"HBM", 72},  {"software", 54},
                                                             {"network", 35}, {"host", 32}, {"others", 78}};
    Reliability r;
    for (const auto& [name, count] : counts) {
        Cause cause;
        cause.name = name;
        cause.rate = PerSecond{count / (54 * day * 2048)};
        cause.detection = Seconds{2 * minute};  // assumption: watchdogs
        cause.restart = Seconds{8 * minute};    // with the detection, within 5 to 20 min of arXiv 2410.21680
        r.causes.push_back(cause);
    }
    Cause planned;
    planned.name = "planned";
    planned.rate = PerSecond{47 / (54 * day)};
    planned.of = RateOf::job;
    planned.restart = Seconds{10 * minute};
    planned.planned = true;
    r.causes.push_back(planned);
    r.checkpoint_write =
        Seconds{405.9e9 * 14.0 /
                2e12};  // weights of 2 bytes, master weights and moments of 4, at 2 TB/s (section 3.3.1)
    r.interval_rule = IntervalRule::optimal;
    const FailureModel model = failure_model(r, {2048, 16384});
    EXPECT_NEAR(1.0 / model.rate() / hour, 3.09, 0.005);
    constexpr int histories = 2000;
    FailureTables tables(exponential_gaps());
    const auto run = [&](double productive) {
        const RunSegment segment{model, 16384, std::vector<double>(histories, productive)};
        return sample_histories({&segment, 1}, r.causes.size(), tables, 1, Purpose::search);
    };
    const auto mean_time = [](const Histories& runs) {
        return std::accumulate(runs.seconds.begin(), runs.seconds.end(), 0.0) / histories;
    };
    const double ratio = 54 * day / mean_time(run(54 * day));
    const Histories runs = run(ratio * 54 * day);
    EXPECT_NEAR(mean_time(runs), 54 * day, 0.001 * 54 * day);
    EXPECT_GT(ratio, 0.90);
    double unexpected = 0.0;
    for (std::size_t c = 0; c < counts.size(); ++c) {
        unexpected += runs.cause[c].failures;
    }
    // Clocks of failures stand still until a failure is known: that share fewer than by the calendar.
    const double expected = 419.0 * (1.0 - unexpected * 2 * minute / (54 * day));
    EXPECT_NEAR(unexpected, expected, 4.0 * std::sqrt(expected / histories) + 1.0);
    EXPECT_NEAR(unexpected, 419.0, 0.02 * 419.0);
    std::printf(
        "54 days of Llama 3: %.0f unexpected interruptions, effective training time %.3f, a checkpoint every "
        "%.1f min\n",
        unexpected, ratio, model.interval_s / minute);
}

}  // namespace
}  // namespace prismopt
