#include "model/step/graph/slowest_group.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace prismopt {

namespace {

/// Seconds of the path's ops with the factors of their stages, and of its transfers.
double length_of(const ExecutionGraph& graph, std::span<const ProgramPath::Count> counts, std::span<const double> factor)
{
    const auto distributions_of_stage = static_cast<std::size_t>(graph.chunks() * graph.passes());
    double sum = 0.0;
    for (const ProgramPath::Count& count : counts) {
        const OpDistribution& distribution = graph.distribution[count.distribution];
        sum += count.ops * (static_cast<double>(distribution.compute_s) * factor[count.distribution / distributions_of_stage] +
                            static_cast<double>(distribution.communication_s)) +
               count.transfers * static_cast<double>(distribution.transfer_s);
    }
    return sum;
}

/// What the stage's last op has to wait for: gradients, less the time by which its next step begins before that of the first stage.
double after_last_op(const ExecutionGraph& graph, std::uint32_t part)
{
    const int stage = static_cast<int>(part) / graph.chunks();
    double seconds = graph.ahead_s.empty() ? 0.0 : -static_cast<double>(graph.ahead_s[stage]);
    if (graph.dp_overlap == DataParallelOverlap::on) {
        return seconds + static_cast<double>(graph.reduction[part].exposed());
    }
    for (int chunk = 0; chunk < graph.chunks(); ++chunk) {
        seconds += static_cast<double>(graph.reduction[static_cast<std::size_t>(stage) * graph.chunks() + chunk].exposed());
    }
    return seconds;
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

std::vector<StagePath> stage_paths(const ExecutionGraph& graph, std::span<const ProgramPath> paths)
{
    const MeanRun run(graph, -1, 1.0);
    std::vector<double> factor = mean_factors(graph);
    std::vector<StagePath> result;
    for (const ProgramPath& path : paths) {
        StagePath& own = result.emplace_back();
        own.factor = factor[path.stage];
        own.rest_s = run.gate(static_cast<int>(path.first_part)) + length_of(graph, path.others, factor) +
                     after_last_op(graph, path.last_part);
        for (const ProgramPath::Count& count : path.own) {
            own.compute_s += count.ops * static_cast<double>(graph.distribution[count.distribution].compute_s);
        }
        own.rest_s += length_of(graph, path.own, std::vector<double>(factor.size(), 0.0));
    }
    return result;
}

double longest_path(std::span<const StagePath> paths)
{
    double longest = 0.0;
    for (const StagePath& path : paths) {
        longest = std::max(longest, path.rest_s + path.factor * path.compute_s);
    }
    return longest;
}

std::vector<double> slowest_group_bounds(const ExecutionGraph& graph, std::span<const StagePath> paths, double least_s,
                                         std::span<const double> probabilities)
{
    std::vector<double> bounds(probabilities.size(), least_s);
    if (!graph.node.empty() || graph.group.constant()) {
        return bounds;
    }
    const double optimizer_s = optimizer_time(graph);
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
                return others * (path.rest_s + optimizer_s) + slowest * path.compute_s;
            });
            const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(stages - 1);
            std::nth_element(lengths.begin(), last, lengths.end(), std::greater<>());
            bounds[i] = std::max(bounds[i], *last);
        }
    }
    return bounds;
}

}  // namespace prismopt
