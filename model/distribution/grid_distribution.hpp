#pragma once

/// Distributions as masses on an even grid, for sums of kernels and for barriers.
///
/// mass[i] stands for density * step at its place. Masses move to another grid by cubic (four-point Lagrange)
/// weights, which keep mean, variance and third moment exactly. Masses beside an atom may be negative;
/// cumulated probabilities are kept monotone. After the input tables only + - * / and square roots on doubles
/// in a fixed order are used, so every machine composes the same bits.
/// docs/methods/composition-of-distributions.md.

#include "model/distribution/kernel_distribution.hpp"

#include <span>
#include <vector>

namespace prismopt {

/// Distribution of a duration, in seconds.
struct GridDistribution {
    double origin = 0.0;            // place of mass[0]; mass[i] lies at origin + i * step
    double step = 0.0;              // unused with one mass
    std::vector<double> mass{1.0};  // one mass: a constant
    double mean = 0.0;
    double variance = 0.0;
    // variance of the core, which the grid resolves; below the variance if slow modes dominate
    double core = 0.0;
    double shortest = 0.0;  // bounds of all draws
    double longest = 0.0;

    double place(std::size_t node) const;
    double last() const;  // place of the last mass, in seconds
    double deviation() const;
};

/// Returns the duration of a kernel of this mean time, on a grid for a sum whose core has this deviation.
GridDistribution kernel_duration(const KernelDistribution& residual, double seconds, double core_of_sum);

/// Returns the distribution of a sum of independent durations.
GridDistribution sum_of(std::span<const GridDistribution* const> distributions);

/// Returns the distribution of the product of a duration and an independent factor. Its grid
/// has 8 to 16 cells per deviation.
GridDistribution product_of(const GridDistribution& a, const GridDistribution& b);

/// Returns the distribution shifted by `seconds`, which may be negative.
GridDistribution shifted(GridDistribution distribution, double seconds);

/// Returns the distribution of the longest of n independent durations.
GridDistribution longest_of(const GridDistribution& distribution, int n);

/// Returns the quantile function of (duration - mean) / deviation; zero for a constant. Non-decreasing, with
/// a density linear within a cell.
Quantile standardised(const GridDistribution& distribution);

}  // namespace prismopt
