#include "model/calibration/trace/predicted_steps.hpp"

#include "model/base/random.hpp"
#include "model/base/statistics.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace prismopt {

namespace {

/// Neighbouring steps that the jackknife leaves out together: as many blocks as it makes groups.
Partition blocks_of(const std::vector<std::int64_t>& steps, std::size_t count)
{
    constexpr std::size_t most_blocks = 20;
    const std::size_t blocks = std::min(most_blocks, count);
    Partition result{std::vector<int>(steps.size()), static_cast<int>(blocks)};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        result.level[i] = static_cast<int>(static_cast<std::size_t>(steps[i]) * blocks / count);
    }
    return result;
}

/// The part of the means of an effect that is the effect's own: the rest is noise of what is averaged. None where the component
/// may as well be zero.
double shrinkage(const Component& component, const std::vector<double>& means)
{
    const double seen = variance_of(means);
    return seen > 0.0 && component.low > 0.0 ? std::sqrt(std::min(1.0, component.variance / seen)) : 0.0;
}

/// Whether one variance is larger than another beyond chance, at 1 %: the F test, with so many degrees of freedom.
bool significant(double larger, double smaller, double freedom, double freedom_of_smaller)
{
    if (!(larger > 0.0) || freedom < 1.0 || freedom_of_smaller < 1.0) {
        return false;
    }
    return larger > smaller * fisher_limit(freedom, freedom_of_smaller, 0.01);
}

class PartsMaker {
public:
    PartsMaker(const Trace& trace, const StepGraph& graph, const std::vector<std::int32_t>& left_out)
        : trace_(trace), graph_(graph), steps_(graph.steps.size())
    {
        for (std::size_t slot = 0; slot < graph.slots.size(); ++slot) {
            const StepSlot& s = graph.slots[slot];
            const bool counts = !std::binary_search(left_out.begin(), left_out.end(), s.worker);
            if (counts && s.microbatch >= 0 && trace.kinds[static_cast<std::size_t>(s.kind)].role == OpRole::compute) {
                parts_.slots.push_back(static_cast<int>(slot));
            }
        }
    }

    ComputeParts make()
    {
        if (parts_.slots.empty() || steps_ == 0) {
            return parts_;
        }
        read_slots();
        const Partition steps = partition_by(step_);
        const Partition cells = partition_by(cell_);
        take(cells, 1.0);
        find_exponents(cells);
        parts_.components = variance_components(thinned(component_model(cells)));
        widen_residual();
        take_exponents_of_stages();
        compare_workers();
        take_workers(partition_by(worker_kind_));
        parts_.place.resize(parts_.slots.size());
        for (std::size_t k = 0; k < parts_.slots.size(); ++k) {
            parts_.place[k] = static_cast<float>(taken_[k * steps_]);
        }
        parts_.step_means = part_means(steps, y_);
        const double replica_variance = variance_of(part_means(partition_by(replica_step_), y_));
        for (const double effect : take(steps, shrinkage(parts_.components[0], part_means(steps, y_)))) {
            parts_.step.push_back(static_cast<float>(effect));
        }
        parts_.replicas_together = together(partition_by(replica_step_)) || together(partition_by(stage_step_));
        widen(partition_by(replica_step_), replica_variance - parts_.components[0].variance);
        for (const double rest : y_) {
            parts_.rest.push_back(static_cast<float>(rest));
        }
        keep_effects();
        return parts_;
    }

private:
    /// Kinds and stages whose times grow faster or more slowly with a microbatch than the mean; what that adds to their durations.
    void find_exponents(const Partition& cells)
    {
        const Partition microbatches = partition_by(microbatch_);
        const Partition replicas = partition_by(replica_step_);
        const bool one_microbatch = microbatches.levels == replicas.levels;
        const MicrobatchTimes times{y_, cells, microbatches, one_microbatch ? partition_by(step_) : replicas,
                                    blocks_of(step_, steps_)};
        parts_.exponents = microbatch_exponents(times);
        beyond_.assign(y_.size(), 0.0);
        if (parts_.exponents.empty()) {
            return;
        }
        beyond_ = beyond_exponent_one(times, parts_.exponents);
        for (std::size_t i = 0; i < y_.size(); ++i) {
            MicrobatchExponent& exponent = parts_.exponents[static_cast<std::size_t>(cells.level[i])];
            exponent.kind = static_cast<int>(cell_[i] >> 32);
            exponent.stage = static_cast<int>(stage_[i]);
        }
    }

