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
#include <tuple>
#include <utility>

namespace prismopt {

namespace {

/// One measured duration. A collective's is recorded by all its members, and taken once.
struct Duration {
    std::int32_t step;
    std::uint16_t kind;
    int place;  // worker; of collectives the stage
    int sequence;
    double seconds;
};

/// What is left of a duration, and the part of its variance that is: means take some of it away.
struct Rest {
    std::int32_t step;
    std::uint16_t kind;
    int cell;
    double log;
    double left;
};

/// What is left of all operations of a kind.
struct KindFactors {
    std::size_t signature;
    KernelClass kernel;
    std::vector<double> factors;
};

class OperationPool {
public:
    OperationPool(const Trace& trace, bool with_components) : trace_(trace), with_components_(with_components) {}

    OperationDistributions make()
    {
        one_step_ = trace_.ops.empty() || trace_.ops.front().step == trace_.ops.back().step;
        result_.positions_alike = one_step_ && !replicas();
        std::vector<std::vector<Duration>> by_kind = read();
        std::vector<Rest> communication;
        for (std::vector<Duration>& durations : by_kind) {
            if (!durations.empty()) {
                add_kind(durations, communication);
            }
        }
        take_shared_steps(communication);
        pool_kinds();
        return result_;
    }

private:
    /// Whether several workers do the same work.
    bool replicas() const
    {
        std::map<int, std::set<std::int32_t>> of_stage;
        for (const TraceOp& op : trace_.ops) {
            of_stage[trace_.workers[static_cast<std::size_t>(op.worker)].stage].insert(op.worker);
        }
        return std::any_of(of_stage.begin(), of_stage.end(), [](const auto& stage) { return stage.second.size() > 1; });
    }

    std::vector<std::vector<Duration>> read() const
    {
        std::vector<std::vector<Duration>> by_kind(trace_.kinds.size());
        std::int32_t step = 0;
        std::vector<std::tuple<int, int, int>> seen;  // kind, stage, sequence of the step's collectives
        for (const TraceOp& op : trace_.ops) {
            const OpRole role = trace_.kinds[op.kind].role;
            if ((with_components_ && role == OpRole::compute && op.microbatch >= 0) || role == OpRole::receive) {
                continue;  // with the components; with the send
            }
            if (op.step != step) {
                step = op.step;
                seen.clear();
            }
            const int stage = trace_.workers[static_cast<std::size_t>(op.worker)].stage;
            if (role == OpRole::collective) {
                const std::tuple<int, int, int> key{op.kind, stage, op.sequence};
                const auto place = std::lower_bound(seen.begin(), seen.end(), key);
                if (place != seen.end() && *place == key) {
                    continue;  // another member's record of the same
                }
                seen.insert(place, key);
            }
            if (op.duration_s > 0.0F) {
                // Workers' own means need several steps; in one alone the replicas tell the spread.
                const int place = role == OpRole::collective || one_step_ ? stage : op.worker;
                by_kind[op.kind].push_back({op.step, op.kind, place, op.sequence, static_cast<double>(op.duration_s)});
            }
        }
        return by_kind;
    }

    void add_kind(std::vector<Duration>& durations, std::vector<Rest>& communication)
    {
        const OpKind& kind = trace_.kinds[durations.front().kind];
        Signature signature;
        signature.name = kind.name;
        signature.kernel = kind.kernel;
        if (kind.role == OpRole::send) {
            signature.waiting = take_waiting(durations);
        }
        std::vector<double> logs;
        for (const Duration& d : durations) {
            signature.mean_s += d.seconds / static_cast<double>(durations.size());
            logs.push_back(std::log(d.seconds));
        }
        signature.spread = durations.size() > 1 ? std::sqrt(variance_of(logs)) : 0.0;
        std::vector<Rest> rests = rests_of(durations);
        result_.signatures.push_back(signature);
        signature_of_[durations.front().kind] = result_.signatures.size() - 1;
        if (kind.role != OpRole::compute) {
            communication.insert(communication.end(), rests.begin(), rests.end());
            return;
        }
        if (by_step(rests)) {
            take_steps(rests);
        }
        const bool once = std::all_of(durations.begin(), durations.end(), [](const Duration& d) { return d.sequence == 0; });
        if (once) {
            for_outer_classes(kind.kernel, [&](KernelClass outer) {
                std::string& special = result_.special[static_cast<std::size_t>(outer)];
                special += (special.empty() ? "" : ", ") + kind.name;
            });
        }
        keep(rests, !once);
    }

