#include "optimizer/api/watch.hpp"

#include "io/base/input_error.hpp"
#include "io/base/shell_word.hpp"
#include "io/logs/log_reader.hpp"
#include "model/base/statistics.hpp"
#include "model/plan/phase.hpp"
#include "model/plan_rules.hpp"
#include "model/productive_times.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/stored_predictions.hpp"
#include "optimizer/study/stored_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

constexpr double seconds_per_day = (1_day).si;

/// The plan of a study, predicted again: its draws give the distribution of the mean step over jobs.
class WatchedPlan {
public:
    WatchedPlan(const Results& results, std::optional<std::int64_t> number)
        : study_(results), index_(point_number(results, study_, number)),
          point_(study_.space().point(index_)), problem_(study_.problem(point_)), plan_(study_.plan(point_)),
          phases_(phases_of_plan(problem_, plan_)), sampler_(study_.sampler({Purpose::confirm})),
          rung_(study_.scenario().search.confirm)
    {
        refuse_other_predictions(study_.model(), results);
        if (const auto why = structural_problem(plan_, problem_)) {
            throw infeasible_point(index_, *why);
        }
        Predictor predictor(problem_);
        const auto bound = predictor.bound(plan_);
        if (const auto* why = std::get_if<Infeasible>(&bound)) {
            throw infeasible_point(index_, *why);
        }
        draws_ = predictor.sample(plan_, {0, rung_.fleets, rung_.steps}, sampler_);
        for (const std::vector<double>& phase : draws_) {
            means_.push_back(std::accumulate(phase.begin(), phase.end(), 0.0) /
                             static_cast<double>(phase.size()));
        }
        model_ = model_interval(problem_, plan_, fitted_model());
    }

    std::uint64_t index() const { return index_; }
    std::string design() const { return design_text(plan_, study_.scenario().space); }
    const Reliability& reliability() const { return problem_.reliability; }
    double steps() const
    {
        return std::accumulate(phases_.begin(), phases_.end(), 0.0,
                               [](double sum, const Phase& phase) { return sum + phase.steps(); });
    }

    /// What trainers that print tokens or sequences per second omit: of the first phase.
    LogOptions log_options(std::string path, std::string trainer) const
    {
        const Phase& phase = phases_.front();
        return {.path = std::move(path),
                .trainer = std::move(trainer),
                .tokens_per_step = phase.tokens_of_step(),
                .sequences_per_step = static_cast<double>(phase.global_batch),
                .gpus = plan_in_phase(plan_, phase).gpus()};
    }

    /// Predicted time of a step over that of the first phase, which other phases are converted to: their
    /// changes are planned. `done`: steps of the plan, that one included.
    double relative(double done) const { return means_[phase_of(done)] / means_.front(); }

    /// Sequences in the planned batch of that step.
    int batch(double done) const { return phases_[phase_of(done)].global_batch; }

    /// Steps of the plan that train on so many sequences.
    double steps_of(double sequences) const
    {
        double steps = 0.0;
        for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
            const double in_phase = phases_[phase].steps() * phases_[phase].global_batch;
            if (sequences <= in_phase || phase + 1 == phases_.size()) {
                return steps + sequences / phases_[phase].global_batch;
            }
            sequences -= in_phase;
            steps += phases_[phase].steps();
        }
        return steps;
    }

    /// `batch_ratio`: sequences of a step in the log over those of the plan, whose draws are
    /// scaled as the noise-free step.
    LevelCheck check(const Baseline& baseline, double done, double batch_ratio) const
    {
        const std::size_t phase = phase_of(done);
        const Phase& here = phases_[phase];
        const double scale = batch_scale(here, batch_ratio);
        std::vector<double> jobs_s = productive_times({here}, {draws_[phase]}, rung_.steps).seconds;
        for (double& seconds : jobs_s) {
            seconds *= scale / here.steps();
        }
        return check_level(baseline.mean_s, baseline.mean_error, jobs_s, model_.low, model_.high);
    }

    /// `done`: steps of the plan; `lasting_s`: of a step of the first phase.
    RemainingRun remaining(const WatchedJob& job, double done, double lasting_s, double error) const
    {
        return remaining_run(problem_, plan_, means_,
                             {done, lasting_s / means_.front(), error, job.trained_s, job.failures},
                             sampler_);
    }

