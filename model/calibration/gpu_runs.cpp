#include "model/base/median.hpp"
#include "model/base/statistics.hpp"
#include "model/calibration/fit/effect_spread.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/fit/outliers.hpp"
#include "model/calibration/gpus/slow_gpus.hpp"
#include "model/calibration/samples.hpp"

#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/hypergeometric.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace prismopt {

namespace {

/// A GPU's runs of one benchmark.
struct Gpu {
    std::string name;
    std::string node;  // empty: not known
    std::vector<double> seconds;
    double log_median = 0.0;  // over the median of all GPUs
    double error = 0.0;
};

std::map<std::string, std::vector<Gpu>> gpus_by_benchmark(const std::vector<GpuRun>& runs)
{
    std::map<std::string, std::set<std::string>> nodes_of_name;
    for (const GpuRun& run : runs) {
        if (is_known_place(run.node)) {
            nodes_of_name[run.gpu].insert(run.node);
        }
    }
    std::map<std::string, std::map<std::pair<std::string, std::string>, Gpu>> found;
    for (const GpuRun& run : runs) {
        const bool local = is_known_place(run.node) && nodes_of_name[run.gpu].size() > 1;
        Gpu& gpu = found[run.benchmark][{local ? run.node : "", run.gpu}];
        gpu.name = "GPU " + run.gpu + (local ? " of node " + run.node : "");
        if (is_known_place(run.node)) {
            gpu.node = run.node;
        }
        gpu.seconds.push_back(run.seconds);
    }
    std::map<std::string, std::vector<Gpu>> result;
    for (auto& [benchmark, gpus] : found) {
        std::vector<double> medians;
        for (auto& [key, gpu] : gpus) {
            const double median = median_of(gpu.seconds);
            medians.push_back(median);
            gpu.log_median = std::log(median);
            gpu.error =
                std::sqrt(variance_of(gpu.seconds) / static_cast<double>(gpu.seconds.size())) / median;
            result[benchmark].push_back(std::move(gpu));
        }
        const double centre = std::log(median_of(medians));
        for (Gpu& gpu : result[benchmark]) {
            gpu.log_median -= centre;
        }
    }
    return result;
}

/// A node's GPUs, by index.
using Nodes = std::map<std::string, std::vector<std::size_t>>;

/// Probability that nodes without a spread of their own differ as much. Kruskal and Wallis, J. Am. Stat.
/// Assoc. 47 (1952) 583-621: on ranks, so that one broken GPU does not hide nodes, nor pass for one.
double probability_of_equal_nodes(const Nodes& nodes, const std::vector<double>& values)
{
    std::vector<double> rising;
    for (const auto& [node, members] : nodes) {
        for (const std::size_t i : members) {
            rising.push_back(values[i]);
        }
    }
    std::sort(rising.begin(), rising.end());
    const auto n = static_cast<double>(rising.size());
    double ties = 0.0;
    for (auto at = rising.begin(); at != rising.end();) {
        const auto after = std::upper_bound(at, rising.end(), *at);
        const auto t = static_cast<double>(after - at);
        ties += t * t * t - t;
        at = after;
    }
    const double untied = 1.0 - ties / (n * n * n - n);
    if (nodes.size() < 2 || rising.size() < nodes.size() + 2 || !(untied > 0.0)) {
        return 1.0;
    }
    double between = 0.0;
    for (const auto& [node, members] : nodes) {
        double sum = 0.0;
        for (const std::size_t i : members) {
            const auto [low, high] = std::equal_range(rising.begin(), rising.end(), values[i]);
            // The mean rank of its ties.
            sum += 0.5 * static_cast<double>((low - rising.begin()) + (high - rising.begin()) + 1);
        }
        between += sum * sum / static_cast<double>(members.size());
    }
    const double h = (12.0 / (n * (n + 1.0)) * between - 3.0 * (n + 1.0)) / untied;
    return chi_squared_beyond(static_cast<double>(nodes.size() - 1), std::max(0.0, h));
}

/// Probability, for the node for which it is least, that a node has as many of the slow GPUs if these are
/// anywhere, times the number of nodes (Holm's first step).
double slow_together(const Nodes& nodes, const std::vector<Outlier>& slow)
{
    std::set<std::size_t> is_slow;
    for (const Outlier& outlier : slow) {
        is_slow.insert(outlier.index);
    }
    const auto slow_in = [&](const std::vector<std::size_t>& members) {
        return static_cast<unsigned>(std::count_if(members.begin(), members.end(),
                                                   [&](std::size_t i) { return is_slow.contains(i); }));
    };
    unsigned all = 0;
    unsigned all_slow = 0;
    for (const auto& [node, members] : nodes) {
        all += static_cast<unsigned>(members.size());
        all_slow += slow_in(members);
    }
    double least = 1.0;
    if (nodes.size() < 2) {
        return least;
    }
    for (const auto& [node, members] : nodes) {
        const unsigned here = slow_in(members);
        if (here > 1) {
            const boost::math::hypergeometric_distribution<> anywhere(
                all_slow, static_cast<unsigned>(members.size()), all);
            least = std::min(least, boost::math::cdf(boost::math::complement(anywhere, here - 1)));
        }
    }
    return std::min(1.0, least * static_cast<double>(nodes.size()));
}

/// Standard deviation of the median of so many normal values over theirs: exact for one, two and many (the
/// variance is pi / (2 n)), and within 2 % of simulated ones between.
double median_deviation(std::size_t values)
{
    constexpr double of_many = std::numbers::pi / 2.0;
    const double more = values % 2 == 1 ? of_many - 1.0 : 2.0 * of_many - 2.0;
    return std::sqrt(of_many / (static_cast<double>(values) + more));
}

std::vector<double> without(const std::vector<double>& values, const std::vector<Outlier>& excluded)
{
    std::vector<double> result;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::none_of(excluded.begin(), excluded.end(), [i](const Outlier& o) { return o.index == i; })) {
            result.push_back(values[i]);
        }
    }
    return result;
}