    /// The effects of microbatches that exponents multiply are estimated from the residuals, too: of C kinds and stages, sum (e - 1)^2 /
    /// sum e^2 of C - 1 degrees of freedom.
    void widen_residual()
    {
        double beyond = 0.0;
        double squares = 0.0;
        for (const MicrobatchExponent& e : parts_.exponents) {
            beyond += (e.exponent - 1.0) * (e.exponent - 1.0);
            squares += e.exponent * e.exponent;
        }
        if (squares > 0.0) {
            const double freedom = static_cast<double>(parts_.exponents.size()) - 1.0;
            Component& residual = parts_.components[4];
            for (double* variance : {&residual.variance, &residual.low, &residual.high}) {
                *variance *= freedom / (freedom - beyond / squares);
            }
        }
    }

    /// Where a stage's exponent is not one, it is longer in the steps in which its microbatches are. This is no effect of the stage: with
    /// n microbatches of variance v, stages with exponents e vary by v / n times the variance of e.
    void take_exponents_of_stages()
    {
        std::map<int, std::vector<double>> of_stage;
        for (const MicrobatchExponent& exponent : parts_.exponents) {
            of_stage[exponent.stage].push_back(exponent.exponent);
        }
        if (of_stage.size() < 2) {
            return;
        }
        std::vector<double> exponents;
        for (const auto& [stage, of_kinds] : of_stage) {
            exponents.push_back(mean_of(of_kinds));
        }
        const double microbatches = static_cast<double>(partition_by(microbatch_).levels) / partition_by(replica_step_).levels;
        const double taken = variance_of(exponents) * parts_.components[3].variance / microbatches;
        Component& stage = parts_.components[2];
        for (double* variance : {&stage.variance, &stage.low, &stage.high}) {
            *variance = std::max(0.0, *variance - taken);
        }
        stage.present = stage.present && stage.low > 0.0;
    }

    /// Microbatches' effects and residuals, from what is left.
    void keep_effects()
    {
        for (std::size_t i = 0; i < y_.size(); ++i) {
            y_[i] -= beyond_[i];
        }
        const Component& component = parts_.components[3];
        const Partition microbatches = partition_by(microbatch_);
        std::vector<double> means = part_means(microbatches, y_);
        const double share = shrinkage(component, means);
        for (const double mean : means) {
            parts_.microbatch_effects.push_back(share * mean);
        }
        if (!parts_.exponents
                 .empty()) {  // the mean microbatch of a replica in a step enters each kind and stage with its exponent
            take(both(partition_by(replica_step_), partition_by(cell_)), 1.0);
            means = part_means(microbatches, y_);
        }
        parts_.residuals = y_;
        const double taken = component.low > 0.0 ? 1.0 : 0.0;
        for (std::size_t i = 0; i < y_.size(); ++i) {
            parts_.residuals[i] -= taken * means[static_cast<std::size_t>(microbatches.level[i])];
        }
        const double seen = variance_of(parts_.residuals);
        const double target = parts_.components[4].variance;
        for (double& residual : parts_.residuals) {
            residual *= seen > 0.0 && target > 0.0 ? std::sqrt(target / seen) : 1.0;
        }
    }

    void read_slots()
    {
        const std::size_t n = parts_.slots.size() * steps_;
        for (auto* keys :
             {&cell_, &stage_, &replica_, &worker_, &worker_kind_, &step_, &replica_step_, &stage_step_, &microbatch_}) {
            keys->resize(n);
        }
        y_.resize(n);
        for (std::size_t k = 0; k < parts_.slots.size(); ++k) {
            const auto slot = static_cast<std::size_t>(parts_.slots[k]);
            const StepSlot& s = graph_.slots[slot];
            const TraceWorker who = trace_.workers[static_cast<std::size_t>(s.worker)];
            const std::int64_t kind = static_cast<std::int64_t>(s.kind) << 32;
            const std::int64_t replica = static_cast<std::int64_t>(who.dp) << 32;
            const std::int64_t in_step = (static_cast<std::int64_t>(who.dp) << 16) + s.microbatch;
            for (std::size_t t = 0; t < steps_; ++t) {
                const std::size_t i = k * steps_ + t;
                const auto time = static_cast<std::int64_t>(t);
                y_[i] = std::log(std::max(1e-9, static_cast<double>(graph_.duration(slot, t))));
                cell_[i] = kind + who.stage;
                stage_[i] = who.stage;
                replica_[i] = who.dp;
                worker_[i] = s.worker;
                worker_kind_[i] = kind + s.worker;
                step_[i] = time;
                replica_step_[i] = replica + time;
                stage_step_[i] = (static_cast<std::int64_t>(s.worker) << 32) + time;
                microbatch_[i] = (in_step << 31) + time;
            }
        }
    }

