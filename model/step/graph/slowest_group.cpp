#include "model/step/graph/slowest_group.hpp"

#include "model/base/root.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace prismopt {

namespace {

/// Compute of the path's ops with the factors of their stages.
double compute_of(const ExecutionGraph& graph, std::span<const ProgramPath::Count> counts,
                  std::span<const double> factor)
{
    const auto distributions_of_stage = static_cast<std::size_t>(graph.chunks()) * graph.passes();
    double sum = 0.0;
    for (const ProgramPath::Count& count : counts) {
        sum += count.ops * static_cast<double>(graph.distribution[count.distribution].compute_s) *
               factor[count.distribution / distributions_of_stage];
    }
    return sum;
}

/// Collectives in the path's ops, and transfers before them.
double communication_of(const ExecutionGraph& graph, std::span<const ProgramPath::Count> counts)
{
    double sum = 0.0;
    for (const ProgramPath::Count& count : counts) {
        const OpDistribution& distribution = graph.distribution[count.distribution];
        sum += count.ops * static_cast<double>(distribution.communication_s) +
               count.transfers * static_cast<double>(distribution.transfer_s);
    }
    return sum;
}

/// What the stage's last op has to wait for: gradients, less the time by which its next step begins
/// before that of the first stage.
double after_last_op(const ExecutionGraph& graph, std::uint32_t stage_chunk)
{
    const int stage = static_cast<int>(stage_chunk) / graph.chunks();
    double seconds = graph.ahead_s.empty() ? 0.0 : -static_cast<double>(graph.ahead_s[stage]);
    if (graph.dp_overlap == DataParallelOverlap::on) {
        return seconds + static_cast<double>(graph.reduction[stage_chunk].exposed());
    }
    for (int chunk = 0; chunk < graph.chunks(); ++chunk) {
        seconds += static_cast<double>(
            graph.reduction[static_cast<std::size_t>(stage) * graph.chunks() + chunk].exposed());
    }
    return seconds;
}

constexpr double words = 4294967296.0;
constexpr std::uint32_t last_word = 0xFFFFFFFF;

/// Number of words whose quantile is at most x.
double words_below(const QuantileTable& table, double x)
{
    std::uint64_t below = 0;
    for (std::uint64_t bit = std::uint64_t{1} << 32; bit > 0; bit /= 2) {
        const std::uint64_t more = below + bit;
        if (more <= std::uint64_t{1} << 32 &&
            static_cast<double>(table(static_cast<std::uint32_t>(more - 1))) <= x) {
            below = more;
        }
    }
    return static_cast<double>(below);
}

/// Upper bound of the integral of the quantiles over the last `share`, octave by octave.
double integral_of_tail(const QuantileTable& table, double share)
{
    double sum = 0.0;
    while (share >= 1.0 / words) {
        const double weight = share < 2.0 / words ? share : 0.5 * share;
        const auto beyond = static_cast<std::uint32_t>(std::max(0.0, std::floor(0.5 * share * words) - 1.0));
        sum += weight * static_cast<double>(table(last_word - beyond));
        share -= weight;
    }
    return sum;
}

/// The largest of the paths' lengths in all replicas, with independent factors of their stages.
class LongestOfReplicas {
public:
    LongestOfReplicas(std::span<const StagePath> paths, const GroupFactor& group, int replicas,
                      double optimizer_s, double outer_s)
        : group_(group), replicas_(replicas), after_s_(optimizer_s + outer_s)
    {
        for (const StagePath& path : paths) {
            if (path.compute_s > 0.0) {
                rest_.push_back(path.rest_s);
                per_compute_.push_back(1.0 / path.compute_s);
                most_ = std::max(most_, path.rest_s + group.largest() * path.compute_s);
                most_others_s_ = std::max(most_others_s_, path.others_s);
            }
        }
        most_others_s_ += optimizer_s;
    }

    /// Returns at least log P(length <= x).
    double log_below(double x) const
    {
        double sum = 0.0;
        for (std::size_t i = 0; i < rest_.size(); ++i) {
            sum += group_.log_below((x - rest_[i]) * per_compute_[i]);
        }
        return replicas_ * sum;
    }

    /// Returns a length that is at most the quantile of this probability.
    double quantile(double log_probability) const
    {
        const auto is_at_most = [&](double x) { return log_below(x) <= log_probability; };
        return bisect({0.0, most_}, {.halvings = 24}, is_at_most).low;
    }

    /// Returns a lower bound of the mean step, given that the longest path has the length x: no factor of
    /// another stage is so large that its path were longer.
    double step_given(double x) const
    {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < rest_.size(); ++i) {
            least = std::min(least, (x - rest_[i]) * per_compute_[i]);
        }
        const double others = std::min(1.0, group_.mean_below(least) / group_.mean());
        return x + after_s_ - (1.0 - others) * most_others_s_;
    }

private:
    const GroupFactor& group_;
    double replicas_;
    double after_s_;  // optimizer and outer exchange
    std::vector<double> rest_;
    std::vector<double> per_compute_;
    double most_ = 0.0;           // length
    double most_others_s_ = 0.0;  // compute that has other factors
};

