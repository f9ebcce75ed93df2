#include "model/step/graph/slowest_group.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace prismopt {

namespace {

/// Slowness for which paths are chosen; any choice gives a valid bound.
constexpr double typical_slowness = 1.1;

constexpr double never = -std::numeric_limits<double>::infinity();

/// Noise-free times of all ops.
struct OpTimes {
    std::vector<double> start_s;
    std::vector<double> duration_s;
    std::vector<double> after_s;  // longest path from the op's end to the end of its replica's step
};

/// [stage]: what its gradients wait for after all of its ops, without overlap.
std::vector<double> reductions_of_stages(const ExecutionGraph& graph)
{
    std::vector<double> sums(graph.stages(), 0.0);
    for (std::size_t part = 0; part < graph.reduction.size(); ++part) {
        sums[part / graph.chunks()] += static_cast<double>(graph.reduction[part].exposed());
    }
    return sums;
}

OpTimes times_of(const ExecutionGraph& graph)
{
    const std::vector<ProgramOp>& ops = graph.program->ops;
    OpTimes times{std::vector<double>(ops.size()), std::vector<double>(ops.size()), std::vector<double>(ops.size(), never)};
    MeanRun(graph, -1, 1.0).run([&](std::size_t i, const ProgramOp&, double start, double end, bool) {
        times.start_s[i] = start;
        times.duration_s[i] = end - start;
    });
    // Backwards: what reads an op's slot comes after the op and before the next op that writes it.
    const bool overlapped = graph.dp_overlap == DataParallelOverlap::on;
    const std::vector<double> at_the_end = reductions_of_stages(graph);
    std::vector<double> of_readers(graph.program->slots, never);
    std::vector<double> of_next(graph.stages(), never);
    std::vector<double> reductions(graph.stages(), 0.0);  // of this op's chunk and of chunks that end later
    for (std::size_t i = ops.size(); i-- > 0;) {
        const ProgramOp& op = ops[i];
        const double ahead = graph.ahead_s.empty() ? 0.0 : static_cast<double>(graph.ahead_s[op.stage]);
        double after = std::max(of_next[op.stage], of_readers[op.out]);
        of_readers[op.out] = never;
        if (!overlapped && of_next[op.stage] == never) {
            after = std::max(after, at_the_end[op.stage] - ahead);
        }
        if (overlapped && op.last_of_chunk) {
            reductions[op.stage] += static_cast<double>(graph.reduction[op.part].exposed());
            after = std::max(after, reductions[op.stage] - ahead);
        }
        times.after_s[i] = after;
        of_next[op.stage] = times.duration_s[i] + after;
        if (op.in != Program::start) {
            const double transfer = static_cast<double>(graph.law[op.law].transfer_s);
            of_readers[op.in] = std::max(of_readers[op.in], transfer + times.duration_s[i] + after);
        }
    }
    return times;
}

/// Largest quantile of the table that is certain to lie below a tail of this probability.
double below_tail(const QuantileTable& table, double tail)
{
    constexpr double words = 4294967296.0;
    const double distance = std::min(words - 1.0, std::ceil(tail * words));
    return static_cast<double>(table(static_cast<std::uint32_t>(words - 1.0 - distance)));
}

/// Lower bound of the mean of a group's factor, given that it lies below the tail.
double mean_below(const QuantileTable& table, double mean, double tail)
{
    constexpr int octaves = 33;
    double in_tail = 0.0;
    double share = tail;
    for (int octave = 0; octave < octaves; ++octave) {
        const double weight = octave + 1 < octaves ? 0.5 * share : share;
        constexpr std::uint32_t largest = 0xFFFFFFFF;
        const double beyond = std::floor(0.5 * share * 4294967296.0);
        in_tail += weight * static_cast<double>(table(largest - static_cast<std::uint32_t>(std::max(0.0, beyond - 1.0))));
        share *= 0.5;
    }
    return (mean - in_tail) / (1.0 - tail);
}

}  // namespace

std::vector<StagePath> stage_paths(const ExecutionGraph& graph)
{
    const std::vector<ProgramOp>& ops = graph.program->ops;
    const OpTimes times = times_of(graph);
    /// A path that enters the stage at one of its ops and stays there so far.
    struct Inside {
        double entered = never;  // slowed time before its first op in the stage, less all slowed ops before that
        StagePath path;          // less the sums below up to that op
        double slowed_s = 0.0;   // sums over all ops of the stage so far
        double compute_s = 0.0;
        double communication_s = 0.0;
        double best = never;
        StagePath chosen;
    };
    std::vector<Inside> stages(graph.stages());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        Inside& stage = stages[ops[i].stage];
        if (times.start_s[i] - stage.slowed_s > stage.entered) {
            stage.entered = times.start_s[i] - stage.slowed_s;
            stage.path = {times.start_s[i] - stage.communication_s, -stage.compute_s};
        }
        const auto compute = static_cast<double>(graph.law[ops[i].law].compute_s);
        const double communication = times.duration_s[i] - compute * graph.group_mean;
        stage.compute_s += compute;
        stage.communication_s += communication;
        stage.slowed_s += typical_slowness * graph.group_mean * compute + communication;
        const double length = stage.entered + stage.slowed_s + times.after_s[i];
        if (length > stage.best) {
            stage.best = length;
            stage.chosen = {stage.path.rest_s + stage.communication_s + times.after_s[i], stage.path.compute_s + stage.compute_s};
        }
    }
    std::vector<StagePath> paths;
    std::transform(stages.begin(), stages.end(), std::back_inserter(paths), [](const Inside& stage) { return stage.chosen; });
    return paths;
}

std::vector<double> slowest_group_bounds(const ExecutionGraph& graph, const NoiseFreeStep& noise_free,
                                         std::span<const double> probabilities)
{
    std::vector<double> bounds(probabilities.size(), noise_free.step_s);
    if (!graph.node.empty() || graph.group.constant()) {
        return bounds;
    }
    const std::vector<StagePath> paths = stage_paths(graph);
    std::vector<double> lengths(paths.size());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        for (std::size_t stages = 1; stages <= paths.size(); stages *= 2) {
            const double groups = static_cast<double>(stages) * graph.placement.replicas;
            const double tail = -std::expm1(std::log(probabilities[i]) / groups);
            const double slowest = below_tail(graph.group, tail);
            if (slowest < graph.group_mean) {
                continue;  // the rest of a path may pass through the stage again, at the mean
            }
            const double others = std::min(1.0, mean_below(graph.group, graph.group_mean, tail) / graph.group_mean);
            std::transform(paths.begin(), paths.end(), lengths.begin(), [&](const StagePath& path) {
                return others * (path.rest_s + noise_free.optimizer_s) + slowest * path.compute_s;
            });
            const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(stages - 1);
            std::nth_element(lengths.begin(), last, lengths.end(), std::greater<>());
            bounds[i] = std::max(bounds[i], *last);
        }
    }
    return bounds;
}

}  // namespace prismopt
