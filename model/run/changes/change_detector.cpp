#include "model/run/changes/change_detector.hpp"

#include "model/base/median.hpp"
#include "model/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace prismopt {

namespace {

/// Steps at the start and after a restart that include compilation and cold caches, and are left out.
constexpr int warm_up_steps = 5;
constexpr int restart_steps = 3;
/// Fewest observations of a baseline, where an observation is the mean of several steps.
constexpr int least_observations = 50;
/// Innovations are clipped at so many standard deviations before they become the past of others (Masreliez and Martin, IEEE Trans.
/// Autom. Control 22 (1977) 361-371).
constexpr double innovation_clip = 4.0;
/// Deviations are clipped at so many standard deviations (Huber's psi: Ann. Math. Stat. 35 (1964) 73-101), so narrowly that the
/// level stays with most steps where others come at a second level. The second: standard deviation of a normal distribution that
/// is clipped there, sqrt(P(|z| < c) - 2 c phi(c) + 2 c^2 P(z > c)).
constexpr double level_clip = 2.5;
constexpr double clipped_deviation = 0.9877;
/// A spike exceeds its level by so many standard deviations, and by so much.
constexpr double spike_deviations = 5.0;
constexpr double spike_least = 0.02;
/// Variance of a median over that of a mean, of normal values: pi / 2.
constexpr double median_variance = std::numbers::pi / 2.0;
/// The level is a mean over about so many observations: it follows slower movements, which are no shifts.
constexpr double followed = 100.0;
constexpr double all = std::numeric_limits<double>::infinity();
/// The size of a change is that of its first observations, as later ones may have moved slowly; the last ones contradict a level
/// from so many standard errors on.
constexpr double few = 30.0;
constexpr double contradiction_errors = 3.0;
/// Allowance of the charts in standard deviations: they are best for shifts of twice as many.
constexpr double least_allowance = 0.5;
/// Records kept to find the place of a change. The last ones may turn out to be after one, and are not yet in the noise.
constexpr std::size_t history = 1024;
constexpr std::size_t unsettled = 32;
/// A change may lie so many records before the start of a chart's sum. Its size is judged by the last few.
constexpr std::size_t places_before = 16;
constexpr std::ptrdiff_t last_few = 4;
/// A change within the baseline restarts it, if it has so many standard errors and so many standard deviations of single
/// observations about a running median, which hides two thirds of an autocorrelation over tens of steps: few observations do not
/// tell a small change from one.
constexpr double baseline_errors = 12.0;
constexpr double baseline_deviations = 3.0;
constexpr std::size_t least_apart = 10;
/// So many changes in succession, all slower or all faster, are a drift.
constexpr std::ptrdiff_t least_of_drift = 3;

double clipped(double value, double most) { return std::clamp(value, -most, most); }

void set_size(Change& change, double log_ratio, double deviation)
{
    change.size = std::expm1(log_ratio);
    change.low = std::expm1(log_ratio - two_sided_95 * deviation);
    change.high = std::expm1(log_ratio + two_sided_95 * deviation);
}

/// Deviations from the running median of up to 41 values, which follows changes within them.
std::vector<double> about_running_median(const std::vector<double>& values)
{
    constexpr std::size_t most = 20;
    const std::size_t half = std::min(most, values.size() / 10);
    std::vector<double> deviations;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t begin = std::min(i - std::min(i, half), values.size() - 2 * half - 1);
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
        deviations.push_back(values[i] - median_of({first, first + static_cast<std::ptrdiff_t>(2 * half + 1)}));
    }
    return deviations;
}

/// At least as large as asked for, and more than half of that with 97.5 % confidence.
bool is_news(const Change& change, double least)
{
    const double surely = change.size > 0.0 ? change.low : -change.high;
    return std::abs(change.size) >= least && surely >= least / 2.0;
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

}  // namespace

ChangeDetector::ChangeDetector(ChangeDetectorOptions options) : options_(options), skip_(warm_up_steps) {}

/// After a change within the baseline, half of it suffices.
int ChangeDetector::needed() const
{
    const double steps = changes_.empty() ? options_.baseline : 0.5 * options_.baseline;
    return std::max(std::min(options_.baseline, least_observations), static_cast<int>(std::ceil(steps / typical_steps_)));
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
        while (!baseline_ && collected() >= needed()) {
            if (!restart_baseline()) {
                begin();
            }
        }
        return;
    }
    watch();
    if (records_.size() > history) {
        records_.pop_front();
    }
}

