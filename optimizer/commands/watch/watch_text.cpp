#include "optimizer/commands/watch/watch_text.hpp"

#include "io/base/percent.hpp"
#include "optimizer/commands/command.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {

using namespace literals;

namespace {

constexpr double one_day_s = (1_day).si;
constexpr double gb = 1e9;

struct CompletionQuantile {
    const char* name;
    double probability;
};
constexpr std::array<CompletionQuantile, 3> completion_quantiles{{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}};

const char* name_of(ChangeKind kind)
{
    switch (kind) {
        case ChangeKind::warm_up: return "warm-up";
        case ChangeKind::shift: return "shift";
        case ChangeKind::drift: return "drift";
    }
    return "";
}

const char* name_of(LevelVerdict verdict)
{
    switch (verdict) {
        case LevelVerdict::compatible: return "compatible";
        case LevelVerdict::slower: return "slower than predicted";
        case LevelVerdict::faster: return "faster than predicted";
    }
    return "";
}

double quantile(const RemainingRun& remaining, double probability)
{
    const auto at =
        static_cast<std::size_t>(std::ceil(probability * static_cast<double>(remaining.seconds.size()))) - 1;
    return remaining.seconds[at];
}

/// Date and time in UTC, or "never" for runs that outlast the calendar.
std::string date_after(std::chrono::system_clock::time_point now, double seconds)
{
    constexpr double longest_s = 1000.0 * 365.25 * one_day_s;
    if (!(seconds < longest_s)) {
        return "never";
    }
    const auto end =
        std::chrono::time_point_cast<std::chrono::seconds>(now) + std::chrono::seconds(std::llround(seconds));
    return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(end)));
}

/// A log of bare numbers whose seconds are about a thousand times those predicted, within a factor that
/// the error of the model seldom exceeds.
bool may_be_milliseconds(const WatchedJob& job)
{
    constexpr double most_error = 3.0;
    const double ratio = 1e-3 * job.baseline->mean_s / job.level->predicted_s;
    return job.trainer == numbers_format && ratio > 1.0 / most_error && ratio < most_error;
}

/// Whether the log states another number of steps than the plan has. Trainers round the last batch or epoch.
bool has_other_steps(const WatchedJob& job)
{
    constexpr double rounding = 0.01;
    return job.total_steps > 0.0 && std::abs(job.total_steps / job.planned_steps - 1.0) > rounding;
}

bool counts(const Change& change) { return change.kind != ChangeKind::warm_up; }

bool has_changed(const WatchedJob& job)
{
    return std::any_of(job.changes.begin(), job.changes.end(), counts);
}

std::string remaining_text(const WatchedJob& job)
{
    const RemainingRun& remaining = *job.remaining;
    std::string text =
        job.failures
            ? fmt::format(
                  "failures so far: {:.0f} ({:.2f} expected); the forecast multiplies the failure rate by "
                  "{:.2f}\n",
                  *job.failures, remaining.expected_failures, remaining.rate_factor)
            : fmt::format("failures so far: not in this log ({:.2f} expected); give them with --failures\n",
                          remaining.expected_failures);
    if (remaining.seconds.empty() && remaining.about_s > 0.0) {
        return text + fmt::format(
                          "completion: {} ({:.4g} days), too far away for quantiles; check the step times, "
                          "and --failures\n",
                          date_after(job.now, remaining.about_s), remaining.about_s / one_day_s);
    }
    if (remaining.seconds.empty()) {
        return text + "completion: never, as failures occur faster than checkpoints and restarts\n";
    }
    text += fmt::format("completion, with {:.0f} steps to go:", remaining.steps);
    for (const CompletionQuantile& q : completion_quantiles) {
        const double seconds = quantile(remaining, q.probability);
        text +=
            fmt::format("   {} {} ({:.2f} days)", q.name, date_after(job.now, seconds), seconds / one_day_s);
    }
    return text + "\n";
}

nlohmann::json to_json(const OutOfMemory& error)
{
    return {
        {"memory", error.of == MemoryOf::gpu ? "gpu" : "host"}, {"line", error.line}, {"text", error.text}};
}

nlohmann::json to_json(const Change& change)
{
    return {{"kind", name_of(change.kind)},    {"since", change.since},   {"since_low", change.since_low},
            {"since_high", change.since_high}, {"relative", change.size}, {"relative_low", change.low},
            {"relative_high", change.high},    {"found", change.found}};
}

}  // namespace

