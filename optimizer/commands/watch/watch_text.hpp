#pragma once

/// Output of `watch`: what is known of a running job.

#include "model/level_check.hpp"
#include "model/remaining_run.hpp"
#include "model/run/changes/change_detector.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
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
    double peak_memory = 0.0;      // bytes; 0: not in the log
    double batch = 0.0;            // sequences of the last step; 0: not in the log
    int planned_batch = 0;         // of the plan there
    std::int64_t batch_since = 0;  // first step with this batch, relative to the plan's
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
    double level_error = 0.0;
    std::optional<double> failures;  // nothing: the log cannot show them
    std::optional<RemainingRun> remaining;
    std::chrono::system_clock::time_point now;
    std::string stopped;  // by a signal; empty: the log ended
};

/// The exit code that reports this.
int watch_exit_code(const WatchedJob& job);

std::string watch_text(const WatchedJob& job);
nlohmann::json watch_json(const WatchedJob& job);

/// "slower by 3.1 % (2.8 to 3.4 %) since step 1200 (1196 to 1203), found at step 1204".
std::string change_text(const Change& change);
/// "6.93 s per step in steps 6 to 205; predicted 6.90 s (...): compatible".
std::string level_text(const Baseline& baseline, const LevelCheck& level);

}  // namespace prismopt
