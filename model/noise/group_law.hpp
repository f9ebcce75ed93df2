#pragma once

/// Persistent factor of a group of GPUs that meets at barriers: see build_noise_tables() for the formula.

#include "model/noise/quantile_table.hpp"

#include <vector>

namespace prismopt {

class GroupLaw {
public:
    /// `member`: law of one GPU's persistent factor; `segment_cv`: spread of the work between two barriers.
    GroupLaw(const Quantile& member, double segment_cv);

    /// Quantile function of the factor of a group of n members.
    Quantile factor(int n) const;

private:
    double given_largest(std::size_t node, int n) const;  // g(x) at x = x_[node]

    Quantile member_;
    double segment_cv_;
    std::vector<double> x_;                   // [node]: quantiles of the member law
    std::vector<std::vector<double>> below_;  // [node][k]: H_x(t) at t = x_[node] * ratio(k)
};

}  // namespace prismopt