private:
    /// Phase of the last step.
    std::size_t phase_of(double done) const
    {
        return phase_of_step(phases_, std::max(0.0, std::ceil(done) - 1.0));
    }

    /// Predicted noise-free time of a step with another batch, relative; by the sequences where
    /// the plan cannot have that batch.
    double batch_scale(const Phase& phase, double batch_ratio) const
    {
        constexpr double most = 16.0;  // times larger or smaller; beyond that it is another job
        const double batch = phase.global_batch * batch_ratio;
        if (batch_ratio == 1.0 || batch_ratio > most || batch_ratio < 1.0 / most ||
            batch != std::floor(batch)) {
            return batch_ratio;
        }
        Problem planned = problem_;
        planned.phases = {phase};
        Problem other = planned;
        other.phases.front().global_batch = static_cast<int>(batch);
        if (structural_problem(plan_, other)) {
            return batch_ratio;
        }
        const auto planned_step = Predictor(planned).bound(plan_);
        const auto other_step = Predictor(other).bound(plan_);
        const auto* before = std::get_if<NoiseFree>(&planned_step);
        const auto* after = std::get_if<NoiseFree>(&other_step);
        return before != nullptr && after != nullptr ? after->step_s / before->step_s : batch_ratio;
    }

    StoredStudy study_;
    std::uint64_t index_;
    Point point_;
    const Problem& problem_;
    ParallelPlan plan_;
    std::vector<Phase> phases_;
    SamplerOptions sampler_;
    Rung rung_;
    PhaseDraws draws_;
    std::vector<double> means_;  // [phase]
    ModelInterval model_;
};

double within(const char* option, double value, double low, double high)
{
    if (!(value >= low && value <= high)) {
        throw InputError(
            fmt::format("--{} {:.6g} is not between {:.6g} and {:.6g}; give a value between them", option,
                        value, low, high));
    }
    return value;
}

