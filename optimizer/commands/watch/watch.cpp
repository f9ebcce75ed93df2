#include "io/base/input_error.hpp"
#include "io/logs/log_reader.hpp"
#include "io/logs/log_source.hpp"
#include "model/plan/phase.hpp"
#include "model/plan_rules.hpp"
#include "model/productive_times.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/commands/chosen_plan.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/watch/watch_text.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/stored_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace prismopt {

using namespace literals;

namespace po = boost::program_options;

namespace {

constexpr double day_s = (1_day).si;

std::string trainer_help()
{
    std::string text = "format of the log (default: detected from its first lines):";
    for (const LogFormat& format : log_formats()) {
        text += fmt::format("\n  {}: {}", format.name, format.trainers);
    }
    return text + fmt::format("\n  {}: a number of seconds per line\n  {}: a table with a column of step times", numbers_format,
                              csv_format);
}

/// The plan of a study, predicted again: its draws give the distribution of the mean step over jobs.
class WatchedPlan {
public:
    WatchedPlan(const po::variables_map& values, const Results& results)
        : study_(results), index_(chosen_point(values, results, study_)), point_(study_.space().point(index_)),
          problem_(study_.problem(point_)), plan_(study_.plan(point_)), phases_(phases_of_plan(problem_, plan_)),
          sampler_(study_.sampler({Purpose::confirm})), rung_(study_.scenario().search.confirm)
    {
        Predictor predictor(problem_);
        const auto bound = predictor.bound(plan_);
        if (const auto* refusal = std::get_if<Infeasible>(&bound)) {
            throw InfeasiblePlan(fmt::format("--point {} is infeasible: {}; choose another point", index_, refusal->text()));
        }
        draws_ = predictor.sample(plan_, {0, rung_.fleets, rung_.steps}, sampler_);
        for (const std::vector<double>& phase : draws_) {
            means_.push_back(std::accumulate(phase.begin(), phase.end(), 0.0) / static_cast<double>(phase.size()));
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

    /// What trainers that print tokens or sequences per second leave out: of the first phase.
    LogOptions log_options(std::string path, std::string trainer) const
    {
        const Phase& phase = phases_.front();
        return {.path = std::move(path),
                .trainer = std::move(trainer),
                .tokens_per_step = static_cast<double>(phase.sequence) * phase.global_batch,
                .sequences_per_step = static_cast<double>(phase.global_batch),
                .gpus = plan_in_phase(plan_, phase).gpus()};
    }

    /// Predicted time of a step over that of the first phase, which other phases are converted to: their changes are planned.
    /// `done`: steps of the plan, that one included.
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

    /// `batch_ratio`: sequences of a step in the log over those of the plan, whose draws are scaled as the noise-free step.
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
        return remaining_run(problem_, plan_, means_, {done, lasting_s / means_.front(), error, job.trained_s, job.failures},
                             sampler_);
    }

private:
    /// Phase of the last step.
    std::size_t phase_of(double done) const { return phase_of_step(phases_, std::max(0.0, std::ceil(done) - 1.0)); }

    /// Predicted noise-free time of a step with another batch, relative; by the sequences where the plan cannot have that batch.
    double batch_scale(const Phase& phase, double batch_ratio) const
    {
        constexpr double most = 16.0;  // times larger or smaller; beyond that it is another job
        const double batch = phase.global_batch * batch_ratio;
        if (batch_ratio == 1.0 || batch_ratio > most || batch_ratio < 1.0 / most || batch != std::floor(batch)) {
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

double within(const po::variables_map& values, const char* option, double low, double high)
{
    const double value = values[option].as<double>();
    if (!(value >= low && value <= high)) {
        throw InputError(fmt::format("--{} {:.6g} is not between {:.6g} and {:.6g}", option, value, low, high));
    }
    return value;
}

ChangeDetectorOptions detector_options(const po::variables_map& values, const Reliability& reliability)
{
    ChangeDetectorOptions options;
    options.false_alarm_s = day_s * within(values, "false-alarm-days", 0.01, 36'500.0);
    options.least_change = within(values, "least-change", 0.0, 100.0) / 100.0;
    options.slow = {within(values, "swing", 0.0, 100.0) / 100.0, reliability.drift};
    options.baseline = values["baseline"].as<int>();
    if (options.baseline < 50 || options.baseline > 100'000) {
        throw InputError(fmt::format("--baseline {} is not between 50 and 100000 steps", options.baseline));
    }
    return options;
}

/// Reads the log, and keeps what it says of the job.
class Watch {
public:
    Watch(const WatchedPlan& plan, const po::variables_map& values, const std::string& results, const std::string& log)
        : plan_(plan), reader_(plan.log_options(log, values.count("trainer") > 0 ? values["trainer"].as<std::string>() : "")),
          detector_options_(detector_options(values, plan.reliability())), detector_(detector_options_)
    {
        job_.results = results;
        job_.log = log;
        job_.point = plan.index();
        job_.design = plan.design();
        if (values.count("failures") > 0) {
            failures_ = within(values, "failures", 0.0, 1e6);
        }
    }

    void add(std::string_view text)
    {
        reader_.add(text);
        take();
    }
    void finish()
    {
        reader_.finish();
        take();
    }
    /// All steps of the training are done.
    bool trained() const { return job_.steps > 0 && done_ >= plan_.steps(); }
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
    LevelCheck level() { return level_ ? *level_ : *(level_ = plan_.check(*baseline(), baseline_done_, batch_ratio_)); }

    WatchedJob job(std::string stopped)
    {
        if (job_.steps == 0) {
            throw InputError(
                fmt::format("{}: no step times in {} lines; name the form with --trainer (see prismopt watch --help), or wait "
                            "for the first step",
                            job_.log, reader_.lines()));
        }
        WatchedJob job = job_;
        job.trainer = reader_.trainer();
        job.restarts = reader_.restarts();
        job.failures = failures_;
        if (!failures_ && reader_.numbers_steps()) {
            job.failures = reader_.restarts();
        }
        job.peak_memory = reader_.peak_memory();
        job.needed = detector_.needed();
        job.collected = detector_.baseline() ? detector_.needed() : detector_.collected();
        job.baseline = baseline();
        job.changes = changes();
        job.spikes = earlier_spikes_;
        job.spikes.insert(job.spikes.end(), detector_.spikes().begin(), detector_.spikes().end());
        const double lasting_s = detector_.level_s() > 0.0 ? detector_.lasting_s() : level_so_far();
        const double level_s = detector_.level_s() > 0.0 ? detector_.level_s() : level_so_far();
        job.level_s = level_s * plan_.relative(done_) * batch_ratio_;
        job.level_change = job.baseline ? detector_.level_s() / detector_.baseline()->median_s - 1.0 : 0.0;
        job.level_error = detector_.level_error();
        for (const Spike& spike : job.spikes) {
            job.spike_excess_s += spike.excess * job.level_s;
        }
        if (job.baseline) {
            job.level = level();
        }
        if (job.level_s > 0.0) {
            job.remaining = plan_.remaining(job, done_, lasting_s, detector_.lasting_error());
            job.remaining->steps /= batch_ratio_;
        }
        job.now = std::chrono::system_clock::now();
        job.stopped = std::move(stopped);
        return job;
    }

private:
    void take()
    {
        for (const LoggedStep& step : reader_.take()) {
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
                so_far_.push_back({seconds, static_cast<double>(step.steps)});
            }
            const bool before = detector_.baseline().has_value();
            detector_.add({step.number, seconds, step.steps, step.restarted});
            if (!before && detector_.baseline()) {
                baseline_done_ = done_;
            }
        }
    }

    /// Follows the steps of the plan: by the sequences that the log states, or as many as the log counts. Steps of another batch
    /// have another time: their baseline is their own.
    void proceed(const LoggedStep& step)
    {
        const double before = static_cast<double>(job_.steps == 0 ? 0 : job_.last_step);
        if (step.sequences <= 0.0) {
            done_ += static_cast<double>(step.number) - before;
            return;
        }
        sequences_ += step.sequences * (static_cast<double>(step.number) - before);
        sequences_ = step.samples > 0.0 ? step.samples : sequences_;
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

/// Prints what a log that is followed brings, as it comes.
class Events {
public:
    explicit Events(bool json) : json_(json) {}

    void print(Watch& watch)
    {
        const std::vector<Change> changes = watch.changes();
        const bool level = watch.baseline() && !level_printed_;
        const bool change = !changes.empty() && changes.back().found > last_found_;
        if (!level && !change) {
            return;
        }
        if (json_) {
            fmt::print("{}\n", watch_json(watch.job("")).dump());
        } else {
            if (level) {
                fmt::print("{}\n", level_text(*watch.baseline(), watch.level()));
            }
            if (change) {
                fmt::print("{}\n", change_text(changes.back()));
            }
        }
        std::fflush(stdout);
        level_printed_ = level_printed_ || level;
        last_found_ = change ? changes.back().found : last_found_;
    }

private:
    bool json_;
    bool level_printed_ = false;
    std::int64_t last_found_ = -1;
};

}  // namespace

int watch_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("point", po::value<std::int64_t>()->value_name("ID"),
                          "number of the job's plan in reports (default: the first plan of the front)")(
        "trainer", po::value<std::string>()->value_name("NAME"), trainer_help().c_str())(
        "follow", po::bool_switch(), "wait for more lines at the end of the log; print changes as they are found")(
        "json", po::bool_switch(), "print JSON: one object, or with --follow one per line")(
        "false-alarm-days", po::value<double>()->value_name("D")->default_value(30.0, "30"),
        "mean time between false alarms, in days")("baseline", po::value<int>()->value_name("N")->default_value(200),
                                                   "number of initial steps that form the baseline")(
        "least-change", po::value<double>()->value_name("PERCENT")->default_value(0.25, "0.25"),
        "smaller changes are not reported")("swing", po::value<double>()->value_name("PERCENT")->default_value(2.0, "2"),
                                            "normal variation of the step time over a day, peak to peak")(
        "failures", po::value<double>()->value_name("N"), "failures of the job so far (default: restarts in the log)");
    const auto values = parse_options("watch", options, {"RESULTS LOG", 2}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const auto paths = (*values)["RESULTS LOG"].as<std::vector<std::string>>();
    if (paths.size() != 2) {
        throw InputError("prismopt watch needs a results file and a log (- for standard input); see prismopt watch --help");
    }
    catch_stop_signals();
    catch_interrupt();
    const StopRequest stop({}, call.team);
    const bool follow = (*values)["follow"].as<bool>();
    const bool json = (*values)["json"].as<bool>();
    LogSource source(paths[1], follow);
    const WatchedPlan plan(*values, open_results(paths[0]));
    Watch watch(plan, *values, paths[0], paths[1]);
    Events events(json);
    std::optional<std::string> stopped;
    while (!source.ended() && !stopped && !(follow && watch.trained())) {
        watch.add(source.next());
        if (follow) {
            events.print(watch);
        }
        stopped = stop.reason();
    }
    watch.finish();
    const WatchedJob job = watch.job(stopped.value_or(""));
    fmt::print("{}", json ? watch_json(job).dump(follow ? -1 : 2) + "\n" : watch_text(job));
    return watch_exit_code(job);
}

}  // namespace prismopt