/// Splits the GPUs' effects into nodes' and their own, where nodes differ.
class NodeEffects {
public:
    explicit NodeEffects(const std::vector<Gpu>& gpus)
    {
        std::vector<double> ratios;  // successive runs of a GPU, from each other
        for (std::size_t i = 0; i < gpus.size(); ++i) {
            own_.push_back(gpus[i].log_median);
            const std::vector<double>& seconds = gpus[i].seconds;
            for (std::size_t run = 1; run < seconds.size(); ++run) {
                ratios.push_back(std::abs(std::log(seconds[run] / seconds[run - 1])));
            }
            if (!gpus[i].node.empty()) {
                nodes_[gpus[i].node].push_back(i);
            }
        }
        // Runs that went wrong move no median: its error is that of the bulk of runs.
        const double of_run = ratios.empty() ? 0.0 : 1.4826 * median_of(ratios) / std::numbers::sqrt2;
        for (const Gpu& gpu : gpus) {
            median_errors_.push_back(of_run * median_deviation(gpu.seconds.size()));
            errors_.push_back(std::max(gpu.error, median_errors_.back()));  // few runs may be equal by chance
        }
        for (auto node = nodes_.begin(); node != nodes_.end();) {
            // With one GPU nobody knows whose the effect is.
            node = node->second.size() < 2 ? nodes_.erase(node) : std::next(node);
        }
        constexpr double level = 0.01;
        nodes_differ_ = probability_of_equal_nodes(nodes_, own_) < level ||
                        slow_together(nodes_, outliers(own_, errors_)) < level;
        if (nodes_differ_) {
            split();
        }
    }