    /// Logarithms less the mean of their position.
    std::vector<Rest> rests_of(const std::vector<Duration>& durations) const
    {
        std::vector<std::int64_t> keys;
        std::vector<double> logs;
        for (const Duration& d : durations) {
            keys.push_back((static_cast<std::int64_t>(d.place) << 32) + (result_.positions_alike ? 0 : d.sequence));
            logs.push_back(std::log(d.seconds));
        }
        const Partition cells = partition_by(keys);
        const std::vector<double> means = part_means(cells, logs);
        std::vector<double> sizes(means.size(), 0.0);
        for (const int cell : cells.level) {
            sizes[static_cast<std::size_t>(cell)] += 1.0;
        }
        std::vector<Rest> rests;
        for (std::size_t i = 0; i < durations.size(); ++i) {
            const auto cell = static_cast<std::size_t>(cells.level[i]);
            rests.push_back(
                {durations[i].step, durations[i].kind, cells.level[i], logs[i] - means[cell], 1.0 - 1.0 / sizes[cell]});
        }
        return rests;
    }

    static Partition steps_of_rests(const std::vector<Rest>& rests)
    {
        std::vector<std::int64_t> steps(rests.size());
        std::transform(rests.begin(), rests.end(), steps.begin(), [](const Rest& rest) { return rest.step; });
        return partition_by(steps);
    }

    /// Whether the means of steps vary more than the operations within them do by themselves: the F test at 1 %.
    static bool by_step(const std::vector<Rest>& rests)
    {
        const Partition steps = steps_of_rests(rests);
        double cells = 0.0;
        std::vector<double> logs;
        for (const Rest& rest : rests) {
            cells = std::max(cells, rest.cell + 1.0);
            logs.push_back(rest.log);
        }
        const std::vector<double> means = part_means(steps, logs);
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

    /// Subtracts the steps' means; each kind's operations weigh by what they vary within a step.
    static void take_steps(std::vector<Rest>& rests)
    {
        const Partition steps = steps_of_rests(rests);
        std::map<std::uint16_t, double> weights;
        for (const Rest& rest : rests) {
            weights[rest.kind] = 1.0;
        }
        std::vector<double> effects;
        std::vector<double> totals;
        for (int pass = 0; pass < 2; ++pass) {  // the variances need effects, the effects variances
            effects.assign(static_cast<std::size_t>(steps.levels), 0.0);
            totals.assign(effects.size(), 0.0);
            for (std::size_t i = 0; i < rests.size(); ++i) {
                const auto step = static_cast<std::size_t>(steps.level[i]);
                effects[step] += weights[rests[i].kind] * rests[i].log;
                totals[step] += weights[rests[i].kind];
            }
            std::map<std::uint16_t, std::pair<double, double>> squares;
            for (std::size_t i = 0; i < rests.size(); ++i) {
                const auto step = static_cast<std::size_t>(steps.level[i]);
                const double rest = rests[i].log - effects[step] / totals[step];
                squares[rests[i].kind].first += rest * rest;
                squares[rests[i].kind].second += 1.0;
            }
            for (const auto& [kind, square] : squares) {
                constexpr double least = 1e-12;  // a kind without any spread
                weights[kind] = pass == 0 ? 1.0 / std::max(least, square.first / square.second) : weights[kind];
            }
        }
        for (std::size_t i = 0; i < rests.size(); ++i) {
            const auto step = static_cast<std::size_t>(steps.level[i]);
            rests[i].log -= effects[step] / totals[step];
            rests[i].left -= weights[rests[i].kind] / totals[step];
        }
    }

    /// As factors, with the variance that the means took given back.
    void keep(const std::vector<Rest>& rests, bool in_class)
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
        if (rests.empty() || factors.empty()) {
            return;
        }
        Signature& signature = result_.signatures[signature_of_.at(rests.front().kind)];
        signature.fit = fit_distribution(factors, "");
        signature.own = logs.size() > 1 ? std::sqrt(variance_of(logs)) : 0.0;
        signature.in_class = in_class;
        kinds_.push_back({signature_of_.at(rests.front().kind), trace_.kinds[rests.front().kind].kernel, std::move(factors)});
    }