int watch_exit_code(const WatchedJob& job)
{
    if (job.is_silent()) {
        return exit_silent;
    }
    if (has_changed(job)) {
        return exit_changed;
    }
    return job.level && job.level->verdict != LevelVerdict::compatible ? exit_unexpected_level : exit_done;
}

std::string change_text(const Change& change)
{
    const bool slower = change.size > 0.0;
    const double sign = slower ? 100.0 : -100.0;
    return fmt::format("{}: {} by {:.2f} % ({:.2f} to {:.2f} %) since step {} ({} to {}), found at step {}",
                       name_of(change.kind), slower ? "slower" : "faster", sign * change.size,
                       sign * (slower ? change.low : change.high), sign * (slower ? change.high : change.low),
                       change.since, change.since_low, change.since_high, change.found);
}

std::string level_text(const Baseline& baseline, const LevelCheck& level)
{
    return fmt::format(
        "level: {:.4g} s per step in steps {} to {}; predicted {:.4g} s ({:.4g} to {:.4g} s with model "
        "error, 95 %): {}; "
        "percentile {:.1f} ({:.1f} assuming the model is exact)",
        baseline.mean_s, baseline.first, baseline.last, level.predicted_s, level.low_s, level.high_s,
        name_of(level.verdict), 100.0 * level.percentile, 100.0 * level.percentile_of_draws);
}

std::string watch_text(const WatchedJob& job)
{
    std::string text = fmt::format("point {} of {}: {}\n", job.point, job.results, job.design);
    text += fmt::format(
        "log {} ({}): {} lines of steps {} to {}, {} restarts{}{}\n", job.log, job.trainer, job.steps,
        job.first_step, job.last_step, job.restarts,
        job.restarts_at_time_limits > 0 ? fmt::format(" ({} at a time limit)", job.restarts_at_time_limits)
                                        : "",
        job.peak_memory > 0.0 ? fmt::format(", peak memory {:.1f} GB", job.peak_memory / gb) : "");
    if (job.out_of_memory) {
        text += out_of_memory_text(*job.out_of_memory, job.results, job.point) + "\n";
    }
    if (job.is_silent()) {
        text += fmt::format(
            "silent: nothing was written to the log for {:.1f} h, so the job has ended, waits or hangs; "
            "forecasts assume that it continues now\n",
            *job.unchanged_s / (1_h).si);
    }
    if (!job.stopped.empty()) {
        text += fmt::format("stopped by {}: what is known so far\n", job.stopped);
    }
    if (job.batch > 0.0 && job.batch != job.planned_batch) {
        text += fmt::format(
            "batch: {:.0f} sequences per step in the log since step {}, {} in the plan; progress and the "
            "rest of the run are "
            "counted in sequences\n",
            job.batch, job.batch_since, job.planned_batch);
    } else if (job.batch > 0.0 && job.batch_since > job.first_step) {
        text +=
            fmt::format("batch: {:.0f} sequences per step as in the plan since step {}, another one before\n",
                        job.batch, job.batch_since);
    }
    if (has_other_steps(job)) {
        text +=
            fmt::format("steps: {:.0f} in all by the log, {:.0f} by the plan; the forecast is for the plan\n",
                        job.total_steps, job.planned_steps);
    }
    if (!job.baseline) {
        text += fmt::format("baseline: {} of {} observations; {}\n", job.collected, job.needed,
                            job.level_s > 0.0 ? fmt::format("median {:.4g} s per step so far", job.level_s)
                                              : "too few steps yet for a step time");
    } else {
        text += level_text(*job.baseline, *job.level) + "\n";
        if (may_be_milliseconds(job)) {
            text +=
                "the numbers of the log are read as seconds; for milliseconds, write step_time_ms above "
                "them\n";
        }
    }
    for (const Change& change : job.changes) {
        text += change_text(change) + "\n";
    }
    if (job.baseline && !has_changed(job)) {
        text += "no change against the baseline\n";
    }
    if (job.baseline) {
        text += fmt::format("now: {:.4g} s per step ({:.4g} to {:.4g}), {} against the baseline\n",
                            job.level_s, job.level_low_s, job.level_high_s, change_text(job.level_change, 2));
    }
    if (!job.spikes.empty()) {
        const auto largest =
            std::max_element(job.spikes.begin(), job.spikes.end(),
                             [](const Spike& a, const Spike& b) { return a.excess < b.excess; });
        text += fmt::format(
            "slow steps, single or in a block: {}, {} of the time; the slowest is step {}, {} above the "
            "level\n",
            job.spikes.size(), percent_text(job.spike_excess_s / job.trained_s, 2), largest->number,
            percent_text(largest->excess, 0));
    }
    return job.remaining ? text + remaining_text(job) : text;
}

