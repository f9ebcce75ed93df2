#include "model/run/changes/change_detector.hpp"

#include "model/base/median.hpp"
#include "model/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace prismopt {

namespace {

/// Steps at the start and after a restart that include compilation and cold caches, and are omitted.
constexpr int warm_up_steps = 5;
constexpr int restart_steps = 3;
/// Fewest observations of a baseline, where an observation is the mean of several steps.
constexpr int least_observations = 50;
/// Innovations are clipped at so many standard deviations before they become the past of others (Masreliez
/// and Martin, IEEE Trans. Autom. Control 22 (1977) 361-371).
constexpr double innovation_clip = 4.0;
/// Deviations are clipped at so many standard deviations (Huber's psi: Ann. Math. Stat. 35 (1964) 73-101), so
/// narrowly that the level stays with most steps where others come at a second level. The second: standard
/// deviation of a normal distribution that is clipped there, sqrt(P(|z| < c) - 2 c phi(c) + 2 c^2 P(z > c)).
constexpr double level_clip = 2.5;
constexpr double clipped_deviation = 0.9877;
/// A spike exceeds its level by so many standard deviations, and by so much.
constexpr double spike_deviations = 5.0;
constexpr double spike_least = 0.02;
/// The level is a mean over about so many observations: it follows slower movements, which are no shifts.
constexpr double followed = 100.0;
constexpr double all = std::numeric_limits<double>::infinity();
/// The size of a change is that of its first observations, as later ones may have moved slowly; the last ones
/// contradict a level from so many standard errors on.
constexpr double few = 30.0;
constexpr double contradiction_errors = 3.0;
/// Allowance of the charts in standard deviations: they are best for shifts of twice as many.
constexpr double least_allowance = 0.5;
/// Records kept to find the place of a change. The last ones may turn out to be after
/// one, and are not yet in the noise.
constexpr std::size_t history = 1024;
constexpr std::size_t unsettled = 32;
/// A change may lie so many records before the start of a chart's sum. Its size is judged by the last few.
constexpr std::size_t places_before = 16;
constexpr std::ptrdiff_t last_few = 4;
/// A change within the baseline restarts it, if it has so many standard errors and so many standard
/// deviations of single observations about a running median, which hides two thirds of an autocorrelation
/// over tens of steps: few observations do not distinguish a small change from one.
constexpr double baseline_errors = 12.0;
constexpr double baseline_deviations = 3.0;
constexpr std::size_t least_distance = 10;
/// A shift of so many standard deviations, after which a quarter of the steps are still nearer
/// to the level before, is a second level that alternates with it: noise. That is learnt again
/// if it has grown by this factor.
constexpr double mode_deviations = 3.0;
constexpr double grown = 1.5;
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
        deviations.push_back(values[i] -
                             median_of({first, first + static_cast<std::ptrdiff_t>(2 * half + 1)}));
    }
    return deviations;
}

/// At least as large as asked for, and more than half of that with 97.5 % confidence.
bool is_news(const Change& change, double least)
{
    const double surely = change.size > 0.0 ? change.low : -change.high;
    return std::abs(change.size) >= least && surely >= least / 2.0;
}

}  // namespace

ChangeDetector::ChangeDetector(ChangeDetectorOptions options) : options_(options), skip_(warm_up_steps) {}

/// After a change within the baseline, half of it suffices.
int ChangeDetector::needed() const
{
    const double steps = levels_.changes.empty() ? options_.baseline : 0.5 * options_.baseline;
    return std::max(std::min(options_.baseline, least_observations),
                    static_cast<int>(std::ceil(steps / typical_steps_)));
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
    baseline.deviation = noise_deviation(logs);
    baseline_logs_ = logs;
    learn_noise(0);
    baseline_log_s_ = levels_.now.log_s;
    levels_.explained_log_s = levels_.now.log_s;
    levels_.near = records_.back().number;
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
    baseline.mean_error = std::sqrt(std::pow(noise_.mean_deviation(counted), 2.0) +
                                    amplitude * amplitude / 2.0 + options_.drift.cv * options_.drift.cv);
    baseline_ = baseline;
    baseline_changes_ = levels_.changes.size();
}

