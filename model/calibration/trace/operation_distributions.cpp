#include "model/calibration/trace/operation_distributions.hpp"

#include "model/base/statistics.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/trace/waiting.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace prismopt {

namespace {

/// One measured duration. A collective's is recorded by all its members, and taken once.
struct Duration {
    std::int32_t step;
    int place;  // worker; of collectives the stage
    int sequence;
    double seconds;
};

/// What is left of a duration, and the part of its variance that is: means take some of it away.
struct Rest {
    std::int32_t step;
    std::size_t signature;  // of its kind
    int cell;
    double log;
    double left;
};

/// What is left of all operations of a kind.
struct KindFactors {
    std::size_t signature;
    std::vector<double> factors;
};

bool is_one_step(const Trace& trace)
{
    return trace.ops.empty() || trace.ops.front().step == trace.ops.back().step;
}

/// Whether several workers do the same work.
bool has_replicas(const Trace& trace)
{
    std::map<int, std::set<std::int32_t>> of_stage;
    for (const TraceOp& op : trace.ops) {
        of_stage[trace.workers[static_cast<std::size_t>(op.worker)].stage].insert(op.worker);
    }
    return std::any_of(of_stage.begin(), of_stage.end(),
                       [](const auto& stage) { return stage.second.size() > 1; });
}

/// The durations of each kind. Excludes receives, which are with the sends, and
/// `with_components` the compute of microbatches.
std::vector<std::vector<Duration>> read_durations(const Trace& trace, bool with_components)
{
    const bool one_step = is_one_step(trace);
    std::vector<std::vector<Duration>> by_kind(trace.kinds.size());
    std::int32_t step = 0;
    std::vector<std::tuple<int, int, int>> seen;  // kind, stage, sequence of the step's collectives
    for (const TraceOp& op : trace.ops) {
        const OpRole role = trace.kinds[op.kind].role;
        const bool in_components = with_components && role == OpRole::compute && op.microbatch >= 0;
        if (in_components || role == OpRole::receive) {
            continue;
        }
        if (op.step != step) {
            step = op.step;
            seen.clear();
        }
        const int stage = trace.workers[static_cast<std::size_t>(op.worker)].stage;
        if (role == OpRole::collective) {
            const std::tuple<int, int, int> key{op.kind, stage, op.sequence};
            const auto place = std::lower_bound(seen.begin(), seen.end(), key);
            if (place != seen.end() && *place == key) {
                continue;  // another member's record of the same
            }
            seen.insert(place, key);
        }
        if (op.duration_s > 0.0F) {
            // Workers' own means need several steps; in one alone the replicas show the spread.
            const int place = role == OpRole::collective || one_step ? stage : op.worker;
            by_kind[op.kind].push_back({op.step, place, op.sequence, static_cast<double>(op.duration_s)});
        }
    }
    return by_kind;
}

/// Removes the durations that include waiting for the other end; returns their share.
double remove_waiting(std::vector<Duration>& durations)
{
    std::vector<double> seconds(durations.size());
    std::transform(durations.begin(), durations.end(), seconds.begin(),
                   [](const Duration& d) { return d.seconds; });
    const double threshold = waiting_threshold(seconds);
    const std::size_t before = durations.size();
    std::erase_if(durations, [&](const Duration& d) { return d.seconds > threshold; });
    return 1.0 - static_cast<double>(durations.size()) / static_cast<double>(before);
}

/// A kind's durations as they are, before any fit.
Signature signature_of(const OpKind& kind, const std::vector<Duration>& durations)
{
    Signature signature;
    signature.name = kind.name;
    signature.kernel = kind.kernel;
    std::vector<double> logs;
    for (const Duration& d : durations) {
        signature.mean_s += d.seconds / static_cast<double>(durations.size());
        logs.push_back(std::log(d.seconds));
    }
    signature.spread = durations.size() > 1 ? std::sqrt(variance_of(logs)) : 0.0;
    return signature;
}

/// Logarithms less the mean of their position, or of all positions of a worker if these are equal.
std::vector<Rest> rests_of(const std::vector<Duration>& durations, std::size_t signature,
                           bool equal_positions)
{
    std::vector<std::int64_t> keys;
    std::vector<double> logs;
    for (const Duration& d : durations) {
        const int sequence = equal_positions ? 0 : d.sequence;
        keys.push_back((static_cast<std::int64_t>(d.place) << 32) + sequence);
        logs.push_back(std::log(d.seconds));
    }
    const Partition cells = partition_by(keys);
    const std::vector<double> means = level_means(cells, logs);
    std::vector<double> sizes(means.size(), 0.0);
    for (const int cell : cells.level) {
        sizes[static_cast<std::size_t>(cell)] += 1.0;
    }
    std::vector<Rest> rests;
    for (std::size_t i = 0; i < durations.size(); ++i) {
        const auto cell = static_cast<std::size_t>(cells.level[i]);
        rests.push_back({.step = durations[i].step,
                         .signature = signature,
                         .cell = cells.level[i],
                         .log = logs[i] - means[cell],
                         .left = 1.0 - 1.0 / sizes[cell]});
    }
    return rests;
}

Partition steps_of_rests(const std::vector<Rest>& rests)
{
    std::vector<std::int64_t> steps(rests.size());
    std::transform(rests.begin(), rests.end(), steps.begin(), [](const Rest& rest) { return rest.step; });
    return partition_by(steps);
}

/// Whether the means of steps vary more than the operations within them do by themselves: the F test at 1 %.
bool steps_differ(const std::vector<Rest>& rests)
{
    const Partition steps = steps_of_rests(rests);
    double cells = 0.0;
    std::vector<double> logs;
    for (const Rest& rest : rests) {
        cells = std::max(cells, rest.cell + 1.0);
        logs.push_back(rest.log);
    }
    const std::vector<double> means = level_means(steps, logs);
    double between = 0.0;
    double within = 0.0;
    for (std::size_t i = 0; i < rests.size(); ++i) {
        const double mean = means[static_cast<std::size_t>(steps.level[i])];
        between += mean * mean;
        within += (logs[i] - mean) * (logs[i] - mean);
    }
    const double freedom = steps.levels - 1.0;
    const double freedom_within = static_cast<double>(rests.size()) - cells - freedom;
    if (freedom < 1.0 || freedom_within < 1.0) {
        return false;
    }
    return between / freedom > within / freedom_within * fisher_limit(freedom, freedom_within, 0.01);
}

/// Sums over the operations of a step.
struct StepSums {
    double logs = 0.0;  // weighted
    double weights = 0.0;

