#include "model/calibration/fit/variance_components.hpp"

#include "model/base/statistics.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace prismopt {

namespace {

/// Where groups intersect the partition of an effect.
struct Meeting {
    Partition partition;
    std::vector<int> group;  // [part] the group that it lies in
    int groups = 0;
};

Meeting meeting(const Partition& groups, const Partition& effect)
{
    Meeting result{both(groups, effect), {}, groups.levels};
    result.group.resize(static_cast<std::size_t>(result.partition.levels));
    for (std::size_t i = 0; i < groups.level.size(); ++i) {
        result.group[static_cast<std::size_t>(result.partition.level[i])] = groups.level[i];
    }
    return result;
}

/// Sums by part of what is kept; of ones where there are no values.
std::vector<double> sums(const Partition& partition, const std::vector<double>& values,
                         const std::vector<char>& kept)
{
    std::vector<double> result(static_cast<std::size_t>(partition.levels), 0.0);
    for (std::size_t i = 0; i < partition.level.size(); ++i) {
        if (kept[i] != 0) {
            result[static_cast<std::size_t>(partition.level[i])] += values.empty() ? 1.0 : values[i];
        }
    }
    return result;
}

/// Contrasts of the effects that can be estimated, and their expectations.
class Equations {
public:
    Equations(const ComponentModel& model, const std::vector<const RandomEffect*>& effects)
        : model_(model), effects_(effects)
    {
        for (const Partition& partition : model.partitions) {
            for (const RandomEffect* effect : effects_) {
                meetings_.push_back(
                    meeting(partition, model.partitions[static_cast<std::size_t>(effect->partition)]));
            }
        }
    }

    /// Variances of the effects by the observations that are kept; may be negative.
    Eigen::VectorXd solve(const std::vector<char>& kept) const
    {
        const auto n = static_cast<Eigen::Index>(effects_.size());
        const auto partitions = static_cast<Eigen::Index>(model_.partitions.size());
        Eigen::VectorXd square_of(partitions);
        Eigen::MatrixXd weight_of(partitions, n);
        for (Eigen::Index p = 0; p < partitions; ++p) {
            square_of[p] = square(model_.partitions[static_cast<std::size_t>(p)], kept);
            for (Eigen::Index b = 0; b < n; ++b) {
                weight_of(p, b) = weight(meetings_[static_cast<std::size_t>(p * n + b)], kept);
            }
        }
        Eigen::MatrixXd expectation = Eigen::MatrixXd::Zero(n, n);
        Eigen::VectorXd squares = Eigen::VectorXd::Zero(n);
        for (Eigen::Index a = 0; a < n; ++a) {
            for (const SumOfSquares& term : effects_[static_cast<std::size_t>(a)]->contrast) {
                squares[a] += term.sign * (square_of[term.partition] - square_of[term.fixed]);
                expectation.row(a) += term.sign * (weight_of.row(term.partition) - weight_of.row(term.fixed));
            }
        }
        return expectation.colPivHouseholderQr().solve(squares);
    }

private:
    /// Sum of squares of sums over sizes.
    double square(const Partition& partition, const std::vector<char>& kept) const
    {
        const std::vector<double> sum = sums(partition, model_.y, kept);
        const std::vector<double> size = sums(partition, {}, kept);
        double result = 0.0;
        for (std::size_t g = 0; g < sum.size(); ++g) {
            result += size[g] > 0.0 ? sum[g] * sum[g] / size[g] : 0.0;
        }
        return result;
    }

    /// Sum over groups g and parts h of the effect of n_gh^2 / n_g.
    static double weight(const Meeting& meeting, const std::vector<char>& kept)
    {
        const std::vector<double> size = sums(meeting.partition, {}, kept);
        std::vector<double> group(static_cast<std::size_t>(meeting.groups), 0.0);
        for (std::size_t p = 0; p < size.size(); ++p) {
            group[static_cast<std::size_t>(meeting.group[p])] += size[p];
        }
        double result = 0.0;
        for (std::size_t p = 0; p < size.size(); ++p) {
            result +=
                size[p] > 0.0 ? size[p] * size[p] / group[static_cast<std::size_t>(meeting.group[p])] : 0.0;
        }
        return result;
    }

    const ComponentModel& model_;
    const std::vector<const RandomEffect*>& effects_;
    std::vector<Meeting> meetings_;  // [partition * effects + effect]
};

/// Standard errors of all components with the units of a partition excluded in turn, in up to 20 groups.
Eigen::VectorXd jackknife(const Equations& equations, const Partition& units, Eigen::Index components,
                          int& groups)
{
    constexpr int most_groups = 20;
    groups = std::min(units.levels, most_groups);
    if (groups < 2) {
        return Eigen::VectorXd::Zero(components);
    }
    std::vector<Eigen::VectorXd> estimates;
    std::vector<char> kept(units.level.size());
    for (int group = 0; group < groups; ++group) {
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const auto at = static_cast<std::int64_t>(units.level[i]) * groups / units.levels;
            kept[i] = at == group ? 0 : 1;
        }
        estimates.push_back(equations.solve(kept));
    }
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(components);
    for (const Eigen::VectorXd& estimate : estimates) {
        mean += estimate / groups;
    }
    Eigen::VectorXd variance = Eigen::VectorXd::Zero(components);
    for (const Eigen::VectorXd& estimate : estimates) {
        variance += (estimate - mean).cwiseAbs2() * (groups - 1.0) / groups;
    }
    return variance.cwiseSqrt();
}