ChangeDetectorOptions detector_options(const WatchOptions& asked, const Reliability& reliability)
{
    ChangeDetectorOptions options;
    options.false_alarm_s =
        seconds_per_day * within("false-alarm-days", asked.false_alarm_days, 0.01, 36'500.0);
    options.least_change = within("least-change", asked.least_change_percent, 0.0, 100.0) / 100.0;
    options.swing = within("swing", asked.swing_percent, 0.0, 100.0) / 100.0;
    options.drift = reliability.drift;
    options.baseline = asked.baseline;
    if (options.baseline < 50 || options.baseline > 100'000) {
        throw InputError(
            fmt::format("--baseline {} is not between 50 and 100000 steps; write for example --baseline 200",
                        options.baseline));
    }
    return options;
}

/// Reads the log, and keeps what it says of the job.
class LogOfJob {
public:
    LogOfJob(const WatchedPlan& plan, const std::string& file, const std::string& log,
             const WatchOptions& options)
        : plan_(plan), reader_(plan.log_options(log, options.trainer)),
          detector_options_(detector_options(options, plan.reliability())), detector_(detector_options_)
    {
        job_.results = file;
        job_.log = log;
        job_.point = plan.index();
        job_.design = plan.design();
        if (options.failures) {
            failures_ = within("failures", *options.failures, 0.0, 1e6);
        }
    }

    void add(std::string_view text)
    {
        reader_.add(text);
        add_steps();
    }
    void finish(bool stopped)
    {
        reader_.finish(stopped);
        add_steps();
    }
    /// All steps of the training are done.
    bool trained() const { return job_.steps > 0 && plan_.steps() - done_ < 1.0; }
    /// In seconds of a step of the log, as all times of a job.
    std::optional<Baseline> baseline() const
    {
        std::optional<Baseline> baseline = detector_.baseline();
        if (baseline) {
            const double relative = plan_.relative(baseline_done_) * batch_ratio_;
            baseline->mean_s *= relative;
            baseline->median_s *= relative;
        }
        return baseline;
    }
    std::vector<Change> changes() const
    {
        std::vector<Change> all = earlier_changes_;
        const std::vector<Change> later = detector_.changes();
        all.insert(all.end(), later.begin(), later.end());
        return all;
    }
    LevelCheck level()
    {
        return level_ ? *level_ : *(level_ = plan_.check(*baseline(), baseline_done_, batch_ratio_));
    }

    WatchedJob job(std::string stopped)
    {
        if (job_.steps == 0) {
            refuse_log_without_steps();
        }
        WatchedJob job = job_;
        job.trainer = reader_.trainer();
        job.restarts = reader_.restarts();
        job.restarts_at_time_limits = reader_.restarts_at_time_limits();
        job.failures = failures_;
        if (!failures_ && reader_.numbers_steps()) {
            job.failures = job.restarts - job.restarts_at_time_limits;
        }
        job.peak_memory = reader_.peak_memory();
        job.total_steps = reader_.total_steps();
        job.planned_steps = plan_.steps() / batch_ratio_;
        job.out_of_memory = reader_.out_of_memory();
        job.needed = detector_.needed();
        job.collected = detector_.baseline() ? detector_.needed() : detector_.collected();
        job.baseline = baseline();
        job.changes = changes();
        job.spikes = earlier_spikes_;
        job.spikes.insert(job.spikes.end(), detector_.spikes().begin(), detector_.spikes().end());
        const double lasting_s = detector_.level_s() > 0.0 ? detector_.lasting_s() : level_so_far();
        const double level_s = detector_.level_s() > 0.0 ? detector_.level_s() : level_so_far();
        job.level_s = level_s * plan_.relative(done_) * batch_ratio_;
        job.level_change = detector_.level_change();
        job.level_error = detector_.level_error();
        job.level_low_s = job.level_s * std::exp(-two_sided_95 * job.level_error);
        job.level_high_s = job.level_s * std::exp(two_sided_95 * job.level_error);
        for (const Spike& spike : job.spikes) {
            job.spike_excess_s += spike.excess * job.level_s * static_cast<double>(spike.steps);
        }
        if (job.baseline) {
            job.level = level();
        }
        if (job.level_s > 0.0) {
            const double steps_left = std::max(0.0, plan_.steps() - done_) / batch_ratio_;
            job.remaining = plan_.remaining(job, done_, lasting_s, detector_.lasting_error(steps_left));
            job.remaining->steps /= batch_ratio_;
        }
        job.now = std::chrono::system_clock::now();
        job.stopped = std::move(stopped);
        return job;
    }

private:
    [[noreturn]] void refuse_log_without_steps() const
    {
        if (const auto& error = reader_.out_of_memory()) {
            throw InputError(fmt::format("{}: no step times in {} lines: {}", job_.log, reader_.lines(),
                                         out_of_memory_text(*error, job_.results, job_.point)));
        }
        throw InputError(
            fmt::format("{}: no step times in {} lines; name the form with --trainer (see prismopt watch "
                        "--help), or wait "
                        "for the first step",
                        job_.log, reader_.lines()));
    }

    void add_steps()
    {
        for (const LoggedStep& step : reader_.drain()) {
            if (job_.steps == 0) {
                job_.first_step = step.first > 0 ? step.first : step.number;
            }
            proceed(step);
            job_.steps += step.lines;
            job_.last_step = step.number;
            job_.trained_s += step.seconds * static_cast<double>(step.steps);
            const double seconds = step.seconds / (plan_.relative(done_) * batch_ratio_);
            constexpr std::size_t most_so_far = 1000;  // more than a baseline's first steps
            if (so_far_.size() < most_so_far) {
                so_far_.emplace_back(seconds, static_cast<double>(step.steps));
            }
            const bool before = detector_.baseline().has_value();
            detector_.add({step.number, seconds, step.steps, step.restarted});
            if (!before && detector_.baseline()) {
                baseline_done_ = done_;
            }
        }
    }

    /// Follows the steps of the plan: by the sequences that the log states, or as many as the log counts.
    /// Steps of another batch have another time: their baseline is their own.
    void proceed(const LoggedStep& step)
    {
        const auto before = static_cast<double>(job_.steps == 0 ? 0 : job_.last_step);
        if (step.sequences <= 0.0) {
            done_ += static_cast<double>(step.number) - before;
            return;
        }
        sequences_ += step.sequences * (static_cast<double>(step.number) - before);
        if (step.samples > 0.0) {
            sequences_ = step.samples;
        }
        done_ = plan_.steps_of(sequences_);
        job_.batch = step.sequences;
        job_.planned_batch = plan_.batch(done_);
        const double ratio = job_.batch / job_.planned_batch;
        if (ratio != batch_ratio_ && job_.steps > 0) {
            begin_again();
        }
        if (ratio != batch_ratio_ || job_.steps == 0) {
            job_.batch_since = step.number;
        }
        batch_ratio_ = ratio;
    }

    void begin_again()
    {
        earlier_changes_ = changes();
        earlier_spikes_.insert(earlier_spikes_.end(), detector_.spikes().begin(), detector_.spikes().end());
        detector_ = ChangeDetector(detector_options_);
        so_far_.clear();
        level_.reset();
    }

    /// Median of the steps so far, or 0 where they are too few.
    double level_so_far() const
    {
        constexpr std::int64_t fewest = 3;  // lines
        if (job_.steps < fewest || so_far_.empty()) {
            return 0.0;
        }
        std::vector<std::pair<double, double>> sorted = so_far_;
        std::sort(sorted.begin(), sorted.end());
        double steps = 0.0;
        for (const auto& [seconds, weight] : sorted) {
            steps += weight;
        }
        for (const auto& [seconds, weight] : sorted) {
            steps -= 2.0 * weight;
            if (steps <= 0.0) {
                return seconds;
            }
        }
        return sorted.back().first;
    }

    const WatchedPlan& plan_;
    LogReader reader_;
    ChangeDetectorOptions detector_options_;
    ChangeDetector detector_;  // of steps of the first phase with the planned batch
    WatchedJob job_;
    double done_ = 0.0;         // steps of the plan
    double sequences_ = 0.0;    // trained on, where the log states its batch
    double batch_ratio_ = 1.0;  // sequences of a step in the log over those of the plan
    double baseline_done_ = 0.0;
    std::vector<std::pair<double, double>> so_far_;  // seconds and number of the first steps
    std::vector<Change> earlier_changes_;            // before the batch changed
    std::vector<Spike> earlier_spikes_;
    std::optional<double> failures_;
    std::optional<LevelCheck> level_;
};

}  // namespace