    bool nodes_differ() const { return nodes_differ_; }
    /// Whether a spread between nodes would have shown.
    bool separates_nodes() const
    {
        constexpr std::size_t least = 10;
        return nodes_.size() >= least;
    }
    const std::vector<double>& own() const { return own_; }
    const std::vector<double>& gpu_effects() const { return nodes_differ_ ? gpu_effects_ : own_; }
    const std::vector<double>& node_effects() const { return node_effects_; }
    std::vector<Outlier> slow_gpus() const { return outliers(own_, errors_); }
    std::vector<Outlier> fast_gpus() const
    {
        std::vector<double> negative(own_.size());
        std::transform(own_.begin(), own_.end(), negative.begin(), [](double x) { return -x; });
        return outliers(negative, errors_);
    }
    const std::vector<Outlier>& slow_nodes() const { return slow_nodes_; }
    /// Spread of the usual GPUs, about the means of their nodes where these differ; and of the usual nodes.
    std::vector<Component> components() const
    {
        const std::vector<double> gpus = without(gpu_effects(), slow_gpus());
        const std::vector<double> errors = without(median_errors_, slow_gpus());
        const double draws = nodes_differ_ ? gpu_freedom_ + 1.0 : static_cast<double>(gpus.size());
        std::vector<Component> result;
        if (gpus.size() > 1) {
            result.push_back(spread_of_effects("gpu", gpus, errors, static_cast<double>(gpus.size()), draws));
        }
        if (nodes_differ_) {
            const std::vector<double> nodes = without(node_means_, slow_nodes_);
            result.push_back(spread_of_effects("node", nodes, without(node_errors_, slow_nodes_),
                                               gpu_freedom_, static_cast<double>(nodes.size())));
        }
        return result;
    }
    double node_mean(std::size_t index) const { return node_means_[index]; }
    std::string node_name(std::size_t index) const
    {
        return std::next(nodes_.begin(), static_cast<std::ptrdiff_t>(index))->first;
    }

private:
    void split()
    {
        // A slow GPU is excluded from its node's mean, and is then taken relative to it. It is recognised by
        // its difference from the median of the others, which is nearly normal; the median of few GPUs that
        // it is one of is often its own value.
        std::vector<double> within = own_;
        for (const auto& [node, members] : nodes_) {
            for (const std::size_t i : members) {
                std::vector<double> others;
                for (const std::size_t other : members) {
                    if (other != i) {
                        others.push_back(own_[other]);
                    }
                }
                within[i] = own_[i] - median_of(others);
            }
        }
        std::set<std::size_t> out;
        for (const Outlier& outlier : outliers(within, errors_)) {
            out.insert(outlier.index);
        }
        double squares = 0.0;
        double freedom = 0.0;
        double share = 0.0;  // mean of 1 / GPUs of a node
        for (const auto& [node, members] : nodes_) {
            std::vector<double> usual;
            for (const std::size_t i : members) {
                if (!out.contains(i) || members.size() <= 2) {
                    usual.push_back(own_[i]);
                }
            }
            const double mean = usual.empty() ? own_[members.front()] : mean_of(usual);
            node_means_.push_back(mean);
            squares += variance_of(usual) * static_cast<double>(usual.size() - (usual.empty() ? 0 : 1));
            freedom += static_cast<double>(usual.size()) - (usual.empty() ? 0.0 : 1.0);
            share += 1.0 / static_cast<double>(std::max<std::size_t>(1, usual.size()) * nodes_.size());
            // A mean has its own part of each deviation: n / (n - 1).
            const double stretch =
                std::sqrt(static_cast<double>(members.size()) / static_cast<double>(members.size() - 1));
            for (const std::size_t i : members) {
                own_[i] -= mean;
                gpu_effects_.push_back(!out.contains(i) ? stretch * own_[i] : own_[i]);
            }
        }
        // what GPUs add to the variance of nodes' means
        const double of_gpus = freedom > 0.0 ? squares / freedom * share : 0.0;
        gpu_freedom_ = freedom;
        node_errors_.assign(node_means_.size(), std::sqrt(of_gpus));
        const double centre = median_of(node_means_);
        for (double& mean : node_means_) {
            mean -= centre;
        }
        // Slow nodes are a mode of their own, and no part of the spread of the others.
        slow_nodes_ = with_their_mode(node_means_, outliers(node_means_, node_errors_));
        const std::vector<double> usual = without(node_means_, slow_nodes_);
        const double seen = variance_of(usual);
        const double kept = seen > 0.0 ? std::sqrt(std::max(0.0, 1.0 - of_gpus / seen)) : 0.0;
        for (std::size_t n = 0; n < node_means_.size(); ++n) {
            const bool slow = std::any_of(slow_nodes_.begin(), slow_nodes_.end(),
                                          [n](const Outlier& o) { return o.index == n; });
            node_effects_.push_back(slow ? node_means_[n] : kept * node_means_[n]);
        }
    }

    Nodes nodes_;
    std::vector<double> own_, errors_;  // by GPU: of all, or of the node where nodes are apart
    std::vector<double> median_errors_;
    bool nodes_differ_ = false;
    std::vector<double> gpu_effects_, node_effects_, node_means_, node_errors_;
    std::vector<Outlier> slow_nodes_;
    double gpu_freedom_ = 0.0;  // of the usual GPUs about the means of their nodes
};

/// Slow ones by name are the distribution's slow mode.
void add_distribution_of(Calibration& result, const std::string& key, const std::vector<double>& effects,
                         const std::vector<Outlier>& outliers, const std::string& source)
{
    std::vector<double> usual;
    std::vector<double> slow;
    for (std::size_t i = 0; i < effects.size(); ++i) {
        const bool out =
            std::any_of(outliers.begin(), outliers.end(), [i](const Outlier& o) { return o.index == i; });
        (out ? slow : usual).push_back(effects[i]);
    }
    if (slow.empty()) {
        result.distributions.push_back({key, fit_distribution(exponentials(effects), source)});
        return;
    }
    result.distributions.push_back({key, distribution_with_slow(usual, slow, source)});
    result.slow_shares.push_back(slow_share(key, slow.size(), effects.size(),
                                            result.distributions.back().fit.distribution.slow.excess));
    result.notes.emplace_back(result.slow_shares.back());
}