void set_interval(Component& component, double variance, double error, int groups)
{
    component.variance = std::max(0.0, variance);
    component.low = 0.0;
    component.high = component.variance;
    if (groups < 2 || !(error > 0.0)) {
        return;
    }
    const double t = student_quantile(groups - 1.0, 0.975);
    if (variance > 2.0 * error) {
        const double factor = std::exp(t * error / variance);
        component.low = variance / factor;
        component.high = variance * factor;
    } else {
        component.low = std::max(0.0, variance - t * error);
        component.high = std::max(0.0, variance + t * error);
    }
}

/// A variance of few draws is not known better than theirs is: chi-squared, as if
/// the draws themselves were seen.
void widen_to_draws(Component& component, double freedom)
{
    const StatisticLimits limits = variance_limits(component.variance, freedom);
    component.low = std::min(component.low, limits.low);
    component.high = std::max(component.high, limits.high);
}

}  // namespace

Partition partition_by(const std::vector<std::int64_t>& keys)
{
    std::vector<std::int64_t> rising = keys;
    std::sort(rising.begin(), rising.end());
    rising.erase(std::unique(rising.begin(), rising.end()), rising.end());
    Partition result{std::vector<int>(keys.size()), static_cast<int>(rising.size())};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        result.level[i] =
            static_cast<int>(std::lower_bound(rising.begin(), rising.end(), keys[i]) - rising.begin());
    }
    return result;
}

Partition both(const Partition& a, const Partition& b)
{
    std::vector<std::int64_t> keys(a.level.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i] = static_cast<std::int64_t>(a.level[i]) * b.levels + b.level[i];
    }
    return partition_by(keys);
}

std::vector<double> level_means(const Partition& partition, const std::vector<double>& y)
{
    std::vector<double> sum(static_cast<std::size_t>(partition.levels), 0.0);
    std::vector<double> size(sum.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) {
        sum[static_cast<std::size_t>(partition.level[i])] += y[i];
        size[static_cast<std::size_t>(partition.level[i])] += 1.0;
    }
    for (std::size_t g = 0; g < sum.size(); ++g) {
        sum[g] /= std::max(1.0, size[g]);
    }
    return sum;
}

std::vector<Component> variance_components(const ComponentModel& model)
{
    const auto partition_of = [&model](int index) -> const Partition& {
        return model.partitions[static_cast<std::size_t>(index)];
    };
    std::vector<Component> components;
    std::vector<const RandomEffect*> estimable;
    std::vector<std::size_t> place;  // of those estimable among the components
    std::vector<double> freedoms;
    for (const RandomEffect& effect : model.effects) {
        double freedom = 0.0;
        for (const SumOfSquares& term : effect.contrast) {
            freedom += term.sign * (partition_of(term.partition).levels - partition_of(term.fixed).levels);
        }
        Component component;
        component.name = effect.name;
        component.units = partition_of(effect.partition).levels;
        if (freedom < 1.0) {
            component.unknown = UnknownComponent::no_freedom;
        } else {
            estimable.push_back(&effect);
            place.push_back(components.size());
            freedoms.push_back(freedom);
        }
        components.push_back(component);
    }
    if (estimable.empty()) {
        return components;
    }
    const Equations equations(model, estimable);
    const Eigen::VectorXd variance = equations.solve(std::vector<char>(model.y.size(), 1));
    int block_groups = 0;
    const Eigen::VectorXd over_steps = jackknife(equations, model.blocks, variance.size(), block_groups);
    for (std::size_t k = 0; k < estimable.size(); ++k) {
        const auto index = static_cast<Eigen::Index>(k);
        Component& component = components[place[k]];
        set_interval(component, variance[index], over_steps[index], block_groups);
        component.present = component.low > 0.0;
        if (block_groups < 2 && k + 1 < estimable.size()) {  // the residual is what all the others are beside
            component.unknown = UnknownComponent::no_interval;
        }
        if (both(partition_of(estimable[k]->partition), model.blocks).levels >
            partition_of(estimable[k]->partition).levels) {  // outlasts a block
            int groups = 0;
            const double error =
                jackknife(equations, partition_of(estimable[k]->partition), variance.size(), groups)[index];
            set_interval(component, variance[index], error, groups);
        }
        widen_to_draws(component, freedoms[k]);
    }
    return components;
}

}  // namespace prismopt
