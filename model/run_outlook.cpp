#include "model/run_outlook.hpp"

#include "model/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// Share of runs beyond the deadline, with Clopper and Pearson's limits (Biometrika 26 (1934)
/// 404-413): exact for independent runs.
Estimate share_beyond(const std::vector<double>& runs, double deadline, const Confidence& confidence)
{
    const auto late =
        static_cast<double>(std::count_if(runs.begin(), runs.end(), [=](double t) { return t > deadline; }));
    const auto count = static_cast<double>(runs.size());
    const auto limits = [&](double level) { return share_limits(count, late, 0.5 * (1.0 - level)); };
    const StatisticLimits reported = limits(confidence.reported);
    const StatisticLimits simultaneous = limits(confidence.simultaneous);
    return {late / count, reported.low, reported.high, simultaneous.low, simultaneous.high};
}

/// An increasing function of a figure.
template <class Function>
Estimate applied(const Function& of, const Estimate& e)
{
    return {of(e.value), of(e.low), of(e.high), of(e.simultaneous_low), of(e.simultaneous_high)};
}

/// Shares out the time that is not productive by what was lost in GPU-seconds, so that
/// parts on fewer GPUs count less.
void share_out_losses(const Prediction& result, RunOutlook& run)
{
    double rework = 0.0;
    double restart = 0.0;
    double waiting = 0.0;
    for (const NamedLoss& row : run.losses) {
        rework += row.loss.rework_gpu_s;
        restart += row.loss.down_gpu_s;
        waiting += row.loss.waiting_gpu_s;
    }
    const double lost = run.checkpoint_gpu_s + rework + restart + waiting;
    const double scale = lost > 0.0 ? (1.0 - result.ettr) * result.training.mean.value / lost : 0.0;
    run.checkpoint_s = scale * run.checkpoint_gpu_s;
    run.rework_s = scale * rework;
    run.restart_s = scale * restart;
    run.waiting_s = scale * waiting;
}

/// Means of the time in which GPUs compute and of what they do in it: the work once, of
/// `work_j`, and what of it is done again.
TrainedWork trained_work(std::span<const RunSegment> segments, const Histories& histories, double work_j)
{
    double productive = 0.0;
    for (const RunSegment& segment : segments) {
        double sum = 0.0;
        for (const double productive : segment.productive_s) {
            sum += productive;
        }
        productive += segment.gpus * sum / static_cast<double>(segment.productive_s.size());
    }
    double seconds = productive;
    for (const CauseLoss& loss : histories.cause) {
        seconds += loss.rework_gpu_s;
    }
    return {seconds, productive > 0.0 ? work_j * (seconds / productive) : work_j};
}

Watts training_power_of(const Problem& problem)
{
    return training_power(problem.power, problem.cluster.accelerator.power, problem.cluster.added_power);
}

Watts idle_power_of(const Problem& problem)
{
    return idle_power(problem.power, problem.cluster.accelerator.power, problem.cluster.added_power);
}

}  // namespace

double energy(const Problem& problem, double held_gpu_s, const TrainedWork& trained)
{
    const double idle_w = idle_power_of(problem).si;
    if (problem.cluster.accelerator.energy_follows_work) {
        return held_gpu_s * idle_w + problem.power.pue * trained.work_j;
    }
    const double waiting_gpu_s = std::max(0.0, held_gpu_s - trained.gpu_s);
    return (held_gpu_s - waiting_gpu_s) * training_power_of(problem).si + waiting_gpu_s * idle_w;
}

double power_in_training(const Problem& problem, double gpus, double waiting_gpus)
{
    return gpus * training_power_of(problem).si + waiting_gpus * idle_power_of(problem).si;
}

double cluster_power_in_training(const Problem& problem, double gpus, double waiting_gpus)
{
    return power_in_training(problem, gpus, std::max(waiting_gpus, problem.cluster.gpus - gpus));
}