/// Level and noise are those of the records from `first` on.
void ChangeDetector::learn_noise(std::size_t first)
{
    clip_ = level_clip * noise_deviation(logs(first, records_.size()));
    set_level(first);
    autocovariances_ = {};
    tails_ = {};
    for (std::size_t i = first; i < records_.size(); ++i) {
        settle(records_[i].deviation);
    }
    fit_noise();
}

/// Where the level changes within the baseline, that begins again there.
bool ChangeDetector::restart_baseline()
{
    const std::vector<double> logs = this->logs(0, records_.size());
    const Split split = best_split(logs, least_distance, innovation_clip * noise_deviation(logs));
    const std::vector<double> residuals = about_running_median(logs);
    const double deviation = robust_deviation(residuals, 0.0);
    Autocovariances sums;
    for (const double residual : residuals) {
        sums.add(clipped(residual, innovation_clip * deviation));
    }
    const Autoregression noise = sums.fit();
    const auto before = static_cast<double>(split.first);
    const double error = std::hypot(noise.mean_deviation(before),
                                    noise.mean_deviation(static_cast<double>(logs.size()) - before));
    const double size = split.after - split.before;
    if (std::abs(size) <
            std::max({options_.least_change, baseline_errors * error, baseline_deviations * deviation}) ||
        !separates(logs, split)) {
        return false;
    }
    Change change =
        change_at(size < 0.0 ? ChangeKind::warm_up : ChangeKind::shift, records_[split.first].number);
    set_size(change, size, error);
    const MeanLevel first{split.before, before};
    levels_.changes.push_back(
        {change, first, {split.after, static_cast<double>(logs.size()) - before}, first, change.since});
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

double ChangeDetector::spike_limit() const
{
    return std::max(spike_deviations * noise_.deviation, spike_least);
}

void ChangeDetector::watch()
{
    Record& record = records_.back();
    const double deviation = record.log_s - levels_.now.log_s;
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

    const double value = levels_.now.log_s + clipped(deviation, clip_);
    levels_.now.add(value, followed);
    levels_.lasting.add(value, all);
    if (is_open()) {
        levels_.changes.back().after.add(value, few);
    }
    if (const auto length = charts_.add(innovation / noise_.innovation_deviation)) {
        handle_shift(*length);
        return;
    }
    if (drifts_on()) {
        levels_.changes.back().after = levels_.now;
        levels_.lasting = levels_.now;
    }
    size_live_change();
    const double moved = std::abs(levels_.now.log_s - explained_log_s());
    if (moved <= options_.least_change) {
        levels_.near = record.number;
    } else if (!is_open() && moved > options_.swing + options_.least_change +
                                         contradiction_errors * error_of(levels_.now)) {
        handle_drift();
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
    levels_.lasting = mean_level(first, records_.size());
    levels_.now = {levels_.lasting.log_s, std::min(followed, levels_.lasting.observations)};
    set_deviations(first);
}

/// Deviations of the records from `first` on from the level.
void ChangeDetector::set_deviations(std::size_t first)
{
    for (std::size_t i = first; i < records_.size(); ++i) {
        records_[i].deviation = records_[i].log_s - levels_.now.log_s;
    }
    cleaned_.clear();
    for (auto r = records_.rbegin(); r != records_.rend() && cleaned_.size() < Autocovariances::lags; ++r) {
        cleaned_.push_back(clipped(r->deviation, innovation_clip * noise_.deviation));
    }
}

/// Takes a shift about so many records ago.
void ChangeDetector::handle_shift(std::int64_t length)
{
    const std::size_t end = records_.size();
    // since the last change
    const std::size_t known = std::min(end, static_cast<std::size_t>(levels_.lasting.observations));
    const std::size_t from = end - std::min(known, static_cast<std::size_t>(length) + places_before);
    std::vector<double> deviations = logs(from, end);
    for (double& deviation : deviations) {
        deviation -= levels_.now.log_s;
    }
    // Single slow steps are no shift.
    const std::ptrdiff_t judged = std::min(std::ssize(deviations), last_few);
    const double shift = median_of({deviations.end() - judged, deviations.end()});
    for (double& deviation : deviations) {
        deviation = std::clamp(deviation, std::min(0.0, shift) - clip_, std::max(0.0, shift) + clip_);
    }
    const ChangePlace place = likeliest_shift(deviations, noise_);
    const std::size_t shifted = from + place.index;
    const std::size_t lasted = shifted - (end - known);  // records of the level before
    const std::size_t before = std::min(lasted, static_cast<std::size_t>(followed));
    const Split split{before, before > 0 ? median_of(logs(shifted - before, shifted)) : levels_.now.log_s,
                      median_of(logs(shifted, end))};
    if (std::abs(split.after - levels_.now.log_s) > mode_deviations * noise_.deviation &&
        !separates(logs(shifted - before, end), split)) {
        handle_mixture();
        return;
    }
    if (is_back(shifted, lasted)) {
        handle_pause(shifted - lasted, shifted);
        return;
    }
    const MeanLevel level = before > 0 ? mean_level(shifted - before, shifted) : levels_.now;
    if (has_live_change() && before > 0 && static_cast<double>(lasted) < few) {
        levels_.changes.back().after = level;  // without the steps since
        size_live_change();
    }
    earlier_ = levels_;
    conclude_last();
    Change change = change_at(ChangeKind::shift, records_[shifted].number);
    change.since_low = records_[from + place.low].number;
    change.since_high = records_[from + place.high].number;
    std::erase_if(spikes_, [&](const Spike& spike) { return spike.number >= change.since; });
    set_level(shifted);
    add_change(change, level, levels_.now);
}

/// The level before a shift is back, `lasted` records after it, and before its size is final.
bool ChangeDetector::is_back(std::size_t first, std::size_t lasted) const
{
    if (!earlier_ || static_cast<double>(lasted) >= few) {
        return false;
    }
    const MeanLevel back = mean_level(first, records_.size());
    const Found& shift = levels_.changes.back();
    const double size = shift.after.log_s - shift.before.log_s;
    const double left = std::copysign(1.0, size) * (back.log_s - shift.before.log_s);
    const double error = std::hypot(error_of(back), error_of(shift.before));
    return std::abs(left) <= options_.least_change + contradiction_errors * error &&
           left <= std::abs(size) / 2.0;
}

/// The records [first, end) were a pause, which leaves the level as it was.
void ChangeDetector::handle_pause(std::size_t first, std::size_t end)
{
    levels_ = *earlier_;
    earlier_.reset();
    Spike pause{.number = records_[end - 1].number, .steps = 0};
    double seconds = 0.0;
    for (std::size_t i = first; i < end; ++i) {
        pause.steps += records_[i].steps;
        seconds += std::exp(records_[i].log_s) * static_cast<double>(records_[i].steps);
    }
    pause.excess = seconds / static_cast<double>(pause.steps) / std::exp(levels_.now.log_s) - 1.0;
    if (pause.excess > 0.0) {
        std::erase_if(spikes_, [&](const Spike& spike) { return spike.number >= records_[first].number; });
        spikes_.push_back(pause);
    }
    for (std::size_t i = end; i < records_.size(); ++i) {
        const double value = levels_.now.log_s + clipped(records_[i].log_s - levels_.now.log_s, clip_);
        levels_.now.add(value, followed);
        levels_.lasting.add(value, all);
    }
    set_deviations(first);
    handle_mixture();
}

/// Where two levels alternate, they are the noise from here on.
void ChangeDetector::handle_mixture()
{
    const std::size_t end = records_.size();
    const std::size_t known = std::min(end, static_cast<std::size_t>(levels_.lasting.observations));
    const std::size_t first = end - std::min(known, static_cast<std::size_t>(followed));
    const std::vector<double> logs = this->logs(first, end);
    if (static_cast<double>(logs.size()) < few) {
        return;
    }
    const double deviation = noise_deviation(logs);
    if (deviation <= grown * noise_.deviation ||
        separates(logs, best_split(logs, least_distance, innovation_clip * deviation))) {
        return;
    }
    conclude_last();
    earlier_.reset();
    const auto other = std::find_if(records_.begin() + static_cast<std::ptrdiff_t>(first), records_.end(),
                                    [&](const Record& record) { return std::abs(record.deviation) > clip_; });
    Change change =
        change_at(ChangeKind::shift, other == records_.end() ? records_[first].number : other->number);
    change.since_low = records_[first].number;
    change.since_high = records_.back().number;
    std::erase_if(spikes_, [&](const Spike& spike) { return spike.number >= change.since; });
    MeanLevel before = levels_.now;
    learn_noise(first);
    if (end - first < known) {
        before = mean_level(end - known, first);
    }
    // What counts as noise from here on did so in the baseline, too.
    const double baseline_log_s = clipped_mean(baseline_logs_, clip_);
    levels_.explained_log_s += baseline_log_s - baseline_log_s_;
    baseline_log_s_ = baseline_log_s;
    add_change(change, before, {levels_.now.log_s, 1.0});  // sized by the steps to come
}

/// The level has moved slowly from what the changes so far explain.
void ChangeDetector::handle_drift()
{
    conclude_last();
    earlier_.reset();
    Change change = change_at(ChangeKind::drift, levels_.near);
    const std::int64_t explained = levels_.changes.empty()
                                       ? baseline_->last
                                       : std::max(baseline_->last, levels_.changes.back().change.since);
    change.since_low = std::min(levels_.near, explained);  // later ones, after a restart, have lower numbers
    levels_.lasting = levels_.now;
    add_change(change, {levels_.explained_log_s, followed}, levels_.now);
}

void ChangeDetector::add_change(const Change& change, const MeanLevel& before, const MeanLevel& after)
{
    levels_.changes.push_back({change, before, after, {levels_.explained_log_s, followed}, levels_.near});
    levels_.near = records_.back().number;
    size_live_change();
}

/// The size of the last change is final. A small one is forgotten, and is a part of the next drift.
void ChangeDetector::conclude_last()
{
    levels_.explained_log_s = explained_log_s();
    if (has_live_change() && !is_news(levels_.changes.back().change, options_.least_change)) {
        levels_.changes.pop_back();
    }
}

/// The last change belongs to a drift, and the level is further by more than its standard
/// error than when its size was taken.
bool ChangeDetector::drifts_on() const
{
    if (!has_live_change()) {
        return false;
    }
    const auto end = levels_.changes.end();
    auto first = levels_.changes.begin();
    for (auto next = first; next != end; next = std::max(first + 1, end_of_direction(first))) {
        first = next;
    }
    if (!is_drift(first, end)) {
        return false;
    }
    const Found& last = levels_.changes.back();
    const double direction = last.after.log_s > last.before.log_s ? 1.0 : -1.0;
    return direction * (levels_.now.log_s - last.after.log_s) > error_of(levels_.now);
}

/// First of the changes after `first` that is in another direction.
std::vector<ChangeDetector::Found>::const_iterator ChangeDetector::end_of_direction(
    std::vector<Found>::const_iterator first) const
{
    return std::find_if(first, levels_.changes.end(), [&](const Found& found) {
        return found.change.kind == ChangeKind::warm_up ||
               std::signbit(found.change.size) != std::signbit(first->change.size);
    });
}

/// Changes in one direction: many, or in such haste that the level between them did not last.
bool ChangeDetector::is_drift(std::vector<Found>::const_iterator first,
                              std::vector<Found>::const_iterator end) const
{
    const auto of_baseline =
        levels_.changes.begin() +
        static_cast<std::ptrdiff_t>(baseline_ ? baseline_changes_ : levels_.changes.size());
    const auto hastens = [](const Found& found) { return found.before.observations < followed; };
    return end - first >= least_of_drift ||
           std::any_of(first, end,
                       [](const Found& found) { return found.change.kind == ChangeKind::drift; }) ||
           (end - std::max(first, of_baseline) > 1 &&
            std::any_of(std::max(first, of_baseline) + 1, end, hastens));
}

/// One drift in place of its steps: from what explained the level before the first to the level after the
/// last, so that what moved unnoticed before and between them is in it.
Change ChangeDetector::drift_of(std::vector<Found>::const_iterator first,
                                std::vector<Found>::const_iterator end) const
{
    const Found& last = *std::prev(end);
    Change drift = first->change;
    drift.kind = ChangeKind::drift;
    drift.found = last.change.found;
    drift.since_low = std::min(drift.since_low, first->near);
    set_size(drift, last.after.log_s - first->explained.log_s,
             std::hypot(error_of(first->explained), error_of(last.after)));
    return drift;
}

bool ChangeDetector::has_live_change() const
{
    return baseline_ && levels_.changes.size() > baseline_changes_;
}

/// The size of the last change is not final.
bool ChangeDetector::is_open() const
{
    return has_live_change() && levels_.changes.back().after.observations < few;
}

/// The level of the baseline, with all changes since.
double ChangeDetector::explained_log_s() const
{
    const bool news = has_live_change() && is_news(levels_.changes.back().change, options_.least_change);
    return levels_.explained_log_s +
           (news ? levels_.changes.back().after.log_s - levels_.changes.back().before.log_s : 0.0);
}

/// The last change, if after the baseline, has its size by the steps since.
void ChangeDetector::size_live_change()
{
    if (has_live_change()) {
        Found& last = levels_.changes.back();
        set_size(last.change, last.after.log_s - last.before.log_s,
                 std::hypot(error_of(last.after), error_of(last.before)));
    }
}

Change ChangeDetector::change_at(ChangeKind kind, std::int64_t since) const
{
    return {.kind = kind,
            .since = since,
            .since_low = since,
            .since_high = since,
            .found = records_.back().number};
}

std::vector<Change> ChangeDetector::changes() const
{
    std::vector<Change> result;
    for (auto first = levels_.changes.begin(); first != levels_.changes.end();) {
        const auto end = end_of_direction(first);
        if (is_drift(first, end)) {
            result.push_back(drift_of(first, end));
            first = end;
        } else {
            result.push_back((first++)->change);
        }
    }
    std::erase_if(result, [&](const Change& change) { return !is_news(change, options_.least_change); });
    return result;
}

/// The level, unless the mean of the last records contradicts it, however they are autocorrelated, by more
/// than the time of day explains.
MeanLevel ChangeDetector::known_level(const MeanLevel& level) const
{
    const double last = std::min(few, levels_.lasting.observations);
    const MeanLevel now = mean_level(records_.size() - static_cast<std::size_t>(last), records_.size());
    const double error = noise_.deviation / std::sqrt(last);
    const double most = std::max(2.0 * options_.least_change, contradiction_errors * error);
    const bool contradicts =
        std::abs(now.log_s - level.log_s) > most + swing_between(level.observations, last);
    return contradicts ? now : level;
}

double ChangeDetector::level_s() const
{
    if (baseline_) {
        return baseline_->mean_s * (1.0 + level_change());
    }
    return records_.empty() ? 0.0 : std::exp(median_of(logs(0, records_.size())));
}

double ChangeDetector::level_change() const
{
    return baseline_ ? std::expm1(known_level(levels_.now).log_s - baseline_log_s_) : 0.0;
}

double ChangeDetector::level_error() const { return baseline_ ? error_of(known_level(levels_.now)) : 0.0; }

double ChangeDetector::lasting_s() const
{
    return baseline_ ? std::exp(known_level(levels_.lasting).log_s) * tails_.mean() : level_s();
}

double ChangeDetector::lasting_error(double steps) const
{
    if (!baseline_) {
        return 0.0;
    }
    const MeanLevel level = known_level(levels_.lasting);
    const MeanLevel further{0.0, std::max(1.0, steps / typical_steps_)};
    // of the logarithm of the mean, times n
    const double relative_variance = tails_.variance() / (tails_.mean() * tails_.mean());
    const double tails = std::max(0.0, relative_variance - noise_.deviation * noise_.deviation);
    const double swing = swing_between(level.observations, further.observations) / std::numbers::sqrt2;
    return std::sqrt(std::pow(error_of(level), 2.0) + std::pow(error_of(further), 2.0) +
                     tails * (1.0 / tails_.observations + 1.0 / further.observations) + swing * swing);
}

double ChangeDetector::interval_s() const { return std::exp(levels_.now.log_s) * typical_steps_; }

/// Most that the time of day changes between the means of so many observations and of so many later ones.
double ChangeDetector::swing_between(double before, double after) const
{
    return options_.swing / 2.0 * daily_difference(before * interval_s(), after * interval_s());
}

}  // namespace prismopt
