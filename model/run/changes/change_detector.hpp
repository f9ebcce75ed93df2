#pragma once

/// Sequential detection of changes in the step times of a running job against its own baseline. docs/methods/watch.md.

#include "model/run/changes/change_place.hpp"
#include "model/run/changes/cusum_charts.hpp"
#include "model/run/changes/sequential_ranks.hpp"
#include "model/run/changes/slow_level.hpp"
#include "model/run/changes/step_noise.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace prismopt {

struct ChangeDetectorOptions {
    int baseline = 200;                  // steps
    double false_alarm_s = 2'592'000.0;  // mean time between false alarms: 30 days
    double least_change = 0.0025;        // smaller changes are followed, and not reported
    SlowChanges slow{.swing = 0.02};     // Llama 3, arXiv 2407.21783, section 3.3.4: 1-2 % over a day
};

/// A step time, or the mean of several steps.
struct StepTime {
    std::int64_t number = 0;  // of its last step
    double seconds = 0.0;     // per step
    std::int64_t steps = 1;
    bool restarted = false;  // before this step
};

/// A drift is a series of shifts in one direction.
enum class ChangeKind { warm_up, shift, drift };

/// A change of the level. Sizes are relative: 0.03 is 3 % slower.
struct Change {
    ChangeKind kind = ChangeKind::shift;
    std::int64_t since = 0;  // first step after the change, with 95 % limits
    std::int64_t since_low = 0;
    std::int64_t since_high = 0;
    double size = 0.0;  // with 95 % limits; of a drift, all of it
    double low = 0.0;
    double high = 0.0;
    std::int64_t found = 0;  // step at which it was found
};

/// A single slow step.
struct Spike {
    std::int64_t number = 0;
    double excess = 0.0;  // over the expected time, relative
};

/// Mean and its uncertainty of the step times of the baseline.
struct Baseline {
    std::int64_t first = 0;  // numbers of its steps
    std::int64_t last = 0;
    int observations = 0;
    double median_s = 0.0;
    double mean_s = 0.0;      // without spikes
    double deviation = 0.0;   // of log step times, robust
    double mean_error = 0.0;  // standard error of log mean_s, with autocorrelation and the time of day
    std::vector<double> autoregression;
};

/// Detector for one job. Pass every step once, in order.
class ChangeDetector {
public:
    explicit ChangeDetector(ChangeDetectorOptions options);

    void add(const StepTime& step);

    /// Nothing until the baseline is complete.
    const std::optional<Baseline>& baseline() const { return baseline_; }
    /// Steps that the baseline has, and needs.
    int collected() const { return static_cast<int>(records_.size()); }
    int needed() const;

    /// All changes of at least `least_change`, in order; the size of the last one is as precise as the steps since allow.
    std::vector<Change> changes() const;
    /// Step at which the last of them was found; 0: none.
    std::int64_t found() const { return changes_.empty() ? 0 : changes_.back().found; }
    const std::vector<Spike>& spikes() const { return spikes_; }
    /// Expected step time now, in seconds, and the standard error of its logarithm; without a baseline, the median so far.
    double level_s() const;
    double level_error() const;
    /// The same without the time of day, for forecasts.
    double lasting_s() const;
    double lasting_error() const;

private:
    struct Record {
        double log_s = 0.0;
        std::int64_t number = 0;
        std::int64_t steps = 1;
    };
    /// What follows from a record, given those before it.
    struct State {
        SlowLevel level;
        std::deque<double> clipped;  // last log times, as many as the autoregression needs
    };
    struct Snapshot {
        std::int64_t index = 0;  // before this record
        State state;
    };
    struct Innovation {
        double value = 0.0;
        double variance = 0.0;
        double deviation = 0.0;  // clipped log time less its level
    };
    void begin();
    void watch(std::int64_t index);
    Innovation observe(State& state, double log_s) const;
    ChangePlace locate(std::int64_t first) const;
    void restart_baseline(const ChangePlace& place, const std::vector<double>& logs);
    void take(const ChangePlace& place);
    Change change_at(const ChangePlace& place, ChangeKind kind) const;
    std::vector<Change> known_changes() const;
    double take_noise(const std::vector<double>& deviations);
    void fit_noise();
    const Record& record(std::int64_t index) const { return records_[static_cast<std::size_t>(index - first_)]; }

    ChangeDetectorOptions options_;
    std::deque<Record> records_;  // the last ones
    std::int64_t first_ = 0;      // index of the first of them
    int skip_ = 0;
    double typical_steps_ = 1.0;  // averaged by an observation

    std::optional<Baseline> baseline_;
    std::optional<State> state_;
    std::deque<Snapshot> snapshots_;
    Autocovariances autocovariances_;
    Autoregression noise_;
    double noise_variance_ = 0.0;  // of slow means, times their number
    double clip_ = 0.0;
    std::int64_t next_fit_ = 0;
    double allowance_ = 1.0;  // root of Autoregression::variance_allowance()
    SequentialRanks ranks_;
    CusumCharts charts_;
    std::vector<Change> changes_;
    std::int64_t last_change_ = 0;  // index
    bool sized_by_state_ = false;   // the last of changes_: by the shift of the state
    std::vector<Spike> spikes_;
};

}  // namespace prismopt