LeastStep bounds_of(const LongestOfReplicas& longest, std::span<const double> probabilities)
{
    LeastStep least{0.0, std::vector<double>(probabilities.size(), 0.0)};
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        least.quantiles_s[i] = longest.step_given(longest.quantile(std::log(probabilities[i])));
    }
    // of the mean, at most: fleets whose longest path is shorter than `from`
    constexpr double ignored = 1e-4;
    constexpr int steps = 24;
    const double from = longest.quantile(std::log(ignored));
    const double to = longest.quantile(std::log1p(-ignored));
    double before = 0.0;
    for (int i = 0; i <= steps; ++i) {
        const double length = from + i * (to - from) / steps;
        const double step = longest.step_given(length);
        least.mean_s += std::max(0.0, step - before) * -std::expm1(longest.log_below(length));
        before = std::max(before, step);
    }
    return least;
}

}  // namespace

std::vector<StagePath> stage_paths(const ExecutionGraph& graph, std::span<const ProgramPath> paths)
{
    const MeanRun run(graph, -1, 1.0);
    const std::vector<double> factor = mean_factors(graph);
    const std::vector<double> ones(factor.size(), 1.0);
    std::vector<StagePath> result;
    for (const ProgramPath& path : paths) {
        StagePath& own = result.emplace_back();
        own.factor = factor[path.stage];
        own.others_s = compute_of(graph, path.others, factor);
        own.rest_s = run.gate(static_cast<int>(path.first_chunk)) + own.others_s +
                     communication_of(graph, path.others) + communication_of(graph, path.own) +
                     after_last_op(graph, path.last_chunk);
        own.compute_s = compute_of(graph, path.own, ones);
    }
    return result;
}

std::vector<StagePath> own_stage_paths(const ExecutionGraph& graph)
{
    constexpr double slowness = 1.1;  // about a rare slow GPU's factor
    const std::vector<double> factor = mean_factors(graph);
    const auto of_stage = static_cast<std::size_t>(graph.chunks()) * graph.passes();
    PathTimes times;
    for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
        const OpDistribution& distribution = graph.distribution[i];
        const double compute_s = static_cast<double>(distribution.compute_s) * factor[i / of_stage];
        const auto communication_s = static_cast<double>(distribution.communication_s);
        times.seconds.push_back(static_cast<float>(compute_s + communication_s));
        times.slowed.push_back(static_cast<float>(slowness * compute_s + communication_s));
        times.transfer.push_back(distribution.transfer_s);
    }
    for (int stage_chunk = 0; stage_chunk < graph.stages() * graph.chunks(); ++stage_chunk) {
        times.after.push_back(
            static_cast<float>(after_last_op(graph, static_cast<std::uint32_t>(stage_chunk))));
    }
    return stage_paths(graph, program_paths(*graph.program, times, graph.stages()).paths);
}

double longest_path(std::span<const StagePath> paths)
{
    double longest = 0.0;
    for (const StagePath& path : paths) {
        longest = std::max(longest, path.rest_s + path.factor * path.compute_s);
    }
    return longest;
}

GroupFactor::GroupFactor(const QuantileTable& factor)
    : mean_(factor.mean()), largest_(static_cast<double>(factor(last_word)))
{
    if (factor.constant()) {
        return;
    }
    constexpr int cells = 1024;
    constexpr double beyond = 1.0 / 16777216.0;  // 2^-24: one of 16 million groups has a larger factor
    const auto quantile = [&](double p) {
        return static_cast<double>(factor(static_cast<std::uint32_t>(p * (words - 1.0))));
    };
    first_ = quantile(1.0 / 1024.0);
    step_ = (quantile(1.0 - beyond) - first_) / cells;
    if (!(step_ > 0.0)) {
        return;
    }
    std::vector<double> below;
    for (int i = 0; i <= cells; ++i) {
        below.push_back(words_below(factor, first_ + i * step_) / words);
        log_below_.push_back(std::log(below.back()));
    }
    mean_below_.resize(below.size());
    double tail = integral_of_tail(factor, 1.0 - below.back());
    for (int i = cells; i >= 0; --i) {
        mean_below_[i] = (mean_ - tail) / below[i];
        tail += i > 0 ? (below[i] - below[i - 1]) * (first_ + i * step_) : 0.0;
    }
}

double GroupFactor::log_below(double x) const
{
    const double place = (x - first_) / step_;
    const auto cells = static_cast<double>(log_below_.size() - 1);
    if (place >= cells - 1.0) {
        return place >= cells ? 0.0 : log_below_.back();
    }
    if (place >= 0.0) {
        return log_below_[static_cast<std::size_t>(place) + 1];
    }
    return x > 0.0 ? log_below_.front() : -std::numeric_limits<double>::infinity();
}

double GroupFactor::mean_below(double x) const
{
    const double place = (x - first_) / step_;
    if (place < 0.0) {
        return 0.0;
    }
    return mean_below_[std::min(mean_below_.size() - 1, static_cast<std::size_t>(place))];
}

LeastStep slowest_group_bounds(const ExecutionGraph& graph, const GroupFactor& group,
                               std::span<const StagePath> paths, std::span<const double> probabilities)
{
    if (!graph.node.empty() || group.constant()) {
        return {0.0, std::vector<double>(probabilities.size(), 0.0)};
    }
    return bounds_of(LongestOfReplicas(paths, group, graph.slowest_replicas(), optimizer_time(graph),
                                       static_cast<double>(graph.outer_s)),
                     probabilities);
}

LeastStep slowest_group_bounds(const GroupFactor& group, std::span<const StagePath> paths, int replicas,
                               std::span<const double> probabilities)
{
    return bounds_of(LongestOfReplicas(paths, group, replicas, 0.0, 0.0), probabilities);
}

}  // namespace prismopt