struct JobWatch::State {
    State(const Results& results, const std::string& file, std::optional<std::int64_t> number,
          const std::string& log, const WatchOptions& options)
        : plan(results, number), job(plan, file, log, options)
    {
    }

    WatchedPlan plan;
    LogOfJob job;
};

bool WatchedJob::is_silent() const
{
    const double between_lines =
        steps > 1 ? static_cast<double>(last_step - first_step) / static_cast<double>(steps - 1) : 1.0;
    const bool done_by_log =
        total_steps > 0.0 && static_cast<double>(last_step) > total_steps - between_lines;
    const bool done_by_plan = remaining && remaining->steps < std::max(1.0, between_lines);
    const double quiet_steps = std::max(200.0, 2.0 * between_lines);  // most logs have ten steps a line
    const double quiet_s = std::max((1_h).si, quiet_steps * level_s);
    return unchanged_s && *unchanged_s > quiet_s && !done_by_log && !done_by_plan;
}

std::string out_of_memory_text(const OutOfMemory& error, const std::string& results, std::uint64_t point)
{
    const std::string said =
        fmt::format("out of memory: line {} of the log says \"{}\"; ", error.line, error.text);
    const std::string plan = fmt::format("{} --point {}", shell_word(results), point);
    switch (error.of) {
        case MemoryOf::gpu:
            return said + fmt::format("prismopt explain {} lists changes that make the plan fit", plan);
        case MemoryOf::host: break;
    }
    return said + fmt::format(
                      "that is the memory of a node: ask Slurm for more (--mem), or use fewer workers; "
                      "prismopt predict {} prints what offload needs of it",
                      plan);
}

JobWatch::JobWatch(const Results& results, const std::string& file, std::optional<std::int64_t> number,
                   const std::string& log, const WatchOptions& options)
    : state_(std::make_unique<State>(results, file, number, log, options))
{
}
JobWatch::JobWatch(JobWatch&&) noexcept = default;
JobWatch& JobWatch::operator=(JobWatch&&) noexcept = default;
JobWatch::~JobWatch() = default;

void JobWatch::add(std::string_view text) { state_->job.add(text); }
void JobWatch::finish(bool stopped) { state_->job.finish(stopped); }
bool JobWatch::trained() const { return state_->job.trained(); }
std::optional<Baseline> JobWatch::baseline() const { return state_->job.baseline(); }
std::vector<Change> JobWatch::changes() const { return state_->job.changes(); }
LevelCheck JobWatch::level() { return state_->job.level(); }
WatchedJob JobWatch::job(const std::string& stopped) { return state_->job.job(stopped); }

}  // namespace prismopt