    /// The analysis of variance of a job. A microbatch is told by how it differs from the others of its replica in the step; a
    /// stage in one step by how it differs from the replica's other stages, less what it always does; where there is but one
    /// stage, or one microbatch, by how the replica differs from the others in the step.
    ComponentModel component_model(const Partition& cells) const
    {
        enum Index { one, cell, stage, replica, worker, step, replica_step, stage_step, microbatch, each, cell_step };
        Partition singles{std::vector<int>(y_.size()), static_cast<int>(y_.size())};
        std::iota(singles.level.begin(), singles.level.end(), 0);
        ComponentModel model;
        model.y = y_;
        for (std::size_t i = 0; i < y_.size(); ++i) {
            model.y[i] -= beyond_[i];
        }
        model.partitions = {Partition{std::vector<int>(y_.size(), 0), 1},
                            cells,
                            partition_by(stage_),
                            partition_by(replica_),
                            partition_by(worker_),
                            partition_by(step_),
                            partition_by(replica_step_),
                            partition_by(stage_step_),
                            partition_by(microbatch_),
                            singles,
                            both(partition_by(replica_step_), cells)};
        const bool stages = model.partitions[stage].levels > 1;
        const bool one_microbatch = model.partitions[microbatch].levels == model.partitions[replica_step].levels;
        const std::vector<SumOfSquares> replica_in_step{
            {1.0, replica_step, one}, {-1.0, replica, one}, {-1.0, step, one}, {1.0, one, one}};
        const std::vector<SumOfSquares> stage_in_step{
            {1.0, stage_step, stage}, {-1.0, worker, stage}, {-1.0, replica_step, one}, {1.0, replica, one}};
        const std::vector<SumOfSquares> microbatch_in_replica{{1.0, microbatch, one}, {-1.0, replica_step, one}};
        const std::vector<SumOfSquares> residual_of_one_exponent{
            {1.0, each, cell}, {-1.0, stage_step, stage}, {-1.0, microbatch, one}, {1.0, replica_step, one}};
        // The mean microbatch of a replica in a step enters each kind and stage with another exponent.
        const std::vector<SumOfSquares> residual_of_exponents{
            {1.0, each, cell}, {-1.0, cell_step, cell}, {-1.0, microbatch, one}, {1.0, replica_step, one}};
        model.effects = {{"step", step, {{1.0, step, one}}},
                         {"gpu", worker, {{1.0, worker, stage}}},
                         {"stage", stage_step, stages ? stage_in_step : replica_in_step},
                         {"microbatch", microbatch, one_microbatch && stages ? replica_in_step : microbatch_in_replica},
                         {"residual", each, parts_.exponents.empty() ? residual_of_one_exponent : residual_of_exponents}};
        model.blocks = blocks_of(step_, steps_);
        return model;
    }

    /// Observations of evenly spaced steps, where there are more than thin_trace leaves: the jackknife looks at them forty times.
    ComponentModel thinned(const ComponentModel& all) const
    {
        constexpr std::size_t most = 500'000;
        const std::size_t every = 1 + all.y.size() / most;
        if (every == 1) {
            return all;
        }
        const auto chosen = [&](const std::vector<int>& level) {
            std::vector<std::int64_t> keys;
            for (std::size_t i = 0; i < level.size(); ++i) {
                if (static_cast<std::size_t>(step_[i]) % every == 0) {
                    keys.push_back(level[i]);
                }
            }
            return partition_by(keys);
        };
        ComponentModel part{{}, {}, all.effects, chosen(all.blocks.level)};
        for (const Partition& parts : all.partitions) {
            part.partitions.push_back(chosen(parts.level));
        }
        for (std::size_t i = 0; i < all.y.size(); ++i) {
            if (static_cast<std::size_t>(step_[i]) % every == 0) {
                part.y.push_back(all.y[i]);
            }
        }
        return part;
    }

    /// Subtracts a part of the group means from y; returns what was subtracted by group.
    std::vector<double> take(const Partition& parts, double share)
    {
        std::vector<double> means = part_means(parts, y_);
        taken_.resize(y_.size(), 0.0);
        for (double& mean : means) {
            mean *= share;
        }
        for (std::size_t i = 0; i < y_.size(); ++i) {
            y_[i] -= means[static_cast<std::size_t>(parts.level[i])];
            taken_[i] += means[static_cast<std::size_t>(parts.level[i])];
        }
        return means;
    }

