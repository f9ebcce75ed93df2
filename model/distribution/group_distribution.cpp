#include "model/distribution/group_distribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace prismopt {

namespace {

// Nodes in logit(p), symmetric, to 2^-40 on both sides: a table's last
// probability, 2^-33, shared by 128 members.
constexpr int nodes = 113;
constexpr double limit = 28.0;
constexpr double spacing = 2.0 * limit / (nodes - 1);
double logit(int node) { return -limit + spacing * node; }
/// Probability of the nearer tail at a node.
double tail_at(int node) { return 1.0 / (1.0 + std::exp(std::abs(logit(node)))); }

// Grid of t / x for the integral: 8 deviations of the lognormal residual either way.
constexpr int ratios = 97;
constexpr double deviations = 8.0;

double deviation_of(double cv) { return std::sqrt(std::log1p(cv * cv)); }

/// Standard normal probability of at most z, for the millions that a set of distributions asks for: cubics
/// through values and slopes at distances h, within h^4 / 384 of the largest fourth derivative (1.4): 1e-12.
/// Beyond the ends it is 0 or 1 to 1e-18.
class NormalProbability {
public:
    static constexpr double end = 9.0;

    NormalProbability()
    {
        const auto value = [](int i) { return 0.5 * std::erfc(-(i / per_unit - end) / std::sqrt(2.0)); };
        const auto slope = [](int i) {  // a distance between nodes
            const double z = i / per_unit - end;
            return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi) / per_unit;
        };
        for (int i = 0; i < count; ++i) {
            const double rise = value(i + 1) - value(i);
            const double bend = slope(i) + slope(i + 1) - 2.0 * rise;
            cubic_.push_back({value(i), slope(i), rise - slope(i) - bend, bend});
        }
    }

    /// Place of z among the nodes; apart from at_place(), so that compilers vectorise loops of it.
    static double place(double z) { return (std::min(std::max(z, -end), end) + end) * per_unit; }

    double at_place(double at) const
    {
        const auto i = std::min(static_cast<std::size_t>(at), std::size_t{count - 1});
        const double s = at - static_cast<double>(i);
        const std::array<double, 4>& c = cubic_[i];
        return c[0] + s * (c[1] + s * (c[2] + s * c[3]));
    }

private:
    static constexpr double per_unit = 256.0;
    static constexpr int count = static_cast<int>(2.0 * end * per_unit);

    std::vector<std::array<double, 4>> cubic_;  // of the distance from a node, in distances between nodes
};

const NormalProbability& normal_probability()
{
    static const NormalProbability normal;
    return normal;
}

/// Place of the normal probability that is that of a residual of at most r: lognormal, of mean one.
double residual_place(double log_r, double deviation)
{
    return NormalProbability::place(log_r / deviation + 0.5 * deviation);
}

/// From this log r on, the probability is 1.
double certain_from(double deviation) { return deviation * (NormalProbability::end - 0.5 * deviation); }

double log_ratio(int k, double deviation) { return deviation * deviations * (2.0 * k / (ratios - 1) - 1.0); }

}  // namespace

std::vector<double> group_nodes(const Quantile& member)
{
    std::vector<double> values;
    for (int i = 0; i < nodes; ++i) {
        values.push_back(member(tail_at(i), i > nodes / 2));
    }
    return values;
}

GroupDistribution::GroupDistribution(std::vector<double> of_nodes, double segment_cv)
    : segment_cv_(segment_cv), x_(std::move(of_nodes))
{
    if (segment_cv == 0.0) {
        return;
    }
    std::vector<double> weight(nodes);
    for (int i = 0; i < nodes; ++i) {
        weight[i] = tail_at(i) * (1.0 - tail_at(i)) * spacing;
    }
    const NormalProbability& normal = normal_probability();
    const double deviation = deviation_of(segment_cv);
    std::vector<double> log_x;
    for (const double x : x_) {
        log_x.push_back(std::log(x));
    }
    for (int k = 0; k < ratios; ++k) {
        equal_.push_back(normal.at_place(residual_place(log_ratio(k, deviation), deviation)));
    }
    std::array<double, nodes> place{};
    below_.assign(nodes, std::vector<double>(ratios));
    for (int i = 0; i < nodes; ++i) {
        const double total = std::accumulate(weight.begin(), weight.begin() + i, 0.0) + 0.5 * weight[i];
        double certain = 0.0;  // weight of the members that are below t whatever their residual
        int first = 0;         // of the others
        for (int k = 0; k < ratios; ++k) {
            const double log_t = log_x[i] + log_ratio(k, deviation);
            while (first < i && log_t - log_x[first] >= certain_from(deviation)) {
                certain += weight[first++];
            }
            for (int j = first; j <= i; ++j) {
                place[j] = residual_place(log_t - log_x[j], deviation);
            }
            double sum = certain;
            for (int j = first; j < i; ++j) {
                sum += weight[j] * normal.at_place(place[j]);
            }
            sum += 0.5 * weight[i] * normal.at_place(place[i]);
            below_[i][k] = sum / total;
        }
    }
}

double GroupDistribution::given_largest(std::size_t node, int n) const
{
    if (segment_cv_ == 0.0 || n == 1) {
        return x_[node];
    }
    return mean_of_largest(x_[node], below_[node], n) / mean_of_largest(1.0, equal_, n);
}

double GroupDistribution::mean_of_largest(double x, const std::vector<double>& below, int n) const
{
    const double deviation = deviation_of(segment_cv_);
    // Integral of 1 - F over t: the part below the grid counts in full; t = x exp(z), dt = t dz.
    double integral = x * std::exp(log_ratio(0, deviation));
    const double step = log_ratio(1, deviation) - log_ratio(0, deviation);
    for (int k = 0; k < ratios; ++k) {
        const double z = log_ratio(k, deviation);
        const double reached = equal_[k] * std::pow(below[k], n - 1);
        integral += (k == 0 || k == ratios - 1 ? 0.5 : 1.0) * (1.0 - reached) * x * std::exp(z) * step;
    }
    return integral;
}

Quantile GroupDistribution::factor(int n) const
{
    std::vector<double> value;
    for (std::size_t i = 0; i < nodes; ++i) {
        value.push_back(given_largest(i, n));
    }
    return [value, n](double p, bool upper) {
        // Logit of the largest member's probability p^(1/n), without cancellation at either end.
        const double log_p = (upper ? std::log1p(-p) : std::log(p)) / n;
        const double at =
            std::clamp((log_p - std::log(-std::expm1(log_p)) + limit) / spacing, 0.0, nodes - 1.0);
        const auto i = std::min(static_cast<std::size_t>(at), static_cast<std::size_t>(nodes - 2));
        return value[i] + (at - static_cast<double>(i)) * (value[i + 1] - value[i]);
    };
}

}  // namespace prismopt