double electricity_usd(const Problem& problem, double held_gpus, const TrainedWork& trained, double seconds)
{
    if (problem.power.electricity_price.si == 0.0) {
        return 0.0;
    }
    const double idle_w = idle_power_of(problem).si;
    const double held_gpu_s = held_gpus * seconds;
    const double idle_j = idle_w > 0.0 ? idle_w * held_gpu_s : 0.0;  // a limit of the time may be infinite
    const double trained_gpu_s = std::min(trained.gpu_s, held_gpu_s);
    const bool by_work = problem.cluster.accelerator.energy_follows_work;
    const double beyond_j = by_work ? problem.power.pue * trained.work_j * trained_gpu_s / trained.gpu_s
                                    : (training_power_of(problem).si - idle_w) * trained_gpu_s;
    return problem.power.electricity_price.si * (idle_j + beyond_j);
}

int spare_gpus(const FailureModel& model, const Cluster& cluster)
{
    return model.spares == enough_spares ? 0 : model.spares * cluster.gpus_per_node();
}

std::optional<Infeasible> run_problem(const FailureModel& model, double productive_s)
{
    FailureModel attempts = model;  // without a failure none is longer than the run
    attempts.interval_s = std::min(model.interval_s, productive_s);
    if (attempts.hopeless()) {
        return Infeasible{Conflict::failures_faster_than_progress};
    }
    if (model.interval_s < model.lag_s) {
        return Infeasible{.conflict = Conflict::checkpoints_overlap,
                          .facts = {{FactKey::write_s, model.lag_s}, {FactKey::interval_s, model.interval_s}},
                          .miss = model.lag_s - model.interval_s};
    }
    return std::nullopt;
}

RunOutlook outlook(const Problem& problem, std::span<const RunSegment> segments, const Histories& histories,
                   const Prediction& result, double work_j, const Confidence& confidence)
{
    RunOutlook run;
    const FailureModel& model = segments.front().model;
    const std::vector<Cause> causes = all_causes(problem.reliability);
    for (std::size_t c = 0; c < causes.size(); ++c) {
        run.losses.push_back({causes[c].name, histories.cause[c]});
    }
    run.checkpoint_gpu_s = histories.checkpoint_gpu_s;
    const double rate = model.rate();
    run.mean_time_between_failures_s = rate > 0.0 ? 1.0 / rate : std::numeric_limits<double>::infinity();
    run.interval_s = model.interval_s;
    run.writes_checkpoints = std::any_of(segments.begin(), segments.end(), [](const RunSegment& segment) {
        return *std::max_element(segment.productive_s.begin(), segment.productive_s.end()) >
               segment.model.interval_s;
    });
    run.young_s = interval_by(IntervalRule::young, model);
    run.daly_s = interval_by(IntervalRule::daly, model);
    run.optimal_s = interval_by(IntervalRule::optimal, model);
    run.spare_gpus = spare_gpus(model, problem.cluster);
    run.deadline = problem.deadline;
    if (problem.deadline.si > 0.0) {
        run.miss_probability = share_beyond(histories.seconds, problem.deadline.si, confidence);
    } else {
        run.miss_probability = Estimate::exact(std::numeric_limits<double>::quiet_NaN());
    }
    share_out_losses(result, run);
    const double held_gpus = result.gpus + run.spare_gpus;
    const double held_gpu_s = held_gpus * result.training.mean.value;
    const TrainedWork trained = trained_work(segments, histories, work_j);
    run.power_w = power_in_training(problem, result.gpus, run.spare_gpus);
    run.cluster_power_w = cluster_power_in_training(problem, result.gpus, run.spare_gpus);
    run.mean_power_w = energy(problem, held_gpu_s, trained) / result.training.mean.value;
    run.energy_j = run.mean_power_w * result.training.mean;
    run.carbon_kg = problem.power.carbon.si * run.energy_j;
    run.electricity_usd =
        applied([&](double seconds) { return electricity_usd(problem, held_gpus, trained, seconds); },
                result.training.p99);
    return run;
}

}  // namespace prismopt
