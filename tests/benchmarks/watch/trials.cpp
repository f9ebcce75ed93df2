#include "tests/benchmarks/watch/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <thread>

namespace prismopt::bench {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

std::string steps_text(double steps)
{
    return std::isinf(steps) ? "not found" : fmt::format("{:.0f}", steps);
}

void in_parallel(int runs, const std::function<void(int)>& work)
{
    std::atomic<int> next = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
        threads.emplace_back([&] {
            for (int run = next++; run < runs; run = next++) {
                work(run);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

Outcome outcome_of(const Trial& trial, double now_s)
{
    ChangeDetector detector({.baseline = trial.baseline});
    Outcome outcome{.cluster = trial.cluster, .delay = infinite};
    std::int64_t seen = 0;
    std::int64_t number = 0;
    std::int64_t since = 0;
    for (const double seconds : trial.seconds) {
        ++number;
        detector.add({number, seconds * (number >= trial.at ? 1.0 + trial.size : 1.0), 1, false});
        if (detector.found() == seen) {
            continue;
        }
        seen = detector.found();
        const std::vector<Change> changes = detector.changes();
        if (changes.empty() || changes.back().found != number) {
            continue;
        }
        const Change& change = changes.back();
        if (number < trial.at) {
            outcome.before = true;
        } else if (std::isinf(outcome.delay) && std::signbit(change.size) == std::signbit(trial.size)) {
            outcome.delay = static_cast<double>(number - trial.at + 1);
            outcome.place_error = std::abs(static_cast<double>(change.since - trial.at));
            outcome.place_inside = change.since_low <= trial.at && trial.at <= change.since_high;
            since = change.since;
        }
    }
    outcome.now_error = std::abs(detector.level_s() / now_s - 1.0);
    for (const Change& change : detector.changes()) {
        if (change.since == since) {
            outcome.size_inside = change.low <= trial.size && trial.size <= change.high;
            outcome.size_width = change.high - change.low;
        }
    }
    return outcome;
}

std::vector<std::int64_t> false_changes(const std::function<double()>& next_s, std::int64_t steps)
{
    ChangeDetector detector({});
    std::vector<std::int64_t> found;
    std::int64_t seen = 0;
    for (std::int64_t number = 1; number <= steps; ++number) {
        detector.add({number, next_s(), 1, false});
        if (detector.found() == seen) {
            continue;
        }
        seen = detector.found();
        const std::vector<Change> changes = detector.changes();
        if (!changes.empty() && changes.back().found == number) {
            found.push_back(number);
        }
    }
    return found;
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double quantile(std::vector<double> values, double probability)
{
    std::sort(values.begin(), values.end());
    const auto at = static_cast<std::size_t>(probability * static_cast<double>(values.size()));
    return values[std::min(at, values.size() - 1)];
}

std::string share_text(const std::vector<Judged>& all_judged)
{
    struct Cluster {
        double holds = 0.0;
        double count = 0.0;
    };
    std::map<int, Cluster> by_number;
    for (const Judged& judged : all_judged) {
        Cluster& cluster = by_number[judged.cluster];
        cluster.holds += judged.holds ? 1.0 : 0.0;
        cluster.count += 1.0;
    }
    std::vector<Cluster> clusters;
    Cluster all;
    for (const auto& [number, cluster] : by_number) {
        clusters.push_back(cluster);
        all.holds += cluster.holds;
        all.count += cluster.count;
    }
    const std::string share = fmt::format("{:.1f} %", 100.0 * all.holds / all.count);
    if (clusters.size() < 2) {
        return share;
    }
    constexpr int resamples = 2000;
    std::mt19937_64 generator(1);
    std::uniform_int_distribution<std::size_t> any(0, clusters.size() - 1);
    std::vector<double> shares;
    for (int i = 0; i < resamples; ++i) {
        Cluster sum;
        for (std::size_t k = 0; k < clusters.size(); ++k) {
            const Cluster& cluster = clusters[any(generator)];
            sum.holds += cluster.holds;
            sum.count += cluster.count;
        }
        shares.push_back(100.0 * sum.holds / sum.count);
    }
    return fmt::format("{} ({:.1f} to {:.1f})", share, quantile(shares, 0.025), quantile(shares, 0.975));
}

std::string share_text(const std::vector<Outcome>& outcomes, const std::function<bool(const Outcome&)>& is)
{
    std::vector<Judged> all;
    for (const Outcome& outcome : outcomes) {
        all.push_back({outcome.cluster, is(outcome)});
    }
    return share_text(all);
}

std::string outcome_cells(const std::vector<Outcome>& outcomes, int within)
{
    std::vector<Outcome> sized;
    std::vector<double> delays;
    std::vector<double> widths;
    for (const Outcome& outcome : outcomes) {
        delays.push_back(outcome.delay);
        if (outcome.size_width > 0.0) {
            sized.push_back(outcome);
            widths.push_back(100.0 * outcome.size_width);
        }
    }
    std::string text =
        fmt::format("{} | {} | {}, {} | {} |", within,
                    share_text(outcomes, [&](const Outcome& o) { return o.delay <= within; }),
                    steps_text(median(delays)), steps_text(quantile(delays, 0.99)),
                    share_text(outcomes, [](const Outcome& o) { return o.now_error <= 0.01; }));
    if (sized.empty()) {
        return text + " | |";
    }
    return text + fmt::format(" {} | {:.2f} % |",
                              share_text(sized, [](const Outcome& o) { return o.size_inside; }),
                              median(widths));
}

}  // namespace prismopt::bench