nlohmann::json watch_json(const WatchedJob& job)
{
    nlohmann::json json{{"format", "prismopt watch"},
                        {"format_version", 1},
                        {"results", job.results},
                        {"point", job.point},
                        {"design", job.design},
                        {"log", job.log},
                        {"trainer", job.trainer},
                        {"lines", job.steps},
                        {"first_step", job.first_step},
                        {"last_step", job.last_step},
                        {"restarts", job.restarts},
                        {"restarts_at_time_limits", job.restarts_at_time_limits},
                        {"failures", job.failures ? nlohmann::json(*job.failures) : nlohmann::json()},
                        {"baseline", nullptr},
                        {"level", nullptr},
                        {"changes", nlohmann::json::array()},
                        {"spikes", nlohmann::json::array()},
                        {"completion", nullptr},
                        {"exit_code", watch_exit_code(job)}};
    json["peak_memory_bytes"] = job.peak_memory > 0.0 ? nlohmann::json(job.peak_memory) : nlohmann::json();
    json["total_steps"] = job.total_steps > 0.0
                              ? nlohmann::json{{"log", job.total_steps}, {"plan", job.planned_steps}}
                              : nlohmann::json();
    json["out_of_memory"] = job.out_of_memory ? to_json(*job.out_of_memory) : nlohmann::json();
    json["unchanged_s"] = job.unchanged_s ? nlohmann::json(*job.unchanged_s) : nlohmann::json();
    json["silent"] = job.is_silent();
    json["stopped_by"] = job.stopped.empty() ? nlohmann::json() : nlohmann::json(job.stopped);
    json["step_s"] = job.level_s > 0.0 ? nlohmann::json(job.level_s) : nlohmann::json();
    json["batch"] =
        job.batch > 0.0
            ? nlohmann::json{{"log", job.batch}, {"plan", job.planned_batch}, {"since_step", job.batch_since}}
            : nlohmann::json();
    json["relative_to_baseline"] = job.baseline ? nlohmann::json(job.level_change) : nlohmann::json();
    json["step_relative_error"] = job.baseline ? nlohmann::json(job.level_error) : nlohmann::json();
    json["observations"] = {{"collected", job.collected}, {"needed", job.needed}};
    if (job.baseline) {
        json["baseline"] = {{"first", job.baseline->first},
                            {"last", job.baseline->last},
                            {"mean_s", job.baseline->mean_s},
                            {"median_s", job.baseline->median_s},
                            {"relative_error", job.baseline->mean_error},
                            {"deviation", job.baseline->deviation},
                            {"autoregression", job.baseline->autoregression}};
    }
    if (job.level) {
        json["level"] = {{"predicted_s", job.level->predicted_s},
                         {"low_s", job.level->low_s},
                         {"high_s", job.level->high_s},
                         {"percentile", job.level->percentile},
                         {"percentile_if_model_exact", job.level->percentile_of_draws},
                         {"verdict", name_of(job.level->verdict)}};
    }
    for (const Change& change : job.changes) {
        json["changes"].push_back(to_json(change));
    }
    for (const Spike& spike : job.spikes) {
        json["spikes"].push_back({{"step", spike.number}, {"steps", spike.steps}, {"excess", spike.excess}});
    }
    if (job.remaining) {
        json["completion"] = {{"steps", job.remaining->steps},
                              {"expected_failures", job.remaining->expected_failures},
                              {"failure_rate_factor", job.remaining->rate_factor}};
        for (const CompletionQuantile& q : completion_quantiles) {
            const bool ends = !job.remaining->seconds.empty();
            const double seconds = ends ? quantile(*job.remaining, q.probability) : 0.0;
            json["completion"][q.name] =
                ends ? nlohmann::json{{"seconds", seconds}, {"date", date_after(job.now, seconds)}}
                     : nlohmann::json();
        }
    }
    return json;
}

}  // namespace prismopt
