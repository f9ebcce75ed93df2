#include "model/run/changes/change_detector.hpp"

#include "model/base/median.hpp"
#include "model/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace prismopt {

namespace {

/// Steps at the start and after a restart that include compilation and cold caches, and are left out.
constexpr int warm_up_steps = 5;
constexpr int restart_steps = 3;
/// Fewest observations of a baseline, where an observation is the mean of several steps.
constexpr int least_observations = 50;
/// Log times are clipped at so many robust standard deviations about their level, and innovations before they move the level
/// (Huber's psi: Ann. Math. Stat. 35 (1964) 73-101).
constexpr double clip_deviations = 4.0;
/// A spike exceeds its level by so many robust standard deviations, and by so much.
constexpr double spike_deviations = 5.0;
constexpr double spike_least = 0.02;
/// Standard deviation of a normal distribution over its median absolute deviation.
constexpr double mad_scale = 1.4826;
/// Variance of a median over that of a mean, of normal values: pi / 2.
constexpr double median_variance = std::numbers::pi / 2.0;
constexpr double least_deviation = 1e-5;  // of logs that print few digits
/// Least log likelihood ratio of a change: of a size outside its own 95 % limits of nothing.
constexpr double least_likelihood = 1.92;
/// Two changes are at least so many observations apart.
constexpr std::int64_t least_apart = 5;
/// Records kept to find the place of a change, and the distance of stored states.
constexpr std::int64_t history = 2048;
constexpr std::int64_t searched = 1024;
constexpr std::int64_t snapshot_interval = 128;
/// A change within the baseline restarts it from this log likelihood ratio, and from this size in robust standard deviations: few
/// observations do not tell a small change from a long autocorrelation.
constexpr double baseline_likelihood = 8.0;
constexpr double baseline_deviations = 2.0;
/// So many changes in succession, all slower or all faster, are a drift.
constexpr std::size_t least_of_drift = 3;

void set_size(Change& change, double log_ratio, double deviation)
{
    change.size = std::expm1(log_ratio);
    change.low = std::expm1(log_ratio - two_sided_95 * deviation);
    change.high = std::expm1(log_ratio + two_sided_95 * deviation);
}

/// One drift in place of its steps; their errors are independent.
Change drift_of(const std::vector<Change>& steps)
{
    Change drift = steps.front();
    drift.kind = ChangeKind::drift;
    drift.found = steps.back().found;
    double size = 0.0;
    double variance = 0.0;
    for (const Change& step : steps) {
        const double deviation = std::log((1.0 + step.high) / (1.0 + step.low)) / (2.0 * two_sided_95);
        size += std::log1p(step.size);
        variance += deviation * deviation;
    }
    set_size(drift, size, std::sqrt(variance));
    return drift;
}

/// Deviations from the running median of a fifth of all values, which follows changes within them.
std::vector<double> about_running_median(const std::vector<double>& values)
{
    const std::size_t half = values.size() / 10;
    std::vector<double> deviations;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t begin = std::min(i - std::min(i, half), values.size() - 2 * half - 1);
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
        deviations.push_back(values[i] - median_of({first, first + static_cast<std::ptrdiff_t>(2 * half + 1)}));
    }
    return deviations;
}

double clipped(double value, double most) { return std::clamp(value, -most, most); }

}  // namespace

ChangeDetector::ChangeDetector(ChangeDetectorOptions options) : options_(options), skip_(warm_up_steps) {}

int ChangeDetector::needed() const
{
    return std::max(std::min(options_.baseline, least_observations),
                    static_cast<int>(std::ceil(options_.baseline / typical_steps_)));
}

void ChangeDetector::add(const StepTime& step)
{
    if (step.restarted) {
        skip_ = std::max(skip_, restart_steps);
    }
    if (skip_ > 0) {
        --skip_;
        return;
    }
    records_.push_back({std::log(step.seconds), step.number, step.steps});
    if (!baseline_) {
        typical_steps_ = static_cast<double>(step.steps);
        if (collected() >= needed()) {
            begin();
        }
        return;
    }
    watch(first_ + static_cast<std::int64_t>(records_.size()) - 1);
    while (static_cast<std::int64_t>(records_.size()) > history + snapshot_interval) {
        records_.pop_front();
        ++first_;
    }
    while (snapshots_.size() > 1 && snapshots_.front().index < first_) {
        snapshots_.pop_front();
    }
}

