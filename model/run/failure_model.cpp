#include "model/run/failure_model.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/lambert_w.hpp>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// e^x - 1 by its series, for 0 <= x <= 20: the same bits with every mathematics library. Terms fall once n
/// exceeds x, so after one that changes nothing none does.
double exponential_minus_one(double x)
{
    double term = 1.0;
    double sum = 0.0;
    for (int n = 1; n <= 120; ++n) {
        term *= x / n;
        const double next = sum + term;
        if (next == sum && n > x) {
            break;
        }
        sum = next;
    }
    return sum;
}

/// Young's interval is zero where writes are free, which nothing could do.
constexpr double shortest_interval_s = 1.0;

constexpr double most_failures_per_interval = 2.0;  // e^2 - 1: more than six failures before each checkpoint

/// Deviations by which the sum of the nodes' rates may exceed its mean and a run still
/// end: beyond what 2^32 draws show.
constexpr double most_deviations = 7.0;

/// A job fills units one after the other; the last may be used in part.
int units_of(const Cause& cause, const JobSize& job)
{
    return (job.nodes + cause.unit_nodes - 1) / cause.unit_nodes;
}

void set_units(FailureModel::Source& source, const Cause& cause, const JobSize& job)
{
    if (cause.of == RateOf::unit && job.nodes > 0) {
        source.units = units_of(cause, job);
        source.unit_nodes = std::min(cause.unit_nodes, job.nodes);
        source.last_unit_nodes = job.nodes - (source.units - 1) * cause.unit_nodes;
    }
}

/// A failure of the job as a whole leaves no node for a spare to replace. With spares that are
/// always ready no failure restarts.
void set_recovery(FailureModel& model, const Reliability& reliability, const std::vector<Cause>& causes)
{
    if (reliability.recovery == Recovery::restart) {
        return;
    }
    const bool repairs =
        std::any_of(model.sources.begin(), model.sources.end(),
                    [](const FailureModel::Source& source) { return source.repair_s > 0.0; });
    for (FailureModel::Source& source : model.sources) {
        const bool enough = model.spares == enough_spares;
        const bool replaced = enough || model.spares >= source.unit_nodes || model.replicas > 1;
        if (source.planned || causes[source.cause].of == RateOf::job || !replaced) {
            continue;
        }
        source.switch_s = reliability.switch_time.si;
        if (enough || !repairs) {
            source.restart_s = source.least_restart_s();
        }
    }
}

double size_factor(const Cause& cause, const JobSize& job)
{
    switch (cause.of) {
        case RateOf::node: return job.nodes;
        case RateOf::gpu: return job.gpus;
        case RateOf::unit: return units_of(cause, job);
        case RateOf::job: return 1.0;
    }
    return 1.0;
}

/// A job on a part p of the nodes sees each of their failures with probability p. A gap of its own
/// is a geometric number of theirs: mean m / p, variance m^2 (cv^2 / p + (1 - p) / p^2), so cv_p^2 =
/// 1 + p (cv^2 - 1). On more nodes than were watched the distribution is kept: whether clusters
/// spread with the job is not known.
GapDistribution gaps_of_job(const Cause& cause, const JobSize& job)
{
    GapDistribution gaps = cause.gaps;
    if (gaps.nodes > job.nodes) {
        const double share = static_cast<double>(job.nodes) / gaps.nodes;
        gaps.cv = std::sqrt(1.0 + share * (gaps.cv * gaps.cv - 1.0));
    }
    return gaps;
}

double interval_by(IntervalRule rule, double rate, double stall_s)
{
    switch (rule) {
        case IntervalRule::young: return young_interval(rate, stall_s);
        case IntervalRule::daly: return daly_interval(rate, stall_s);
        case IntervalRule::optimal: return optimal_interval(rate, stall_s);
    }
    return 0.0;
}

/// Mean of a value of the causes of unplanned failures, over failures.
template <typename ValueOf>
double mean_of_failures(const FailureModel& model, ValueOf value_of)
{
    double first = 0.0;
    double excess = 0.0;  // over the first: with one cause nothing is rounded
    double rate = 0.0;
    for (const FailureModel::Source& source : model.sources) {
        if (!source.planned) {
            const double value = value_of(source);
            if (rate == 0.0) {
                first = value;
            }
            excess += source.rate * (value - first);
            rate += source.rate;
        }
    }
    return rate > 0.0 ? first + excess / rate : 0.0;
}