    /// How each worker differs from its stage, and how sure that is: from how the differences of the steps scatter.
    void compare_workers()
    {
        const Partition workers = partition_by(worker_);
        const Partition in_step = both(workers, partition_by(step_));
        const std::vector<double> means = part_means(workers, y_);
        const std::vector<double> step_means = part_means(partition_by(step_), y_);
        const std::vector<double> in_step_means = part_means(in_step, y_);
        std::vector<char> seen(in_step_means.size(), 0);
        std::vector<std::vector<double>> differences(means.size());
        parts_.worker_effects.assign(trace_.workers.size(), std::numeric_limits<double>::quiet_NaN());
        parts_.worker_errors = parts_.worker_effects;
        for (std::size_t i = 0; i < y_.size(); ++i) {
            const auto cell = static_cast<std::size_t>(in_step.level[i]);
            if (seen[cell] == 0) {
                seen[cell] = 1;
                differences[static_cast<std::size_t>(workers.level[i])].push_back(in_step_means[cell] -
                                                                                  step_means[static_cast<std::size_t>(step_[i])]);
            }
        }
        for (std::size_t i = 0; i < y_.size(); ++i) {
            const auto worker = static_cast<std::size_t>(workers.level[i]);
            const std::vector<double>& d = differences[worker];
            parts_.worker_effects[static_cast<std::size_t>(worker_[i])] = means[worker];
            parts_.worker_errors[static_cast<std::size_t>(worker_[i])] =
                std::sqrt(variance_of(d) / static_cast<double>(d.size()));
            i += steps_ - 1;  // one observation of each operation is enough
        }
    }

    /// Whether microbatches of a replica, or of one of its stages, are alike in a step: whether their means vary more than they
    /// do by themselves.
    bool together(const Partition& groups) const
    {
        const Partition members = both(groups, partition_by(microbatch_));
        const std::vector<double> member = part_means(members, y_);
        const std::vector<double> group = part_means(groups, y_);
        std::vector<int> group_of(member.size());
        for (std::size_t i = 0; i < y_.size(); ++i) {
            group_of[static_cast<std::size_t>(members.level[i])] = groups.level[i];
        }
        double within = 0.0;
        double between = 0.0;
        for (std::size_t m = 0; m < member.size(); ++m) {
            const double mean = group[static_cast<std::size_t>(group_of[m])];
            within += (member[m] - mean) * (member[m] - mean);
            between += mean * mean;
        }
        const double freedom = groups.levels - 1.0;
        const double freedom_within = members.levels - groups.levels;
        return freedom_within < 1.0 || significant(between / freedom, within / freedom_within, freedom, freedom_within);
    }

    /// Stretches the group means to a variance. What was taken as the effect of a step took part of them with it: with few
    /// replicas the mean of a step follows each.
    void widen(const Partition& parts, double variance)
    {
        const std::vector<double> means = part_means(parts, y_);
        const double seen = variance_of(means);
        const double more = seen > 0.0 && variance > seen ? std::sqrt(variance / seen) - 1.0 : 0.0;
        for (std::size_t i = 0; i < y_.size(); ++i) {
            y_[i] += more * means[static_cast<std::size_t>(parts.level[i])];
        }
    }

    /// Workers' effects by kind, shrunk by how well the steps agree on them.
    void take_workers(const Partition& workers)
    {
        std::vector<std::vector<double>> by_step(static_cast<std::size_t>(workers.levels), std::vector<double>(steps_, 0.0));
        std::vector<double> count(by_step.size(), 0.0);
        for (std::size_t i = 0; i < y_.size(); ++i) {
            by_step[static_cast<std::size_t>(workers.level[i])][i % steps_] += y_[i];
            count[static_cast<std::size_t>(workers.level[i])] += 1.0 / static_cast<double>(steps_);
        }
        const std::vector<double> common = step_means(by_step, count);
        double noise = 0.0;
        for (std::size_t w = 0; w < by_step.size(); ++w) {
            for (std::size_t t = 0; t < steps_; ++t) {
                by_step[w][t] = by_step[w][t] / count[w] - common[t];
            }
            noise += variance_of(by_step[w]) / static_cast<double>(steps_ * by_step.size());
        }
        const double seen = variance_of(part_means(workers, y_));
        const auto n = static_cast<double>(by_step.size());
        const bool differ = significant(seen, noise, n - 1.0, n * static_cast<double>(steps_ - 1));
        take(workers, differ ? 1.0 - noise / seen : 0.0);
    }

    std::vector<double> step_means(const std::vector<std::vector<double>>& sums, const std::vector<double>& count) const
    {
        std::vector<double> means(steps_, 0.0);
        for (std::size_t w = 0; w < sums.size(); ++w) {
            for (std::size_t t = 0; t < steps_; ++t) {
                means[t] += sums[w][t] / count[w] / static_cast<double>(sums.size());
            }
        }
        return means;
    }

