#pragma once

/// A running job beside its prediction: its log, read as it grows.

#include "io/logs/log_formats.hpp"
#include "io/logs/log_source.hpp"
#include "io/logs/out_of_memory.hpp"
#include "io/results/results.hpp"
#include "model/level_check.hpp"
#include "model/remaining_run.hpp"
#include "model/run/changes/change_detector.hpp"
#include "optimizer/api/plans.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// A running job, as far as its log goes.
struct WatchedJob {
    std::string results;
    std::uint64_t point = 0;
    std::string design;
    std::string log;
    std::string trainer;  // empty: not known
    std::int64_t steps = 0;
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
    int restarts = 0;
    int restarts_at_time_limits = 0;  // not counted as failures
    double peak_memory = 0.0;         // bytes; 0: not in the log
    std::optional<OutOfMemory> out_of_memory;
    double batch = 0.0;            // sequences of the last step; 0: not in the log
    int planned_batch = 0;         // of the plan there
    std::int64_t batch_since = 0;  // first step with this batch, relative to the plan's
    double total_steps = 0.0;      // of the training by the log; 0: not in the log
    double planned_steps = 0.0;    // of the plan, with the batch of the log
    int needed = 0;                // observations of the baseline
    int collected = 0;
    std::optional<Baseline> baseline;
    std::optional<LevelCheck> level;  // with the baseline
    std::vector<Change> changes;
    std::vector<Spike> spikes;
    double spike_excess_s = 0.0;  // time of all spikes over the level
    double trained_s = 0.0;
    double level_s = 0.0;       // now
    double level_change = 0.0;  // against the baseline, relative
    double level_error = 0.0;   // standard error of the logarithm of level_s
    double level_low_s = 0.0;   // 95 % confidence interval of level_s
    double level_high_s = 0.0;
    std::optional<double> failures;  // nothing: the log cannot show them
    std::optional<RemainingRun> remaining;
    std::chrono::system_clock::time_point now;
    std::string stopped;                  // by a signal; empty: the log ended
    std::optional<double> unchanged_s{};  // since the log was written to; nothing: not known

    /// The log should have grown: nothing was written for an hour, nor for the time of 200 steps and of two
    /// lines, and steps are left.
    bool is_silent() const;
};

/// "out of memory: line 98 of the log says ...", and the command that helps. `results`, `point`: the plan of
/// the job.
std::string out_of_memory_text(const OutOfMemory& error, const std::string& results, std::uint64_t point);

/// How a log is read, and when a change is reported.
struct WatchOptions {
    std::string trainer = {};  // format of the log (log_formats()); empty: detected from its first lines
    double false_alarm_days = 30.0;  // mean time between false alarms
    double least_change_percent = 1.0;
    double swing_percent = 2.0;  // normal variation of the step time over a day, peak to peak
    int baseline = 200;          // initial steps that form the baseline
    // of the job so far; nothing: restarts in the log but those at time limits
    std::optional<double> failures{};
};

/// Follows one job. Use it from one thread at a time.
class JobWatch {
public:
    /// `number`: of the job's plan in the results; nothing: the first plan of the front. `file` and `log`:
    /// the paths of the results and of the log, for messages and outputs. Throws InputError for
    /// options out of range, plans that the study does not have, and results whose step times this build
    /// does not predict (of another version or catalog, mostly); InfeasiblePlan.
    JobWatch(const Results& results, const std::string& file, std::optional<std::int64_t> number,
             const std::string& log, const WatchOptions& options = {});
    JobWatch(JobWatch&&) noexcept;
    JobWatch& operator=(JobWatch&&) noexcept;
    ~JobWatch();

    /// Reads a piece of the log, which may end anywhere in a line.
    void add(std::string_view text);
    /// The log has ended, or nothing more of it is read: its last line may then be half a line.
    void finish(bool stopped = false);

    /// All steps of the training are done.
    bool trained() const;
    /// In seconds of a step of the log, as all times of a job; nothing: too few steps yet.
    std::optional<Baseline> baseline() const;
    std::vector<Change> changes() const;
    /// Of the baseline, which must be known.
    LevelCheck level();
    /// What is known by now. `stopped`: by a signal; empty: the log ended. Throws
    /// InputError if the log has shown no step.
    WatchedJob job(const std::string& stopped = "");

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace prismopt