double detection_of(const FailureModel::Source& source) { return source.detection_s; }
double down_of(const FailureModel::Source& source) { return source.detection_s + source.least_restart_s(); }
double restart_of(const FailureModel::Source& source) { return source.restart_s; }
double least_restart_of(const FailureModel::Source& source) { return source.least_restart_s(); }

/// Probability that the failures of a cause are at least as many as on average in this time: of a Poisson
/// distribution, or a negative binomial one where nodes have rates of their own, or the rate is
/// uncertain. Zero if not known: other renewal processes may come in clusters, and both kinds of rates
/// have no common gamma distribution.
double reaches_mean(const FailureModel::Source& source, double clock_s, double node_cv)
{
    using Plain = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
    if (source.gaps.family == GapFamily::constant) {
        return 1.0;  // least_mean_training_time() counts one less than the mean, and no time has fewer
    }
    if (source.gaps.family != GapFamily::exponential) {
        return 0.0;
    }
    const double mean = source.rate * clock_s;
    const double count = std::ceil(mean);
    const double of_nodes = source.by_node ? node_cv : 0.0;
    if (of_nodes > 0.0 && source.rate_cv > 0.0) {
        return 0.0;
    }
    const double cv = of_nodes + source.rate_cv;  // one of them is zero
    if (cv == 0.0) {
        return boost::math::gamma_p(count, mean, Plain());
    }
    const double shape = 1.0 / (cv * cv);
    return boost::math::ibeta(count, shape, mean / (mean + shape), Plain());
}

}  // namespace

double FailureModel::rate() const
{
    double sum = 0.0;
    for (const Source& source : sources) {
        sum += source.planned ? 0.0 : source.rate;
    }
    return sum;
}

double FailureModel::storage_rate() const
{
    double sum = 0.0;
    for (const Source& source : sources) {
        const double kept = memory_interval_s > 0.0 ? source.memory_kept : 0.0;
        sum += source.planned ? 0.0 : source.rate * (1.0 - kept);
    }
    return sum;
}

bool FailureModel::hopeless() const
{
    const bool copies = memory_interval_s > 0.0;
    double squares = 0.0;  // of what the rates of causes may be off by
    double sum = 0.0;
    for (const Source& source : sources) {
        squares += source.rate_cv * source.rate * source.rate_cv * source.rate;
        sum += source.rate;
    }
    const double worst =
        1.0 + most_deviations * std::hypot(node_cv, sum > 0.0 ? std::sqrt(squares) / sum : 0.0);
    const double restart_s = mean_of_failures(*this, restart_of);
    return worst * (storage_rate() * (interval_s * pace + stall_s + lag_s) + rate() * restart_s) >
               most_failures_per_interval ||
           (copies && worst * rate() * memory_interval_s * pace > most_failures_per_interval);
}

bool FailureModel::memoryless() const
{
    const auto plain = [this](const Source& s) {
        return !s.planned && s.gaps.family == GapFamily::exponential && s.rate_cv == 0.0 &&
               (spares == enough_spares || s.repair_s == 0.0);
    };
    const bool goes_back = replicas == 1 || !state_in_each;
    return goes_back && lag_s == 0.0 && memory_interval_s == 0.0 && node_cv == 0.0 &&
           std::all_of(sources.begin(), sources.end(), plain);
}

JobSize job_size(const ParallelPlan& plan, int nodes)
{
    const int replica_gpus = plan.tp * plan.cp;  // of each stage
    const int shared = std::max({1, plan.ep * plan.etp / replica_gpus, plan.table_gpus() / replica_gpus});
    const int replicas = std::max(1, plan.dp / shared);
    const bool within =
        plan.sharding == Sharding::none || plan.sharding_gpus() <= plan.gradient_gpus() / replicas;
    return {nodes, plan.gpus(), plan.checkpoint_interval, plan.spares, replicas, replicas > 1 && within};
}