    /// The distributions of the classes: of the kinds that take their time.
    void pool_kinds()
    {
        std::array<double, kernel_classes> class_s{};  // of outermost classes
        const auto time_s = [&](const KindFactors& kind) {
            return result_.signatures[kind.signature].mean_s * static_cast<double>(kind.factors.size());
        };
        for (const KindFactors& kind : kinds_) {
            class_s[static_cast<std::size_t>(outermost(kind.kernel))] += time_s(kind);
        }
        for (const KindFactors& kind : kinds_) {
            constexpr double minor = 0.01;
            bool& in_class = result_.signatures[kind.signature].in_class;
            in_class = in_class && time_s(kind) >= minor * class_s[static_cast<std::size_t>(outermost(kind.kernel))];
            if (in_class) {
                add_to_pools(kind.kernel, kind.factors, result_.pools);
            }
        }
    }

    /// Removes what waits for the other end.
    static double take_waiting(std::vector<Duration>& durations)
    {
        std::vector<double> seconds(durations.size());
        std::transform(durations.begin(), durations.end(), seconds.begin(), [](const Duration& d) { return d.seconds; });
        const double threshold = waiting_threshold(seconds);
        const auto waits = [&](const Duration& d) { return d.seconds > threshold; };
        const std::size_t before = durations.size();
        durations.erase(std::remove_if(durations.begin(), durations.end(), waits), durations.end());
        return 1.0 - static_cast<double>(durations.size()) / static_cast<double>(before);
    }

    void take_shared_steps(std::vector<Rest>& communication)
    {
        if (communication.size() > 1) {
            communication_components(communication);
            if (result_.communication.front().present) {
                take_steps(communication);
            }
        }
        for (auto begin = communication.begin(); begin != communication.end();) {  // kinds lie together
            const auto end = std::find_if(begin, communication.end(), [&](const Rest& r) { return r.kind != begin->kind; });
            keep({begin, end}, true);
            begin = end;
        }
    }

    /// The part that transfers and collectives of one step share.
    void communication_components(const std::vector<Rest>& rests)
    {
        std::vector<double> y;
        std::vector<std::int64_t> cell;
        for (const Rest& rest : rests) {
            y.push_back(rest.log);
            cell.push_back((static_cast<std::int64_t>(rest.kind) << 32) + rest.cell);
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
        for (int& level : model.blocks.level) {
            level = steps.levels > blocks ? static_cast<int>(static_cast<std::int64_t>(level) * blocks / steps.levels) : level;
        }
        model.blocks.levels = std::min(blocks, steps.levels);
        result_.communication = variance_components(model);
        if (!result_.communication.back().unknown.empty()) {  // one operation a step: all is the step's, or all its own
            result_.communication.front() = result_.communication.back();
            result_.communication.front().name = "step";
        }
    }

    const Trace& trace_;
    bool with_components_;
    bool one_step_ = false;
    OperationDistributions result_;
    std::map<std::uint16_t, std::size_t> signature_of_;
    std::vector<KindFactors> kinds_;
};

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
    constexpr std::size_t least = 5;  // fewer say nothing of a spread
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
    return OperationPool(trace, with_components).make();
}

}  // namespace prismopt