    const Trace& trace_;
    const StepGraph& graph_;
    std::size_t steps_;
    ComputeParts parts_;
    // [of slots * steps + step], what an operation belongs to:
    std::vector<std::int64_t> cell_, stage_, replica_, worker_, worker_kind_, step_, replica_step_, stage_step_, microbatch_;
    std::vector<double> y_;       // [of slots * steps + step], what is not yet taken
    std::vector<double> beyond_;  // the same: what exponents other than one add to it
    std::vector<double> taken_;   // the means of kind, stage and worker
};

/// Words for one thing of one draw.
std::array<std::uint32_t, 4> words_of(std::uint64_t seed, int draw, std::uint32_t which)
{
    return philox(seed, {static_cast<std::uint32_t>(draw), 0, which, use(Stream::calibration, Purpose::search)});
}

std::size_t below(std::uint32_t word, std::size_t count)
{
    return static_cast<std::size_t>((static_cast<std::uint64_t>(word) * count) >> 32);
}

/// Counterparts of the compute slots in other replicas.
class Donors {
public:
    Donors(const Trace& trace, const StepGraph& graph, const ComputeParts& parts)
    {
        std::map<std::array<int, 3>, std::size_t> place_of;  // stage, kind, sequence
        std::vector<int> replicas;
        for (const TraceWorker& worker : trace.workers) {
            replicas.push_back(worker.dp);
        }
        std::sort(replicas.begin(), replicas.end());
        replicas.erase(std::unique(replicas.begin(), replicas.end()), replicas.end());
        count_ = replicas.size();
        for (std::size_t k = 0; k < parts.slots.size(); ++k) {
            const StepSlot& s = graph.slots[static_cast<std::size_t>(parts.slots[k])];
            const TraceWorker who = trace.workers[static_cast<std::size_t>(s.worker)];
            const auto place = place_of.emplace(std::array{who.stage, s.kind, s.sequence}, place_of.size()).first->second;
            if (table_.size() <= place) {
                table_.emplace_back(count_, -1);
            }
            const auto replica =
                static_cast<std::size_t>(std::lower_bound(replicas.begin(), replicas.end(), who.dp) - replicas.begin());
            table_[place][replica] = static_cast<int>(k);
            place_.push_back(place);
        }
    }

    std::size_t replicas() const { return count_; }
    /// The counterpart of compute slot k in a replica; itself where that has none.
    std::size_t of(std::size_t k, std::size_t replica) const
    {
        const int found = table_[place_[k]][replica];
        return found < 0 ? k : static_cast<std::size_t>(found);
    }

private:
    std::size_t count_ = 0;
    std::vector<std::size_t> place_;
    std::vector<std::vector<int>> table_;  // [place][replica]
};

}  // namespace

ComputeParts compute_parts(const Trace& trace, const StepGraph& graph, const std::vector<std::int32_t>& left_out)
{
    return PartsMaker(trace, graph, left_out).make();
}

std::vector<double> predicted_steps(const Trace& trace, const StepGraph& graph, const ComputeParts& parts,
                                    const PredictOptions& options)
{
    const std::size_t steps = graph.steps.size();
    const Donors donors(trace, graph, parts);
    std::vector<float> gaps(graph.slots.size());
    std::vector<float> durations(graph.slots.size());
    std::vector<double> times;
    for (int draw = 0; draw < options.draws && steps > 0; ++draw) {
        // Each measured step equally often.
        const std::size_t t = static_cast<std::size_t>(draw) * steps / static_cast<std::size_t>(options.draws);
        for (std::size_t slot = 0; slot < graph.slots.size(); ++slot) {
            gaps[slot] = graph.gap(slot, t);
            durations[slot] = graph.duration(slot, t);
        }
        for (std::size_t k = 0; k < parts.slots.size(); ++k) {
            const StepSlot& s = graph.slots[static_cast<std::size_t>(parts.slots[k])];
            const int dp = trace.workers[static_cast<std::size_t>(s.worker)].dp;
            const std::uint32_t microbatch = parts.replicas_together ? 0 : static_cast<std::uint32_t>(s.microbatch);
            const auto word = words_of(options.seed, draw, (static_cast<std::uint32_t>(dp) << 16) + microbatch);
            const std::size_t donor = donors.of(k, below(word[0], donors.replicas())) * steps + below(word[1], steps);
            durations[static_cast<std::size_t>(parts.slots[k])] = std::exp(parts.place[k] + parts.step[t] + parts.rest[donor]);
        }
        times.push_back(replay(graph, gaps, durations));
    }
    std::sort(times.begin(), times.end());
    return times;
}

}  // namespace prismopt