/// The baseline is complete: noise, state and charts begin, unless the level changes within it.
void ChangeDetector::begin()
{
    std::vector<double> logs;
    for (const Record& r : records_) {
        logs.push_back(r.log_s);
    }
    const double median = median_of(logs);
    // Changes within the baseline would pass for noise.
    const double noise = take_noise(about_running_median(logs));
    const double interval_s = std::exp(median) * typical_steps_;
    state_ = State{SlowLevel(options_.slow, interval_s, median), {}};
    snapshots_.assign(1, {first_, *state_});

    ChangePlace place = locate(first_ + least_apart);
    const auto middle = logs.begin() + static_cast<std::ptrdiff_t>(place.index - first_);
    place.size = median_of({middle, logs.end()}) - median_of({logs.begin(), middle});  // innovations are clipped
    if (place.likelihood > baseline_likelihood && std::abs(place.size) > baseline_deviations * noise) {
        restart_baseline(place, logs);
        return;
    }

    std::vector<double> deviations;
    deviations.reserve(logs.size());
    for (const double log_s : logs) {
        deviations.push_back(log_s - median);
    }
    const double deviation = take_noise(deviations);
    Baseline baseline;
    baseline.first = records_.front().number - records_.front().steps + 1;
    baseline.last = records_.back().number;
    baseline.observations = collected();
    baseline.median_s = std::exp(median);
    baseline.deviation = deviation;
    baseline.autoregression = noise_.coefficients;
    int counted = 0;
    for (const double log_s : logs) {
        if (log_s - median < std::max(spike_deviations * deviation, spike_least)) {
            baseline.mean_s += std::exp(log_s);
            ++counted;
        }
    }
    baseline.mean_s /= counted;
    const double amplitude = options_.slow.swing / 2.0;
    baseline.mean_error = std::sqrt(allowance_ * allowance_ * noise_variance_ / counted + amplitude * amplitude / 2.0 +
                                    options_.slow.drift.cv * options_.slow.drift.cv);
    baseline_ = baseline;
    charts_ = CusumCharts(options_.false_alarm_s / interval_s);
    last_change_ = first_;
    for (std::int64_t i = first_; i < first_ + collected(); ++i) {
        const Innovation innovation = observe(*state_, record(i).log_s);
        ranks_.score(innovation.value / std::sqrt(innovation.variance));
        const double excess = record(i).log_s - median;
        if (excess > std::max(spike_deviations * deviation, spike_least)) {
            spikes_.push_back({record(i).number, std::expm1(excess)});
        }
    }
}

/// The level changes within the baseline, which begins again there.
void ChangeDetector::restart_baseline(const ChangePlace& place, const std::vector<double>& logs)
{
    const auto before = static_cast<double>(place.index - first_);
    const double after = static_cast<double>(logs.size()) - before;
    ChangePlace measured = place;
    measured.deviation = allowance_ * std::sqrt(noise_variance_ * median_variance * (1.0 / before + 1.0 / after));
    changes_.push_back(change_at(measured, place.size < 0.0 ? ChangeKind::warm_up : ChangeKind::shift));
    records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(place.index - first_));
    first_ = place.index;
    state_.reset();
}

/// Measures the noise from deviations about the level; returns their robust standard deviation.
double ChangeDetector::take_noise(const std::vector<double>& deviations)
{
    std::vector<double> distances;
    distances.reserve(deviations.size());
    for (const double d : deviations) {
        distances.push_back(std::abs(d));
    }
    const double deviation = std::max(least_deviation, mad_scale * median_of(distances));
    clip_ = clip_deviations * deviation;
    autocovariances_ = {};
    for (const double d : deviations) {
        autocovariances_.add(clipped(d, clip_));
    }
    fit_noise();
    return deviation;
}

void ChangeDetector::fit_noise()
{
    noise_ = autocovariances_.fit();
    noise_.innovation_deviation = std::max(noise_.innovation_deviation, least_deviation);
    noise_variance_ = noise_.long_run_deviation() * noise_.long_run_deviation();
    allowance_ = std::sqrt(noise_.variance_allowance());
    next_fit_ = 2 * autocovariances_.observations();
}

/// Takes a log time: clips it about its level, whitens it, and moves the level.
ChangeDetector::Innovation ChangeDetector::observe(State& state, double log_s) const
{
    state.level.advance();
    const double expected = state.level.expected();
    Innovation innovation;
    innovation.deviation = clipped(log_s - expected, clip_);
    const double now = expected + innovation.deviation;
    double sum = now;
    double gain = 1.0;
    for (std::size_t i = 0; i < std::min(noise_.coefficients.size(), state.clipped.size()); ++i) {
        sum -= noise_.coefficients[i] * state.clipped[i];
        gain -= noise_.coefficients[i];
    }
    innovation.value = sum / gain - expected;
    innovation.variance = state.level.variance(noise_variance_);
    state.clipped.push_front(now);
    if (state.clipped.size() > static_cast<std::size_t>(Autocovariances::lags)) {
        state.clipped.pop_back();
    }
    state.level.update(clipped(innovation.value, clip_deviations * std::sqrt(noise_variance_)), noise_variance_);
    return innovation;
}

void ChangeDetector::watch(std::int64_t index)
{
    if (index % snapshot_interval == 0) {
        snapshots_.push_back({index, *state_});
    }
    const double log_s = record(index).log_s;
    const double excess = log_s - state_->level.expected();
    const Innovation innovation = observe(*state_, log_s);
    if (excess > std::max(clip_ * spike_deviations / clip_deviations, spike_least)) {
        spikes_.push_back({record(index).number, std::expm1(excess)});
    }
    autocovariances_.add(innovation.deviation);
    const double z = ranks_.score(innovation.value / std::sqrt(innovation.variance)) / allowance_;
    if (charts_.add(z)) {
        if (const ChangePlace place = locate(last_change_ + least_apart); place.likelihood > least_likelihood) {
            take(place);
        }
    }
    if (autocovariances_.observations() >= next_fit_) {
        fit_noise();
    }
}

