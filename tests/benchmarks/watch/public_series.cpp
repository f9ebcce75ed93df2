#include "tests/benchmarks/watch/public_series.hpp"

#include "io/base/csv.hpp"
#include "model/base/statistics.hpp"
#include "tests/benchmarks/watch/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>
#include <sstream>

namespace prismopt::bench {

namespace {

constexpr int baseline = 100;
constexpr std::int64_t first_change = 106;  // the first step after the baseline, without five of warm-up
constexpr std::int64_t last_steps = 40;     // after the last change
constexpr int injections = 30;

struct Group {
    const char* name;
    std::function<bool(const Series&)> has;
};

const std::array<Group, 4>& groups()
{
    static const std::array<Group, 4> all{
        {{"half A", [](const Series& s) { return s.job % 2 == 0 && !s.grows; }},
         {"half B", [](const Series& s) { return s.job % 2 != 0 && !s.grows; }},
         {"growing", [](const Series& s) { return s.grows; }},
         {"all", [](const Series&) { return true; }}}};
    return all;
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

ChangeDetector watched(const std::vector<double>& seconds)
{
    ChangeDetector detector({.baseline = baseline});
    std::int64_t number = 0;
    for (const double s : seconds) {
        detector.add({++number, s, 1, false});
    }
    return detector;
}

std::string change_cell(const Change& change)
{
    const char* kind = change.kind == ChangeKind::warm_up ? "warm-up"
                       : change.kind == ChangeKind::shift ? "shift"
                                                          : "drift";
    return fmt::format("{} {:+.1f} % ({:+.1f} to {:+.1f}) since {}", kind, 100.0 * change.size,
                       100.0 * change.low, 100.0 * change.high, change.since);
}

/// Median of the last 30 steps.
double last_level(const std::vector<double>& seconds)
{
    return median({seconds.end() - std::min<std::ptrdiff_t>(30, std::ssize(seconds)), seconds.end()});
}

std::vector<Outcome> injected(const std::vector<Series>& all, const Group& group, double size)
{
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto steps = std::ssize(all[i].seconds);
        if (!group.has(all[i]) || steps < first_change + last_steps) {
            continue;
        }
        std::mt19937_64 generator(i);
        std::uniform_int_distribution<std::int64_t> at(first_change, steps - last_steps + 1);
        for (int k = 0; k < injections; ++k) {
            trials.push_back({.seconds = all[i].seconds,
                              .at = at(generator),
                              .size = size,
                              .baseline = baseline,
                              .cluster = static_cast<int>(i)});
        }
    }
    std::vector<Outcome> outcomes(trials.size());
    in_parallel(static_cast<int>(trials.size()), [&](int i) {
        const Trial& trial = trials[static_cast<std::size_t>(i)];
        const double now_s =
            last_level({trial.seconds.begin() + trial.at - 1, trial.seconds.end()}) * (1.0 + trial.size);
        outcomes[static_cast<std::size_t>(i)] = outcome_of(trial, now_s);
    });
    return outcomes;
}

/// Actual time of the rest of a job over the forecast's quantiles.
struct ForecastOutcome {
    int cluster = 0;
    std::array<bool, 3> below{};
    double loss = 0.0;  // quantile loss over the actual time, mean of the quantiles
};

constexpr std::array<double, 3> forecast_quantiles{0.5, 0.9, 0.99};

/// Forecast after `known` steps of a job that is slower by `size` from step `at` on.
ForecastOutcome forecast(const std::vector<double>& seconds, std::int64_t known, std::int64_t at, double size,
                         int cluster)
{
    std::vector<double> changed = seconds;
    for (std::size_t i = static_cast<std::size_t>(at) - 1; i < changed.size(); ++i) {
        changed[i] *= 1.0 + size;
    }
    const auto now = changed.begin() + known;
    const ChangeDetector detector = watched({changed.begin(), now});
    const double actual = std::accumulate(now, changed.end(), 0.0);
    const auto steps = static_cast<double>(changed.end() - now);
    ForecastOutcome outcome{.cluster = cluster};
    for (std::size_t q = 0; q < forecast_quantiles.size(); ++q) {
        const double probability = forecast_quantiles[q];
        const double predicted = steps * detector.lasting_s() *
                                 (1.0 + normal_quantile(probability) * detector.lasting_error(steps));
        outcome.below[q] = actual < predicted;
        const double weight = actual > predicted ? probability : 1.0 - probability;
        outcome.loss +=
            weight * std::abs(actual - predicted) / actual / static_cast<double>(forecast_quantiles.size());
    }
    return outcome;
}

std::vector<ForecastOutcome> forecasts(const std::vector<Series>& all, const Group& group, double size)
{
    constexpr int places = 10;
    constexpr std::int64_t least_rest = 20;
    constexpr std::int64_t before = 20;  // steps from the change to the forecast
    std::vector<ForecastOutcome> outcomes;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto steps = std::ssize(all[i].seconds);
        const std::int64_t first = first_change + (size != 0.0 ? before : 0);
        for (int k = 0; k < places && group.has(all[i]); ++k) {
            const std::int64_t known = first + (steps - least_rest - first) * k / places;
            if (known + least_rest <= steps && known >= first) {
                outcomes.push_back(
                    forecast(all[i].seconds, known, known - before + 1, size, static_cast<int>(i)));
            }
        }
    }
    return outcomes;
}

std::string forecast_row(const std::vector<Series>& all, const Group& group, double size)
{
    const std::vector<ForecastOutcome> outcomes = forecasts(all, group, size);
    std::string row = fmt::format("| {:+.0f} % | {} | {} |", 100.0 * size, group.name, outcomes.size());
    double loss = 0.0;
    for (std::size_t q = 0; q < forecast_quantiles.size(); ++q) {
        std::vector<Judged> judged;
        for (const ForecastOutcome& outcome : outcomes) {
            judged.push_back({outcome.cluster, outcome.below[q]});
        }
        row += fmt::format(" {} |", share_text(judged));
    }
    for (const ForecastOutcome& outcome : outcomes) {
        loss += outcome.loss / static_cast<double>(outcomes.size());
    }
    return row + fmt::format(" {:.3f} % |\n", 100.0 * loss);
}

}  // namespace

