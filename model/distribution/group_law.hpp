#pragma once

/// Persistent factor of a group of GPUs that meets at barriers: see build_noise_tables() for the formula.

#include "model/distribution/quantile_table.hpp"

#include <vector>

namespace prismopt {

class GroupLaw {
public:
    /// `member`: law of one GPU's persistent factor; `segment_cv`: spread of the work between two barriers.
    GroupLaw(const Quantile& member, double segment_cv);

    /// Quantile function of the factor of a group of n members: one where they are all alike.
    Quantile factor(int n) const;

private:
    double given_largest(std::size_t node, int n) const;  // g(x) at x = x_[node]
    /// Mean of the largest of a residual times x and n - 1 more that are at most x * exp(log ratio) with probability below[k].
    double mean_of_largest(double x, const std::vector<double>& below, int n) const;

    Quantile member_;
    double segment_cv_;
    std::vector<double> x_;                   // [node]: quantiles of the member law
    std::vector<std::vector<double>> below_;  // [node][k]: H_x(t) at t = x_[node] * ratio(k)
    std::vector<double> equal_;               // [k]: H_x(t) of members that are all alike
};

}  // namespace prismopt