FailureModel failure_model(const Reliability& reliability, const JobSize& job)
{
    FailureModel model;
    const std::vector<Cause> causes = all_causes(reliability);
    for (std::size_t i = 0; i < causes.size(); ++i) {
        const Cause& cause = causes[i];
        const double rate = cause.rate.si * size_factor(cause, job);
        if (rate > 0.0) {
            model.sources.push_back({rate, cause.detection.si, cause.restart.si, cause.repair.si,
                                     cause.repair_cv, cause.memory_kept, cause.planned,
                                     cause.of == RateOf::node || cause.of == RateOf::gpu,
                                     gaps_of_job(cause, job), i, cause.rate_cv});
            set_units(model.sources.back(), cause, job);
        }
    }
    const bool asynchronous = reliability.write == CheckpointWrite::asynchronous;
    model.stall_s = asynchronous ? reliability.snapshot.si : reliability.checkpoint_write.si;
    model.lag_s = asynchronous ? reliability.checkpoint_write.si : 0.0;
    model.memory_interval_s = reliability.memory.interval.si;
    model.pace =
        model.memory_interval_s > 0.0 ? 1.0 + reliability.memory.stall.si / model.memory_interval_s : 1.0;
    model.spares = job.spares == as_configured ? reliability.spares : job.spares;
    model.nodes = job.nodes;
    if (reliability.recovery == Recovery::fewer_replicas && job.nodes > 0) {
        model.replicas = job.replicas;
        model.state_in_each = job.state_in_each;
    }
    set_recovery(model, reliability, causes);
    model.node_cv = job.nodes > 0 ? reliability.node_cv / std::sqrt(job.nodes) : 0.0;
    model.interval_s =
        job.checkpoint_interval.si > 0.0 ? job.checkpoint_interval.si : reliability.checkpoint_interval.si;
    if (model.interval_s == 0.0) {
        model.interval_s = interval_by(reliability.interval_rule, model);
    }
    return model;
}

double interval_by(IntervalRule rule, const FailureModel& model)
{
    const double rate = model.storage_rate();
    return rate > 0.0 ? std::max({shortest_interval_s, model.lag_s, interval_by(rule, rate, model.stall_s)})
                      : std::numeric_limits<double>::infinity();
}

double young_interval(double rate, double stall_s) { return std::sqrt(2.0 * stall_s / rate); }

double daly_interval(double rate, double stall_s)
{
    const double share = 0.5 * stall_s * rate;  // of the mean time between failures
    if (share >= 1.0) {
        return 1.0 / rate;
    }
    return std::sqrt(2.0 * stall_s / rate) * (1.0 + std::sqrt(share) / 3.0 + share / 9.0) - stall_s;
}

double optimal_interval(double rate, double stall_s)
{
    return (1.0 + boost::math::lambert_w0(-std::exp(-1.0 - rate * stall_s))) / rate;
}

double expected_training_time(double productive_s, const FailureModel& model)
{
    if (!std::isfinite(model.interval_s)) {
        return productive_s;
    }
    // No checkpoint after the end: the last interval, whole or in part, is the rest.
    const double intervals = std::max(0.0, std::ceil(productive_s / model.interval_s) - 1.0);
    const double rest = productive_s - intervals * model.interval_s;
    const double length = model.interval_s + model.stall_s;
    const double rate = model.rate();
    if (rate == 0.0 || intervals == 0.0) {  // an interval that no run has may be endless
        return intervals * length + rest;
    }
    const double restarts = 1.0 + exponential_minus_one(rate * mean_of_failures(model, least_restart_of));
    const double attempt = exponential_minus_one(rate * length) * restarts *
                           (1.0 / rate + mean_of_failures(model, detection_of));
    return intervals * attempt + rest;
}

double least_mean_training_time(double productive_s, const FailureModel& model)
{
    if (model.memoryless()) {
        return expected_training_time(productive_s, model);
    }
    // After a planned stop, which has a stall of its own, or a return to a copy in memory the next checkpoint
    // is a whole interval away: with planned stops there are no fewer stalls, with copies there may be.
    const bool regular = model.memory_interval_s == 0.0 && std::isfinite(model.interval_s);
    const double stalls =
        regular ? std::max(0.0, productive_s / model.interval_s - 1.0) * model.stall_s : 0.0;
    double time = productive_s * model.pace + stalls;
    const double running = time;
    for (const FailureModel::Source& source : model.sources) {
        const double restart = source.gaps.family == GapFamily::exponential ? source.least_restart_s() : 0.0;
        // the gap that the run ends in
        const double begun = source.gaps.family == GapFamily::constant ? 1.0 : 0.0;
        time += std::max(0.0, running * source.rate - begun) * (source.detection_s + restart);
    }
    return time;
}

double least_training_time_quantile(double productive_s, const FailureModel& model, double probability)
{
    const double clock_s = productive_s * model.pace;
    FailureModel frequent = model;
    std::erase_if(frequent.sources, [&](const FailureModel::Source& source) {
        return reaches_mean(source, clock_s, model.node_cv) < 2.0 * (1.0 - probability);
    });
    return least_mean_training_time(productive_s, frequent);
}

double first_order_ettr(const FailureModel& model)
{
    return (1.0 - model.rate() * (mean_of_failures(model, down_of) + 0.5 * model.interval_s)) /
           (1.0 + model.stall_s / model.interval_s);
}

}  // namespace prismopt