/// Adds the distributions of GPUs and nodes. `from`: the end of their sources.
void add_unit_distributions(const NodeEffects& of_nodes, const std::string& from, Calibration& result)
{
    const std::string over = of_nodes.nodes_differ() ? "medians of the GPUs over the mean of their node"
                                                     : "medians of the GPUs over their median";
    add_distribution_of(result, "gpu", of_nodes.gpu_effects(), of_nodes.slow_gpus(), over + from);
    if (of_nodes.nodes_differ()) {
        add_distribution_of(result, "node", of_nodes.node_effects(), of_nodes.slow_nodes(),
                            "nodes over their median" + from);
    } else if (of_nodes.separates_nodes()) {
        result.distributions.push_back(
            {"node",
             constant_distribution(
                 "no significant differences between nodes; gpu includes the remaining ones" + from)});
    }
}

/// Leaves the distribution of kernels to the profile, with how runs vary about the median of their GPU, if
/// GPUs ran several times.
void leave_kernels(const std::vector<Gpu>& gpus, const std::string& source, Calibration& result)
{
    std::vector<double> rests;
    for (const Gpu& gpu : gpus) {
        const double median = median_of(gpu.seconds);
        for (const double seconds : gpu.seconds) {
            if (gpu.seconds.size() > 1) {
                rests.push_back(std::log(seconds / median));
            }
        }
    }
    if (rests.size() > 1) {
        result.left.push_back({"residual.gemm", RunsOnly{std::sqrt(variance_of(rests)), source}});
    }
}

/// Names slow GPUs and nodes, and a GPU that is too fast. `of`: the end of their names.
void name_outliers(const NodeEffects& of_nodes, const std::vector<Gpu>& gpus, const std::string& of,
                   Calibration& result)
{
    for (const Outlier& outlier : of_nodes.slow_gpus()) {
        result.slow.push_back(
            {gpus[outlier.index].name + of, std::expm1(of_nodes.own()[outlier.index]), outlier.probability});
    }
    for (const Outlier& outlier : of_nodes.slow_nodes()) {
        result.slow.push_back({"node " + of_nodes.node_name(outlier.index) + of,
                               std::expm1(of_nodes.node_mean(outlier.index)), outlier.probability});
    }
    if (const std::vector<Outlier> fast = of_nodes.fast_gpus(); !fast.empty()) {
        const std::size_t first = fast.front().index;
        result.notes.emplace_back(FastNote{.gpu = gpus[first].name + of,
                                           .less = -std::expm1(of_nodes.own()[first]),
                                           .more = fast.size() - 1});
    }
}

}  // namespace

bool is_known_place(const std::string& place) { return !place.empty() && place != "-1"; }

std::optional<CrowdedNode> crowded_node(const std::vector<GpuRun>& runs)
{
    constexpr std::size_t most = 16;  // of one machine: DGX-2
    const auto is_number = [](const std::string& name) {
        return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    };
    std::map<std::pair<std::string, std::string>, std::set<std::string>> gpus;
    for (const GpuRun& run : runs) {
        if (is_known_place(run.node) && is_number(run.node)) {
            gpus[{run.benchmark, run.node}].insert(run.gpu);
        }
    }
    const auto fullest = std::max_element(gpus.begin(), gpus.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
    });
    if (fullest == gpus.end() || fullest->second.size() <= most) {
        return std::nullopt;
    }
    return CrowdedNode{fullest->first.second, fullest->second.size()};
}

Calibration calibrate_gpu_runs(const std::vector<GpuRun>& runs, const std::string& source)
{
    Calibration result;
    result.source = source;
    result.operations = runs.size();
    const auto benchmarks = gpus_by_benchmark(runs);
    if (benchmarks.empty()) {
        return result;
    }
    const auto widest =
        std::max_element(benchmarks.begin(), benchmarks.end(),
                         [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const std::vector<Gpu>& gpus = widest->second;
    const NodeEffects of_nodes(gpus);
    const std::string of = widest->first.empty() ? "" : ", " + widest->first;
    add_unit_distributions(of_nodes, "; prismopt calibrate, " + source + of, result);
    result.components = of_nodes.components();
    leave_kernels(gpus, source + of, result);
    name_outliers(of_nodes, gpus, of, result);
    for (const auto& [name, members] : benchmarks) {
        Signature signature{name.empty() ? "runs" : name, 0.0, {}};
        std::vector<double> factors;
        for (const Gpu& gpu : members) {
            factors.push_back(median_of(gpu.seconds));
            signature.mean_s += factors.back() / static_cast<double>(members.size());
        }
        signature.fit = fit_distribution(factors, "");
        result.signatures.push_back(signature);
    }
    return result;
}

}  // namespace prismopt