/// The likeliest place of a change in the last records, not before `first`.
ChangePlace ChangeDetector::locate(std::int64_t first) const
{
    const std::int64_t end = first_ + static_cast<std::int64_t>(records_.size());
    const std::int64_t wanted = std::max(end - searched, last_change_);
    const Snapshot* from = &snapshots_.front();
    for (const Snapshot& snapshot : snapshots_) {
        if (snapshot.index <= wanted) {
            from = &snapshot;
        }
    }
    State state = from->state;
    std::vector<FilteredInnovation> innovations;
    for (std::int64_t i = from->index; i < end; ++i) {
        SlowLevel before = state.level;
        before.advance();
        const SlowLevel::Vector gain = before.gain(noise_variance_);
        const Innovation innovation = observe(state, record(i).log_s);
        innovations.push_back(
            {clipped(innovation.value, clip_deviations * std::sqrt(noise_variance_)), innovation.variance, gain});
    }
    ChangePlace place = likeliest_shift(innovations, state.level, std::max(first - from->index, least_apart), allowance_);
    place.index += from->index;
    place.low += from->index;
    place.high += from->index;
    return place;
}

/// Takes a change: the state starts again before it, with a shift.
void ChangeDetector::take(const ChangePlace& place)
{
    const std::int64_t end = first_ + static_cast<std::int64_t>(records_.size());
    constexpr std::int64_t seen = 30;  // records from which the shift is known at first
    const std::int64_t begin = place.index;
    while (snapshots_.size() > 1 && snapshots_.back().index > begin) {
        snapshots_.pop_back();
    }
    State state = snapshots_.back().state;
    for (std::int64_t i = snapshots_.back().index; i < begin; ++i) {
        observe(state, record(i).log_s);
    }
    std::vector<double> distances;
    for (std::int64_t i = begin; i < std::min(end, begin + seen); ++i) {
        distances.push_back(record(i).log_s - state.level.expected());
    }
    changes_ = known_changes();  // the size of the one before is final
    const double shift = median_of(distances);
    state.level.begin_shift(shift);
    for (double& value : state.clipped) {
        value += shift;  // the autoregression is of deviations from the level
    }
    std::erase_if(snapshots_, [&](const Snapshot& snapshot) { return snapshot.index == begin; });
    snapshots_.push_back({begin, state});
    for (std::int64_t i = begin; i < end; ++i) {
        if (i % snapshot_interval == 0 && i > snapshots_.back().index) {
            snapshots_.push_back({i, state});
        }
        observe(state, record(i).log_s);
    }
    state_ = state;
    last_change_ = begin;
    sized_by_state_ = true;
    std::erase_if(spikes_, [&](const Spike& spike) { return spike.number >= record(place.index).number; });
    changes_.push_back(change_at(place, ChangeKind::shift));
}

Change ChangeDetector::change_at(const ChangePlace& place, ChangeKind kind) const
{
    Change change;
    change.kind = kind;
    change.since = record(place.index).number;
    change.since_low = record(place.low).number;
    change.since_high = record(place.high).number;
    set_size(change, place.size, place.deviation);
    change.found = records_.back().number;
    return change;
}

/// All changes, the last with its size by all steps since.
std::vector<Change> ChangeDetector::known_changes() const
{
    std::vector<Change> result = changes_;
    if (sized_by_state_) {
        set_size(result.back(), state_->level.shift(), allowance_ * std::sqrt(state_->level.shift_variance()));
    }
    return result;
}

std::vector<Change> ChangeDetector::changes() const
{
    std::vector<Change> all = known_changes();
    std::erase_if(all, [&](const Change& change) { return std::abs(change.size) < options_.least_change; });
    std::vector<Change> result;
    for (auto first = all.begin(); first != all.end();) {
        const auto end = std::find_if(first, all.end(), [&](const Change& change) {
            return change.kind != ChangeKind::shift || std::signbit(change.size) != std::signbit(first->size);
        });
        if (end - first >= static_cast<std::ptrdiff_t>(least_of_drift)) {
            result.push_back(drift_of({first, end}));
            first = end;
        } else {
            result.push_back(*first++);
        }
    }
    return result;
}

double ChangeDetector::level_s() const
{
    if (state_) {
        return std::exp(state_->level.expected());
    }
    if (records_.empty()) {
        return 0.0;
    }
    std::vector<double> logs;
    for (const Record& r : records_) {
        logs.push_back(r.log_s);
    }
    return std::exp(median_of(logs));
}

double ChangeDetector::level_error() const
{
    return state_ ? allowance_ * std::sqrt(std::max(0.0, state_->level.variance(0.0))) : 0.0;
}

double ChangeDetector::lasting_s() const { return state_ ? std::exp(state_->level.lasting()) : level_s(); }

double ChangeDetector::lasting_error() const
{
    return state_ ? allowance_ * std::sqrt(std::max(0.0, state_->level.lasting_variance())) : 0.0;
}

}  // namespace prismopt