    double mean() const { return logs / weights; }
};

/// `weights`: by kind.
std::vector<StepSums> sums_by_step(const std::vector<Rest>& rests, const Partition& steps,
                                   const std::map<std::size_t, double>& weights)
{
    std::vector<StepSums> sums(static_cast<std::size_t>(steps.levels));
    for (std::size_t i = 0; i < rests.size(); ++i) {
        StepSums& sum = sums[static_cast<std::size_t>(steps.level[i])];
        const double weight = weights.at(rests[i].signature);
        sum.logs += weight * rests[i].log;
        sum.weights += weight;
    }
    return sums;
}

/// The inverse of each kind's variance within a step.
std::map<std::size_t, double> precisions(const std::vector<Rest>& rests, const Partition& steps,
                                         const std::vector<StepSums>& sums)
{
    constexpr double least = 1e-12;  // a kind without any spread
    struct Squares {
        double sum = 0.0;
        double count = 0.0;
    };
    std::map<std::size_t, Squares> squares;
    for (std::size_t i = 0; i < rests.size(); ++i) {
        const double rest = rests[i].log - sums[static_cast<std::size_t>(steps.level[i])].mean();
        Squares& of_kind = squares[rests[i].signature];
        of_kind.sum += rest * rest;
        of_kind.count += 1.0;
    }
    std::map<std::size_t, double> weights;
    for (const auto& [signature, of_kind] : squares) {
        weights[signature] = 1.0 / std::max(least, of_kind.sum / of_kind.count);
    }
    return weights;
}

/// Subtracts the steps' means; each kind's operations weigh by what they vary within a step.
void subtract_steps(std::vector<Rest>& rests)
{
    const Partition steps = steps_of_rests(rests);
    std::map<std::size_t, double> weights;
    for (const Rest& rest : rests) {
        weights[rest.signature] = 1.0;
    }
    // The variances need means of steps, these the variances: means of equal weights come first.
    weights = precisions(rests, steps, sums_by_step(rests, steps, weights));
    const std::vector<StepSums> sums = sums_by_step(rests, steps, weights);
    for (std::size_t i = 0; i < rests.size(); ++i) {
        const StepSums& sum = sums[static_cast<std::size_t>(steps.level[i])];
        rests[i].log -= sum.mean();
        rests[i].left -= weights.at(rests[i].signature) / sum.weights;
    }
}

/// Adds the remainder of a kind as factors, with the variance that the means took given back, and
/// its fit to the kind's signature.
void add_factors(std::span<const Rest> rests, bool in_class, std::vector<Signature>& signatures,
                 std::vector<KindFactors>& kinds)
{
    constexpr double least = 0.2;  // less left is mostly rounding
    std::vector<double> factors;
    std::vector<double> logs;
    for (const Rest& rest : rests) {
        if (rest.left > least) {
            logs.push_back(rest.log / std::sqrt(rest.left));
            factors.push_back(std::exp(logs.back()));
        }
    }
    if (factors.empty()) {
        return;
    }
    Signature& signature = signatures[rests.front().signature];
    signature.fit = fit_distribution(factors, "");
    signature.own = logs.size() > 1 ? std::sqrt(variance_of(logs)) : 0.0;
    signature.in_class = in_class;
    kinds.push_back({rests.front().signature, std::move(factors)});
}

/// Names a kind that occurs once per step in all classes that it is within.
void add_special(const OpKind& kind, std::array<std::string, kernel_classes>& special)
{
    for_outer_classes(kind.kernel, [&](KernelClass outer) {
        std::string& names = special[static_cast<std::size_t>(outer)];
        if (!names.empty()) {
            names += ", ";
        }
        names += kind.name;
    });
}

/// The part that transfers and collectives of one step share.
std::vector<Component> communication_components(const std::vector<Rest>& rests)
{
    std::vector<double> y;
    std::vector<std::int64_t> cell;
    for (const Rest& rest : rests) {
        y.push_back(rest.log);
        cell.push_back((static_cast<std::int64_t>(rest.signature) << 32) + rest.cell);
    }
    const Partition steps = steps_of_rests(rests);
    Partition each{std::vector<int>(y.size()), static_cast<int>(y.size())};
    std::iota(each.level.begin(), each.level.end(), 0);
    enum Index { one, cells, in_step, single };
    ComponentModel model{y,
                         {Partition{std::vector<int>(y.size(), 0), 1}, partition_by(cell), steps, each},
                         {{"step", in_step, {{1.0, in_step, one}}},
                          {"residual", single, {{1.0, single, cells}, {-1.0, in_step, one}}}},
                         {}};
    constexpr int blocks = 20;
    model.blocks = steps;
    if (steps.levels > blocks) {
        for (int& level : model.blocks.level) {
            level = static_cast<int>(static_cast<std::int64_t>(level) * blocks / steps.levels);
        }
    }
    model.blocks.levels = std::min(blocks, steps.levels);
    std::vector<Component> components = variance_components(model);
    if (components.back().unknown) {  // one operation a step: all is the step's, or all its own
        components.front() = components.back();
        components.front().name = "step";
    }
    return components;
}

/// Adds the factors of transfers and collectives, whose kinds lie together, without what one step shares.
void add_communication(std::vector<Rest> rests, OperationDistributions& result,
                       std::vector<KindFactors>& kinds)
{
    if (rests.size() > 1) {
        result.communication = communication_components(rests);
        if (result.communication.front().present) {
            subtract_steps(rests);
        }
    }
    for (auto begin = rests.cbegin(); begin != rests.cend();) {
        const std::size_t signature = begin->signature;
        const auto end =
            std::find_if(begin, rests.cend(), [&](const Rest& r) { return r.signature != signature; });
        add_factors({begin, end}, true, result.signatures, kinds);
        begin = end;
    }
}

/// The distributions of the classes: of the kinds that take their time. The
/// others are no longer in their class.
ClassPools pool_kinds(const std::vector<KindFactors>& kinds, std::vector<Signature>& signatures)
{
    constexpr double minor = 0.01;
    std::array<double, kernel_classes> class_s{};  // of outermost classes
    const auto time_s = [&](const KindFactors& kind) {
        return signatures[kind.signature].mean_s * static_cast<double>(kind.factors.size());
    };
    const auto outermost_class = [&](const KindFactors& kind) {
        return static_cast<std::size_t>(outermost(*signatures[kind.signature].kernel));
    };
    for (const KindFactors& kind : kinds) {
        class_s[outermost_class(kind)] += time_s(kind);
    }
    ClassPools pools;
    for (const KindFactors& kind : kinds) {
        Signature& signature = signatures[kind.signature];
        signature.in_class = signature.in_class && time_s(kind) >= minor * class_s[outermost_class(kind)];
        if (signature.in_class) {
            add_to_pools(*signature.kernel, kind.factors, pools);
        }
    }
    return pools;
}

}  // namespace

