#pragma once

/// Persistent factor of a group of unequal GPUs that synchronise at barriers.
/// docs/methods/composition-of-distributions.md.

#include "model/distribution/quantile_table.hpp"

#include <vector>

namespace prismopt {

/// Quantiles of one GPU's persistent factor at the nodes of group distributions, for all of which they serve.
std::vector<double> group_nodes(const Quantile& member);

/// Distribution of the factor g(x) = E[max_i S_i R_i | max_i S_i = x] / E[max_i R_i] of n
/// members with persistent factors S_i.
class GroupDistribution {
public:
    /// `nodes`: group_nodes() of a member; `segment_cv`: cv of the work between two barriers.
    GroupDistribution(std::vector<double> nodes, double segment_cv);
    GroupDistribution(const Quantile& member, double segment_cv)
        : GroupDistribution(group_nodes(member), segment_cv)
    {
    }

    /// Returns the quantile function of the factor of a group of n members; one if all members are equal.
    Quantile factor(int n) const;

private:
    double given_largest(std::size_t node, int n) const;  // g(x) at x = x_[node]
    /// Returns the mean of the largest of x times a residual and n - 1 others, each at most x *
    /// ratio(k) with probability below[k].
    double mean_of_largest(double x, const std::vector<double>& below, int n) const;

    double segment_cv_;
    std::vector<double> x_;                   // [node]: quantiles of one member
    std::vector<std::vector<double>> below_;  // [node][k]: H_x(t) at t = x_[node] * ratio(k)
    std::vector<double> equal_;               // [k]: H_x(t) of equal members
};

}  // namespace prismopt