/// The baseline is complete: level, noise and charts begin.
void ChangeDetector::begin()
{
    const std::vector<double> logs = this->logs(0, records_.size());
    Baseline baseline;
    const double median = median_of(logs);
    baseline.deviation = robust_deviation(logs, median);
    clip_ = level_clip * baseline.deviation;
    set_level(0);
    baseline_log_s_ = level_.log_s;
    explained_log_s_ = level_.log_s;
    for (const Record& r : records_) {
        settle(r.deviation);
    }
    fit_noise();
    double counted = 0.0;
    for (const Record& r : records_) {
        if (r.deviation > spike_limit()) {
            spikes_.push_back({r.number, r.steps, std::expm1(r.deviation)});
        } else {
            baseline.mean_s += std::exp(r.log_s);
            counted += 1.0;
        }
    }
    baseline.first = records_.front().number - records_.front().steps + 1;
    baseline.last = records_.back().number;
    baseline.observations = collected();
    baseline.median_s = std::exp(median);
    baseline.autoregression = noise_.coefficients;
    baseline.mean_s /= counted;
    const double amplitude = options_.swing / 2.0;
    baseline.mean_error = std::sqrt(std::pow(noise_.mean_deviation(counted), 2.0) + amplitude * amplitude / 2.0 +
                                    options_.drift.cv * options_.drift.cv);
    baseline_ = baseline;
    baseline_changes_ = changes_.size();
}

/// Where the level changes within the baseline, that begins again there.
bool ChangeDetector::restart_baseline()
{
    const std::vector<double> logs = this->logs(0, records_.size());
    const Split split = best_split(logs, least_apart, innovation_clip * robust_deviation(logs, median_of(logs)));
    const std::vector<double> residuals = about_running_median(logs);
    const double deviation = robust_deviation(residuals, 0.0);
    Autocovariances sums;
    for (const double residual : residuals) {
        sums.add(clipped(residual, innovation_clip * deviation));
    }
    const Autoregression noise = sums.fit();
    const auto before = static_cast<double>(split.first);
    const double error =
        std::hypot(noise.mean_deviation(before), noise.mean_deviation(static_cast<double>(logs.size()) - before));
    const double size = split.after - split.before;
    if (std::abs(size) < std::max({options_.least_change, baseline_errors * error, baseline_deviations * deviation})) {
        return false;
    }
    changes_.push_back(change_at(size < 0.0 ? ChangeKind::warm_up : ChangeKind::shift, records_[split.first].number));
    set_size(changes_.back(), size, error);
    records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(split.first));
    return true;
}

void ChangeDetector::fit_noise()
{
    noise_ = autocovariances_.fit();
    noise_.innovation_deviation = std::max(noise_.innovation_deviation / clipped_deviation, least_deviation);
    noise_.deviation = std::max(noise_.deviation / clipped_deviation, noise_.innovation_deviation);
    clip_ = level_clip * noise_.deviation;
    const double least_shift = options_.least_change * noise_.gain() / noise_.innovation_deviation;
    charts_.set(std::max(least_allowance, least_shift / 2.0), options_.false_alarm_s / interval_s());
    next_fit_ = autocovariances_.observations() * 5 / 4;
}

double ChangeDetector::spike_limit() const { return std::max(spike_deviations * noise_.deviation, spike_least); }

void ChangeDetector::watch()
{
    Record& record = records_.back();
    const double deviation = record.log_s - level_.log_s;
    if (deviation > spike_limit()) {
        spikes_.push_back({record.number, record.steps, std::expm1(deviation)});
    }
    record.deviation = deviation;

    double predicted = 0.0;
    for (std::size_t i = 0; i < std::min(noise_.coefficients.size(), cleaned_.size()); ++i) {
        predicted += noise_.coefficients[i] * cleaned_[i];
    }
    const double innovation = deviation - predicted;
    cleaned_.push_front(predicted + clipped(innovation, innovation_clip * noise_.innovation_deviation));
    cleaned_.pop_back();

    const double value = level_.log_s + clipped(deviation, clip_);
    level_.add(value, followed);
    lasting_.add(value, all);
    if (settled_.observations < few) {
        settled_.add(value, few);
    }
    if (const auto length = charts_.add(innovation / noise_.innovation_deviation)) {
        take_shift(*length);
        return;
    }
    if (drifts_on()) {
        settled_ = level_;
        lasting_ = level_;
    }
    const double moved = std::abs(level_.log_s - explained_log_s());
    if (moved <= options_.least_change) {
        near_ = record.number;
    } else if (moved > options_.swing + options_.least_change + contradiction_errors * error_of(level_)) {
        take_drift();
    }
    if (records_.size() > unsettled) {
        settle(records_[records_.size() - unsettled - 1].deviation);
    }
    if (autocovariances_.observations() >= next_fit_) {
        fit_noise();
    }
}