void add_to_pools(KernelClass kernel, std::span<const double> factors, ClassPools& pools)
{
    for_outer_classes(kernel, [&](KernelClass outer) {
        std::vector<double>& pool = pools[static_cast<std::size_t>(outer)];
        pool.insert(pool.end(), factors.begin(), factors.end());
    });
}

bool has_own_distribution(KernelClass kernel, const ClassPools& pools)
{
    constexpr std::size_t least = 5;  // fewer carry no information about a spread
    const KernelClass outer = row_of(kernel).within;
    std::vector<double> own = pools[static_cast<std::size_t>(kernel)];
    if (own.size() < least || outer == kernel) {
        return own.size() >= least;
    }
    std::vector<double> all = pools[static_cast<std::size_t>(outer)];
    std::sort(own.begin(), own.end());
    std::sort(all.begin(), all.end());
    std::vector<double> others;
    std::set_difference(all.begin(), all.end(), own.begin(), own.end(), std::back_inserter(others));
    if (others.size() < least) {
        return false;
    }
    const auto n = static_cast<double>(own.size());
    const auto m = static_cast<double>(others.size());
    constexpr double chance = 0.01;
    return ks_probability(ks_distance(own, others), n * m / (n + m)) < chance;
}

OperationDistributions operation_distributions(const Trace& trace, bool with_components)
{
    OperationDistributions result;
    result.equal_positions = is_one_step(trace) && !has_replicas(trace);
    std::vector<std::vector<Duration>> by_kind = read_durations(trace, with_components);
    std::vector<KindFactors> kinds;
    std::vector<Rest> communication;
    for (std::size_t k = 0; k < by_kind.size(); ++k) {
        const OpKind& kind = trace.kinds[k];
        std::vector<Duration>& durations = by_kind[k];
        if (durations.empty()) {
            continue;
        }
        const double waiting = kind.role == OpRole::send ? remove_waiting(durations) : 0.0;
        const std::size_t signature = result.signatures.size();
        result.signatures.push_back(signature_of(kind, durations));
        result.signatures.back().waiting = waiting;
        std::vector<Rest> rests = rests_of(durations, signature, result.equal_positions);
        if (kind.role != OpRole::compute) {
            communication.insert(communication.end(), rests.begin(), rests.end());
            continue;
        }
        if (steps_differ(rests)) {
            subtract_steps(rests);
        }
        const bool once = std::all_of(durations.begin(), durations.end(),
                                      [](const Duration& d) { return d.sequence == 0; });
        if (once) {
            add_special(kind, result.special);
        }
        add_factors(rests, !once, result.signatures, kinds);
    }
    add_communication(std::move(communication), result, kinds);
    result.pools = pool_kinds(kinds, result.signatures);
    return result;
}

}  // namespace prismopt