std::vector<Series> public_series(const std::string& folder)
{
    std::vector<Series> all;
    std::vector<std::string> jobs;
    for (const CsvRow& row : read_csv((std::filesystem::path(folder) / "mlperf_step_series.csv").string())) {
        const std::string job = row.text("round") + " " + row.text("system");
        const auto known = std::find(jobs.begin(), jobs.end(), job);
        const auto number = static_cast<int>(known - jobs.begin());
        if (known == jobs.end()) {
            jobs.push_back(job);
        }
        all.push_back({.name = job + " " + row.text("result_file"),
                       .job = number,
                       .grows = row.text("system") == "3072xBM.GPU.H100.8",
                       .seconds = numbers(row.text("step_times_s_space_separated"))});
    }
    return all;
}

std::string untouched_section(const std::vector<Series>& all)
{
    std::string text =
        "| series | half | steps | deviation | sum of lags | changes | now over the last 30 | spikes |\n"
        "|---|---|---|---|---|---|---|---|\n";
    int reported = 0;
    for (const Series& series : all) {
        const ChangeDetector detector = watched(series.seconds);
        std::string changes;
        for (const Change& change : detector.changes()) {
            changes += (changes.empty() ? "" : "; ") + change_cell(change);
        }
        reported += changes.empty() ? 0 : 1;
        const std::vector<double>& lags = detector.baseline()->autoregression;
        double largest = 0.0;
        for (const Spike& spike : detector.spikes()) {
            largest = std::max(largest, spike.excess);
        }
        const std::string spikes =
            fmt::format("{}, up to {:+.0f} %", detector.spikes().size(), 100.0 * largest);
        text +=
            fmt::format("| {} | {} | {} | {:.2f} % | {:.2f} | {} | {:+.2f} % | {} |\n", series.name,
                        series.grows          ? "growing"
                        : series.job % 2 == 0 ? "A"
                                              : "B",
                        series.seconds.size(), 100.0 * detector.baseline()->deviation,
                        std::accumulate(lags.begin(), lags.end(), 0.0), changes.empty() ? "none" : changes,
                        100.0 * (detector.level_s() / last_level(series.seconds) - 1.0),
                        detector.spikes().empty() ? "" : spikes);
    }
    return fmt::format("{} of {} series have changes.\n\n", reported, all.size()) + text;
}

std::string injected_section(const std::vector<Series>& all)
{
    struct Row {
        double size;
        int within;
    };
    std::string text =
        "| change | series | within | found | delay: median, p99 | now within 1 % | size inside its limits | "
        "their width |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (const Row& row : {Row{0.02, 40}, Row{0.05, 12}, Row{0.10, 6}, Row{-0.05, 12}}) {
        for (const Group& group : groups()) {
            text += fmt::format("| {:+.0f} % | {} | {}\n", 100.0 * row.size, group.name,
                                outcome_cells(injected(all, group, row.size), row.within));
        }
    }
    return text;
}

std::string forecast_section(const std::vector<Series>& all)
{
    std::string text =
        "| change | series | forecasts | below p50 | below p90 | below p99 | mean quantile loss "
        "|\n|---|---|---|---|---|---|---|\n";
    for (const double size : {0.0, 0.05}) {
        for (const Group& group : groups()) {
            text += forecast_row(all, group, size);
        }
    }
    return text;
}

}  // namespace prismopt::bench