std::vector<double> ChangeDetector::logs(std::size_t first, std::size_t end) const
{
    std::vector<double> logs;
    for (std::size_t i = first; i < end; ++i) {
        logs.push_back(records_[i].log_s);
    }
    return logs;
}

MeanLevel ChangeDetector::mean_level(std::size_t first, std::size_t end) const
{
    return {clipped_mean(logs(first, end), clip_), static_cast<double>(end - first)};
}

/// Takes a deviation that no later change will alter.
void ChangeDetector::settle(double deviation)
{
    autocovariances_.add(clipped(deviation, clip_));
    tails_.add(std::exp(deviation));
}

/// The level begins with the records from `first` on.
void ChangeDetector::set_level(std::size_t first)
{
    lasting_ = mean_level(first, records_.size());
    level_ = {lasting_.log_s, std::min(followed, lasting_.observations)};
    settled_ = level_;
    near_ = records_.back().number;
    for (std::size_t i = first; i < records_.size(); ++i) {
        records_[i].deviation = records_[i].log_s - level_.log_s;
    }
    cleaned_.clear();
    for (auto r = records_.rbegin(); r != records_.rend() && cleaned_.size() < Autocovariances::lags; ++r) {
        cleaned_.push_back(clipped(r->deviation, innovation_clip * noise_.deviation));
    }
}

/// Takes a shift about so many records ago.
void ChangeDetector::take_shift(std::int64_t length)
{
    const std::size_t end = records_.size();
    const std::size_t known = std::min(end, static_cast<std::size_t>(lasting_.observations));  // since the last change
    const std::size_t from = end - std::min(known, static_cast<std::size_t>(length) + places_before);
    std::vector<double> deviations = logs(from, end);
    for (double& deviation : deviations) {
        deviation -= level_.log_s;
    }
    // Single slow steps are no shift.
    const std::ptrdiff_t judged = std::min(std::ssize(deviations), last_few);
    const double shift = median_of({deviations.end() - judged, deviations.end()});
    for (double& deviation : deviations) {
        deviation = std::clamp(deviation, std::min(0.0, shift) - clip_, std::max(0.0, shift) + clip_);
    }
    const ChangePlace place = likeliest_shift(deviations, noise_);
    conclude_last();
    const std::size_t shifted = from + place.index;
    const std::size_t before = std::min(shifted - (end - known), static_cast<std::size_t>(followed));
    before_ = before > 0 ? mean_level(shifted - before, shifted) : level_;
    Change change = change_at(ChangeKind::shift, records_[shifted].number);
    change.since_low = records_[from + place.low].number;
    change.since_high = records_[from + place.high].number;
    changes_.push_back(change);
    std::erase_if(spikes_, [&](const Spike& spike) { return spike.number >= change.since; });
    set_level(shifted);
}

/// The level has moved slowly from what the changes so far explain.
void ChangeDetector::take_drift()
{
    conclude_last();
    Change change = change_at(ChangeKind::drift, near_);
    const std::int64_t explained = changes_.empty() ? baseline_->last : std::max(baseline_->last, changes_.back().since);
    change.since_low = std::min(near_, explained);  // later ones, after a restart, have lower numbers
    changes_.push_back(change);
    before_ = {explained_log_s_, followed};
    settled_ = level_;
    lasting_ = level_;
    near_ = records_.back().number;
}

/// The size of the last change is final. A small one is forgotten, and is a part of the next drift.
void ChangeDetector::conclude_last()
{
    explained_log_s_ = explained_log_s();
    changes_ = known_changes();
    if (has_live_change() && !is_news(changes_.back(), options_.least_change)) {
        changes_.pop_back();
    }
}

/// The last change is a drift, and the level is further by more than its standard error than when its size was taken.
bool ChangeDetector::drifts_on() const
{
    if (!has_live_change() || changes_.back().kind != ChangeKind::drift) {
        return false;
    }
    const double direction = settled_.log_s > before_.log_s ? 1.0 : -1.0;
    return direction * (level_.log_s - settled_.log_s) > error_of(level_);
}

