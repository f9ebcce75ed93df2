/// watch_study: measures false alarms, delays and change points of `watch` on synthetic jobs, and what it says of public series
/// of step times; writes results/watch.md.
///   watch_study SCENARIO RUNS FILE [FOLDER WITH PUBLIC SERIES]

#include "tests/benchmarks/watch/synthetic_job.hpp"

#include "io/base/csv.hpp"
#include "model/run/changes/change_detector.hpp"

#include <fmt/format.h>
#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <thread>

namespace prismopt::bench {
namespace {

constexpr double day_s = 86'400.0;
constexpr double period_days = 30.0;

constexpr const char* quick_start_plan =
    "gpus=16384 tp=8 pp=16 v=8 microbatch=1 schedule=interleaved recompute=selective split=slots order=tp-pp-dp";

/// Runs `work(run)` for all runs on the threads of the machine; results are by run, so threads do not matter.
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

/// Changes found in one job without any, in order of the steps at which they were found.
std::vector<std::int64_t> false_alarms(const PlanNoise& noise, const JobKind& kind, std::uint64_t seed, double days)
{
    SyntheticJob job(noise, kind, seed);
    ChangeDetector detector({});
    std::vector<std::int64_t> alarms;
    const auto steps = static_cast<std::int64_t>(days * day_s / noise.mean_s);
    for (std::int64_t i = 1; i <= steps; ++i) {
        detector.add({i, job.next_s(), 1, false});
        if (detector.found() == i) {
            const std::vector<Change> changes = detector.changes();
            if (!changes.empty() && changes.back().found == i) {
                alarms.push_back(i);
            }
        }
    }
    return alarms;
}

std::string false_alarm_row(const PlanNoise& noise, const JobKind& kind, int runs)
{
    std::vector<std::vector<std::int64_t>> alarms(static_cast<std::size_t>(runs));
    in_parallel(runs, [&](int run) {
        alarms[static_cast<std::size_t>(run)] = false_alarms(noise, kind, 1 + static_cast<std::uint64_t>(run), period_days);
    });
    double all = 0.0;
    double squares = 0.0;
    int any = 0;
    for (const auto& of_run : alarms) {
        const auto count = static_cast<double>(of_run.size());
        all += count / runs;
        squares += count * count / runs;
        any += of_run.empty() ? 0 : 1;
    }
    const double error = std::sqrt((squares - all * all) / runs);
    using Binomial = boost::math::binomial;
    return fmt::format("| {} | {} | {:.2f} +- {:.2f} | {:.1f} % ({:.1f} to {:.1f}) |\n", kind.name, runs, all, 1.96 * error,
                       100.0 * any / runs, 100.0 * Binomial::find_lower_bound_on_p(runs, any, 0.025),
                       100.0 * Binomial::find_upper_bound_on_p(runs, any, 0.025));
}

struct Found {
    double delay = std::numeric_limits<double>::infinity();
    double place_error = 0.0;
    bool place_inside = false;
    bool size_inside = false;
    bool alarm_before = false;
};

Found find_change(const PlanNoise& noise, const JobKind& kind, std::uint64_t seed, double size, std::int64_t at)
{
    constexpr std::int64_t after = 2000;
    SyntheticJob job(noise, kind, seed);
    ChangeDetector detector({});
    Found found;
    for (std::int64_t i = 1; i <= at + after; ++i) {
        detector.add({i, job.next_s() * (i > at ? 1.0 + size : 1.0), 1, false});
        if (detector.found() != i) {
            continue;
        }
        const std::vector<Change> changes = detector.changes();
        if (changes.empty() || changes.back().found != i) {
            continue;
        }
        if (i <= at) {
            found.alarm_before = true;
        } else if (std::isinf(found.delay) && (changes.back().size > 0.0) == (size > 0.0)) {
            const Change& change = changes.back();
            found.delay = static_cast<double>(i - at);
            found.place_error = std::abs(static_cast<double>(change.since - (at + 1)));
            found.place_inside = change.since_low <= at + 1 && at + 1 <= change.since_high;
        }
    }
    const std::vector<Change> changes = detector.changes();
    found.size_inside = !changes.empty() && changes.back().low <= size && size <= changes.back().high;
    return found;
}

std::string steps_text(double steps) { return std::isinf(steps) ? "not found" : fmt::format("{:.0f}", steps); }

std::string change_row(const PlanNoise& noise, const JobKind& kind, double size, std::int64_t at, int runs)
{
    std::vector<Found> all(static_cast<std::size_t>(runs));
    in_parallel(runs, [&](int run) {
        all[static_cast<std::size_t>(run)] = find_change(noise, kind, 100'000 + static_cast<std::uint64_t>(run), size, at);
    });
    std::vector<double> delays;
    std::vector<double> places;
    double inside = 0.0;
    double sized = 0.0;
    int before = 0;
    for (const Found& found : all) {
        delays.push_back(found.delay);
        before += found.alarm_before ? 1 : 0;
        if (std::isfinite(found.delay)) {
            places.push_back(found.place_error);
            inside += found.place_inside ? 1.0 : 0.0;
            sized += found.size_inside ? 1.0 : 0.0;
        }
    }
    std::sort(delays.begin(), delays.end());
    std::sort(places.begin(), places.end());
    const auto known = static_cast<double>(std::max<std::size_t>(1, places.size()));
    return fmt::format("| {:+.1f} % | {} | {} | {} | {:.1f} % | {} | {:.0f} % | {:.0f} % | {} |\n", 100.0 * size, at,
                       steps_text(delays[delays.size() / 2]), steps_text(delays[delays.size() * 9 / 10]), 100.0 * known / runs,
                       places.empty() ? "" : fmt::format("{:.0f}", places[places.size() / 2]), 100.0 * inside / known,
                       100.0 * sized / known, before);
}

std::vector<double> numbers(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<double> values;
    for (double value = 0.0; stream >> value;) {
        values.push_back(value);
    }
    return values;
}

struct Series {
    std::string name;
    std::vector<double> seconds;
};

std::vector<Series> public_series(const std::filesystem::path& folder)
{
    std::vector<Series> series;
    const auto file = [&](const char* name) { return (folder / name).string(); };
    for (const CsvRow& row : read_csv(file("mlperf_step_series.csv"))) {
        series.push_back({fmt::format("MLPerf {} {} {}", row.text("round"), row.text("system"), row.text("result_file")),
                          numbers(row.text("step_times_s_space_separated"))});
    }
    for (const CsvRow& row : read_csv(file("bigscience_v100_iteration_logs.csv"))) {
        series.push_back(
            {"BigScience " + std::filesystem::path(row.text("source_ref")).stem().string(), numbers(row.text("all_times_s"))});
    }
    for (const CsvRow& row : read_csv(file("megatron_lm_ci_iteration_times.csv"))) {
        series.push_back({"Megatron-LM CI " + row.text("test_case"), numbers(row.text("times_s"))});
    }
    return series;
}

std::string change_cell(const Change& change)
{
    const char* kind = change.kind == ChangeKind::warm_up ? "warm-up" : change.kind == ChangeKind::shift ? "shift" : "drift";
    return fmt::format("{} {:+.2f} % ({:+.2f} to {:+.2f}) since {}", kind, 100.0 * change.size, 100.0 * change.low,
                       100.0 * change.high, change.since);
}

std::string series_row(const Series& series, int baseline)
{
    ChangeDetector detector({.baseline = baseline});
    for (std::size_t i = 0; i < series.seconds.size(); ++i) {
        detector.add({static_cast<std::int64_t>(i) + 1, series.seconds[i], 1, false});
    }
    std::string said;
    for (const Change& change : detector.changes()) {
        said += (said.empty() ? "" : "; ") + change_cell(change);
    }
    if (!detector.baseline()) {
        said += fmt::format("{}{} of {} steps of a baseline", said.empty() ? "" : "; ", detector.collected(), detector.needed());
    } else if (said.empty()) {
        said = "no change";
    }
    double largest = 0.0;
    for (const Spike& spike : detector.spikes()) {
        largest = std::max(largest, spike.excess);
    }
    return fmt::format("| {} | {} | {} | {} | {} | {} |\n", series.name, series.seconds.size(), baseline,
                       detector.baseline() ? fmt::format("{:.2f} %", 100.0 * detector.baseline()->deviation) : "", said,
                       detector.spikes().empty() ? ""
                                                 : fmt::format("{}, up to {:+.0f} %", detector.spikes().size(), 100.0 * largest));
}

std::string page(const std::string& command, const PlanNoise& noise, int runs, const std::string& folder)
{
    double variance = 0.0;
    for (const double r : noise.residuals) {
        variance += r * r / static_cast<double>(noise.residuals.size());
    }
    const JobKind job{.name = "as above"};
    std::string text = "# Changes of running jobs\n\nWritten by `" + command +
                       "`. How jobs are made and what the columns mean: "
                       "[docs/methods/result-pages.md](../docs/methods/result-pages.md#watchmd).\n\n";
    text += fmt::format(
        "Synthetic jobs: the plan `{}` of `jobs/scenarios/llama3-405b-16k.toml`, {:.2f} s per step. Steps vary by {:.2f} % about "
        "the "
        "mean of their fleet ({} draws), and their common factor by {:.2f} %.\n\n",
        noise.design, noise.mean_s, 100.0 * std::sqrt(variance), noise.residuals.size(), 100.0 * noise.common_cv);
    text += "## False alarms\n\n| jobs | runs | alarms in 30 days | jobs with any |\n|---|---|---|---|\n";
    text += false_alarm_row(noise, job, runs);
    const int fewer = std::max(1, runs / 5);
    for (const JobKind& kind :
         {JobKind{.name = "no autocorrelation", .coefficient = 0.0}, JobKind{.name = "coefficient 0.9", .coefficient = 0.9},
          JobKind{.name = "no swing", .swing_low = 0.0, .swing_high = 0.0},
          JobKind{.name = "swing of 4 %", .swing_low = 0.04, .swing_high = 0.04},
          JobKind{.name = "1 % of steps slower by 30 % in the mean (exponential)", .tails = 0.01},
          JobKind{.name = "every 120th step 30 % longer", .checkpoints = 120}}) {
        text += false_alarm_row(noise, kind, fewer);
    }
    text += fmt::format(
        "\n## Changes\n\n{} jobs each, with one change that lasts.\n\n"
        "| change | after step | median delay | p90 | found | change point, median error | inside its limits | size inside its "
        "limits | jobs with an "
        "alarm before |\n|---|---|---|---|---|---|---|---|---|\n",
        runs);
    for (const std::int64_t at : {1000, 5000, 20'000}) {
        for (const double size : {0.05, 0.02, 0.01, 0.005, -0.02}) {
            text += change_row(noise, job, size, at, runs);
        }
    }
    if (!folder.empty()) {
        text +=
            "\n## Public series\n\n"
            "| series | steps | baseline | deviation | changes | spikes |\n|---|---|---|---|---|---|\n";
        for (const Series& series : public_series(folder)) {
            if (series.seconds.size() > 205) {
                text += series_row(series, 200);
            }
            text += series_row(series, 50);
        }
    }
    return text;
}

}  // namespace
}  // namespace prismopt::bench

int main(int argc, char** argv)
{
    if (argc < 4 || argc > 5) {
        fmt::print(stderr, "usage: watch_study SCENARIO RUNS FILE [FOLDER WITH PUBLIC SERIES]\n");
        return 2;
    }
    const int runs = std::max(1, std::atoi(argv[2]));
    const auto noise = prismopt::bench::plan_noise(argv[1], prismopt::bench::quick_start_plan);
    const std::string text = prismopt::bench::page(fmt::format("bash jobs/watch_study {}{}", runs, argc > 4 ? " DATA" : ""),
                                                   noise, runs, argc > 4 ? argv[4] : "");
    std::ofstream(argv[3]) << text;
    return 0;
}
