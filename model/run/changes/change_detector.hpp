#pragma once

/// Sequential detection of changes in the step times of a running job against its own
/// baseline. docs/methods/watch.md.

#include "model/run/changes/change_place.hpp"
#include "model/run/changes/cusum_charts.hpp"
#include "model/run/changes/mean_level.hpp"
#include "model/run/changes/step_noise.hpp"
#include "model/run/reliability.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace prismopt {

struct ChangeDetectorOptions {
    int baseline = 200;                  // steps
    double false_alarm_s = 2'592'000.0;  // mean time between false alarms: 30 days
    double least_change = 0.01;          // smaller changes are followed, and not reported
    double swing = 0.02;  // over a day, peak to peak: Llama 3, arXiv 2407.21783, section 3.3.4, has 1-2 %
    Drift drift{};        // of the scenario
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

/// A single slow step, several whose mean is slow, or slow steps in succession after which the job is back.
struct Spike {
    std::int64_t number = 0;  // of the last of them
    std::int64_t steps = 1;
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

    /// All changes of at least `least_change`, in order; the size of the last one is as precise
    /// as the first steps since allow.
    std::vector<Change> changes() const;
    /// Step at which the last of them was found; 0: none.
    std::int64_t found() const { return levels_.changes.empty() ? 0 : levels_.changes.back().change.found; }
    const std::vector<Spike>& spikes() const { return spikes_; }
    /// Step time now, in seconds, as the mean of the baseline without spikes; and the standard error of its
    /// logarithm. Without a baseline, the median so far.
    double level_s() const;
    double level_error() const;
    /// Level over that of the baseline, less 1.
    double level_change() const;
    /// Expected time of further steps, with single slow ones; and the standard error of the
    /// logarithm of the mean of so many.
    double lasting_s() const;
    double lasting_error(double steps) const;

private:
    struct Record {
        double log_s = 0.0;
        std::int64_t number = 0;
        std::int64_t steps = 1;
        double deviation = 0.0;  // from the level
    };
    /// A change, and the levels on both sides of it.
    struct Found {
        Change change;
        MeanLevel before;
        MeanLevel after;
        MeanLevel explained;    // of the baseline, with all changes before
        std::int64_t near = 0;  // last step before with the level near that
    };
    /// What is known of the job's levels.
    struct Levels {
        double explained_log_s = 0.0;  // level of the baseline, with all changes before the last one
        MeanLevel now;                 // follows slow movements
        MeanLevel lasting;             // since the last change
        std::int64_t near = 0;         // last step with the level near the explained one
        std::vector<Found> changes;
    };
    void begin();
    void learn_noise(std::size_t first);
    bool restart_baseline();
    void watch();
    std::vector<double> logs(std::size_t first, std::size_t end) const;
    MeanLevel mean_level(std::size_t first, std::size_t end) const;
    void handle_shift(std::int64_t length);
    bool is_back(std::size_t first, std::size_t lasted) const;
    void handle_pause(std::size_t first, std::size_t end);
    void handle_mixture();
    void handle_drift();
    bool drifts_on() const;
    bool is_drift(std::vector<Found>::const_iterator first, std::vector<Found>::const_iterator end) const;
    std::vector<Found>::const_iterator end_of_direction(std::vector<Found>::const_iterator first) const;
    Change drift_of(std::vector<Found>::const_iterator first, std::vector<Found>::const_iterator end) const;
    void set_level(std::size_t first);
    void set_deviations(std::size_t first);
    void settle(double deviation);
    void fit_noise();
    double spike_limit() const;
    double interval_s() const;
    double swing_between(double before, double after) const;
    void conclude_last();
    bool has_live_change() const;
    bool is_open() const;
    void size_live_change();
    double explained_log_s() const;
    MeanLevel known_level(const MeanLevel& level) const;
    double error_of(const MeanLevel& level) const { return noise_.mean_deviation(level.observations); }
    Change change_at(ChangeKind kind, std::int64_t since) const;
    void add_change(const Change& change, const MeanLevel& before, const MeanLevel& after);

    ChangeDetectorOptions options_;
    std::deque<Record> records_;  // the last ones
    int skip_ = 0;
    double typical_steps_ = 1.0;  // averaged by an observation

    std::optional<Baseline> baseline_;
    std::vector<double> baseline_logs_;
    double baseline_log_s_ = 0.0;
    Levels levels_;
    std::optional<Levels> earlier_;  // before the last shift, until its size is final
    StepTails tails_;
    std::deque<double> cleaned_;  // last deviations from the level, the latest first; innovations are clipped
    Autocovariances autocovariances_;
    Autoregression noise_;
    double clip_ = 0.0;
    std::int64_t next_fit_ = 0;
    CusumCharts charts_;
    std::size_t baseline_changes_ = 0;  // the first of them: within the baseline
    std::vector<Spike> spikes_;
};

}  // namespace prismopt