bool ChangeDetector::has_live_change() const { return baseline_ && changes_.size() > baseline_changes_; }

/// The level of the baseline, with all changes since.
double ChangeDetector::explained_log_s() const
{
    if (!has_live_change()) {
        return explained_log_s_;
    }
    const bool news = is_news(live_change(), options_.least_change);
    return explained_log_s_ + (news ? settled_.log_s - before_.log_s : 0.0);
}

/// The last change, with its size by the steps since.
Change ChangeDetector::live_change() const
{
    Change change = changes_.back();
    set_size(change, settled_.log_s - before_.log_s, std::hypot(error_of(settled_), error_of(before_)));
    return change;
}

Change ChangeDetector::change_at(ChangeKind kind, std::int64_t since) const
{
    return {.kind = kind, .since = since, .since_low = since, .since_high = since, .found = records_.back().number};
}

std::vector<Change> ChangeDetector::known_changes() const
{
    std::vector<Change> result = changes_;
    if (has_live_change()) {
        result.back() = live_change();
    }
    return result;
}

std::vector<Change> ChangeDetector::changes() const
{
    const std::vector<Change> known = known_changes();
    std::vector<Change> result;
    for (auto first = known.begin(); first != known.end();) {
        const auto end = std::find_if(first, known.end(), [&](const Change& change) {
            return change.kind == ChangeKind::warm_up || std::signbit(change.size) != std::signbit(first->size);
        });
        const bool drift = std::any_of(first, end, [](const Change& change) { return change.kind == ChangeKind::drift; });
        if (end - first >= least_of_drift || (drift && end - first > 1)) {
            result.push_back(drift_of({first, end}));
            first = end;
        } else {
            result.push_back(*first++);
        }
    }
    std::erase_if(result, [&](const Change& change) { return !is_news(change, options_.least_change); });
    return result;
}

/// The level, unless the median of the last records contradicts it, however they are autocorrelated, by more than the time of day
/// explains.
MeanLevel ChangeDetector::known_level(const MeanLevel& level) const
{
    const double last = std::min(few, lasting_.observations);
    const double now = median_of(logs(records_.size() - static_cast<std::size_t>(last), records_.size()));
    const double error = noise_.deviation * std::sqrt(median_variance / last);
    const double most = std::max(2.0 * options_.least_change, contradiction_errors * error);
    const bool contradicts = std::abs(now - level.log_s) > most + swing_between(level.observations, last);
    return contradicts ? MeanLevel{now, last} : level;
}

double ChangeDetector::level_s() const
{
    if (baseline_) {
        return baseline_->mean_s * (1.0 + level_change());
    }
    return records_.empty() ? 0.0 : std::exp(median_of(logs(0, records_.size())));
}

double ChangeDetector::level_change() const { return baseline_ ? std::expm1(known_level(level_).log_s - baseline_log_s_) : 0.0; }

double ChangeDetector::level_error() const { return baseline_ ? error_of(known_level(level_)) : 0.0; }

double ChangeDetector::lasting_s() const { return baseline_ ? std::exp(known_level(lasting_).log_s) * tails_.mean() : level_s(); }

double ChangeDetector::lasting_error(double steps) const
{
    if (!baseline_) {
        return 0.0;
    }
    const MeanLevel level = known_level(lasting_);
    const MeanLevel further{0.0, std::max(1.0, steps / typical_steps_)};
    const double relative_variance =
        tails_.variance() / (tails_.mean() * tails_.mean());  // of the logarithm of the mean, times n
    const double tails = std::max(0.0, relative_variance - noise_.deviation * noise_.deviation);
    const double swing = swing_between(level.observations, further.observations) / std::numbers::sqrt2;
    return std::sqrt(std::pow(error_of(level), 2.0) + std::pow(error_of(further), 2.0) +
                     tails * (1.0 / tails_.observations + 1.0 / further.observations) + swing * swing);
}

double ChangeDetector::interval_s() const { return std::exp(level_.log_s) * typical_steps_; }

/// Most that the time of day changes between the means of so many observations and of so many later ones.
double ChangeDetector::swing_between(double before, double after) const
{
    return options_.swing / 2.0 * daily_difference(before * interval_s(), after * interval_s());
}

}  // namespace prismopt
