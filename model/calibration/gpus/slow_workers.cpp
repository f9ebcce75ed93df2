#include "model/calibration/gpus/slow_workers.hpp"

#include "model/base/median.hpp"
#include "model/calibration/fit/effect_spread.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/fit/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace prismopt {

namespace {

/// Values of the usual ones about the means of their stages.
struct UsualValues {
    std::vector<double> about_mean;
    double variance = 0.0;  // without that of their errors
};

UsualValues usual_values(const WorkerPeers& peers, const std::vector<Outlier>& slow)
{
    std::vector<char> is_slow(peers.values.size(), 0);
    for (const Outlier& outlier : slow) {
        is_slow[outlier.index] = 1;
    }
    const auto usual_count = static_cast<double>(peers.values.size() - slow.size());
    std::map<int, std::vector<double>> by_stage;
    double noise = 0.0;
    for (std::size_t i = 0; i < peers.values.size(); ++i) {
        if (is_slow[i] == 0) {
            by_stage[peers.stages[i]].push_back(peers.values[i]);
            noise += peers.errors[i] * peers.errors[i] / usual_count;
        }
    }
    UsualValues usual;
    double squares = 0.0;
    double freedom = 0.0;
    for (const auto& [stage, values] : by_stage) {
        const double mean = mean_of(values);
        for (const double value : values) {
            usual.about_mean.push_back(value - mean);
            squares += (value - mean) * (value - mean);
        }
        freedom += static_cast<double>(values.size() - 1);
    }
    if (freedom > 0.0) {
        usual.variance = std::max(0.0, squares / freedom - noise);
    }
    return usual;
}

/// A stage and the mean duration of its median worker.
struct StageMean {
    int stage;
    double seconds;
};

/// Mean durations of the stages' compute operations with a microbatch, by kind.
std::map<int, std::vector<StageMean>> stage_means(const Trace& trace)
{
    struct Sum {
        double seconds = 0.0;
        double count = 0.0;
    };
    std::map<std::pair<int, std::int32_t>, Sum> sums;  // kind, worker
    for (const TraceOp& op : trace.ops) {
        if (op.microbatch >= 0 && trace.kinds[op.kind].role == OpRole::compute) {
            Sum& sum = sums[{op.kind, op.worker}];
            sum.seconds += static_cast<double>(op.duration_s);
            sum.count += 1.0;
        }
    }
    std::map<std::pair<int, int>, std::vector<double>> worker_means;  // kind, stage
    for (const auto& [key, sum] : sums) {
        const TraceWorker worker = trace.workers[static_cast<std::size_t>(key.second)];
        worker_means[{key.first, worker.stage}].push_back(sum.seconds / sum.count);
    }
    std::map<int, std::vector<StageMean>> by_kind;
    for (const auto& [key, means] : worker_means) {
        by_kind[key.first].push_back({key.second, median_of(means)});
    }
    return by_kind;
}

}  // namespace

std::string gpu_name(const NamedWorkers& named, std::size_t worker)
{
    const TraceWorker place = named.workers[worker];
    if (named.have_stages) {
        return "GPU of dp " + std::to_string(place.dp) + ", stage " + std::to_string(place.stage);
    }
    return "GPU of rank " + std::to_string(place.dp);
}

WorkerPeers peers_of(const WorkerTimes& times, const std::vector<TraceWorker>& workers)
{
    std::map<int, std::vector<double>> by_stage;
    for (std::size_t w = 0; w < times.effects.size(); ++w) {
        if (std::isfinite(times.effects[w])) {
            by_stage[workers[w].stage].push_back(times.effects[w]);
        }
    }
    WorkerPeers peers;
    for (std::size_t w = 0; w < times.effects.size(); ++w) {
        if (std::isfinite(times.effects[w])) {
            const int stage = workers[w].stage;
            peers.values.push_back(times.effects[w] - median_of(by_stage[stage]));
            peers.errors.push_back(times.errors[w]);
            peers.workers.push_back(w);
            peers.stages.push_back(stage);
        }
    }
    return peers;
}

ThrottlingWorkers throttling_workers(const StepEffects& steps, const NamedWorkers& named)
{
    std::vector<std::vector<double>> logs;
    std::vector<std::size_t> workers;
    for (std::size_t w = 0; w < steps.workers.size(); ++w) {
        if (!steps.workers[w].empty()) {
            logs.push_back(steps.workers[w]);
            workers.push_back(w);
        }
    }
    ThrottlingWorkers result;
    SlowMode& slow = result.steps;
    for (const SometimesSlow& found : sometimes_slow(logs)) {
        const std::size_t worker = workers[found.index];
        result.gpus.push_back({gpu_name(named, worker), found.share, found.excess});
        result.workers.push_back(worker);
        const double share = found.share / static_cast<double>(logs.size());
        slow.excess = (slow.excess * slow.probability + found.excess * share) / (slow.probability + share);
        slow.probability += share;
    }
    return result;
}

std::vector<std::int32_t> workers_to_exclude(const WorkerPeers& peers,
                                             const std::vector<std::size_t>& throttling)
{
    std::set<std::size_t> slow(throttling.begin(), throttling.end());
    for (const Outlier& outlier : outliers(peers.values, peers.errors)) {
        slow.insert(peers.workers[outlier.index]);
    }
    std::map<int, std::size_t> usual;  // by stage
    for (std::size_t i = 0; i < peers.workers.size(); ++i) {
        usual[peers.stages[i]] += slow.contains(peers.workers[i]) ? 0 : 1;
    }
    const bool stages_stay =
        std::all_of(usual.begin(), usual.end(), [](const auto& stage) { return stage.second > 0; });
    if (!stages_stay || 2 * slow.size() > peers.workers.size()) {
        return {};
    }
    return {slow.begin(), slow.end()};
}

std::optional<SlowGpus> slow_gpus(const WorkerPeers& peers, const NamedWorkers& named,
                                  const std::string& source)
{
    const std::vector<Outlier> found = outliers(peers.values, peers.errors);
    if (found.empty()) {
        return std::nullopt;
    }
    SlowGpus result;
    std::vector<double> slow;
    for (const Outlier& outlier : found) {
        const double value = peers.values[outlier.index];
        slow.push_back(value);
        result.named.push_back(
            {gpu_name(named, peers.workers[outlier.index]), std::expm1(value), outlier.probability});
    }
    const UsualValues usual = usual_values(peers, found);
    result.fit = distribution_with_slow(with_variance(usual.about_mean, usual.variance), slow, source);
    result.share = slow_share("gpu", slow.size(), peers.values.size(), result.fit.distribution.slow.excess);
    return result;
}

std::vector<SlowUnit> long_stages(const Trace& trace)
{
    constexpr double longer = 0.05;          // less is how layers divide
    constexpr std::size_t least_stages = 3;  // of two nobody knows which is the usual one
    std::vector<SlowUnit> found;
    for (const auto& [kind, stages] : stage_means(trace)) {
        if (stages.size() < least_stages) {
            continue;
        }
        std::vector<double> means;
        for (const StageMean& mean : stages) {
            means.push_back(mean.seconds);
        }
        const double median = median_of(means);
        for (const StageMean& mean : stages) {
            if (mean.seconds > (1.0 + longer) * median) {
                const std::string& kind_name = trace.kinds[static_cast<std::size_t>(kind)].name;
                found.push_back({"stage " + std::to_string(mean.stage) + ", " + kind_name,
                                 mean.seconds / median - 1.0, 0.0});
            }
        }
    }
    return found;
}

}  // namespace prismopt
