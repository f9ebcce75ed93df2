#pragma once

/// Laws as masses on an even grid: sums of kernels, and barriers. After the input tables only + - * / and square roots on doubles
/// in a fixed order, so that every machine composes the same bits.
///
/// mass[i] stands for density * step at its place. It moves to another grid by cubic (four-point Lagrange) weights: they
/// keep mean, variance and third moment of any law, however narrow, and a smooth density to fourth order; so sums have exact
/// moments, and need no correction for the grid. Beside an atom masses may be negative; cumulated probabilities are kept monotone.

#include "model/distribution/kernel_law.hpp"

#include <span>
#include <vector>

namespace prismopt {

/// Law of a duration in seconds.
struct GridLaw {
    double origin = 0.0;            // place of mass[0]; mass[i] lies at origin + i * step
    double step = 0.0;              // of no account where there is one mass
    std::vector<double> mass{1.0};  // one mass: a constant
    double mean = 0.0;
    double variance = 0.0;
    double core = 0.0;  // variance of the law's core: what the grid resolves; less than the variance where slow modes dominate
    double shortest = 0.0;  // no draw lies outside these
    double longest = 0.0;

    double place(std::size_t node) const;
    double last() const;  // place of the last mass
    double deviation() const;
};

/// A kernel of this mean time, on a grid that suits a sum whose core has this deviation.
GridLaw kernel_duration(const KernelLaw& residual, double seconds, double core_of_sum);

/// Sum of independent durations.
GridLaw sum_of(std::span<const GridLaw* const> laws);

/// Product of independent laws, one of them of factors. Its grid has 8 to 16 cells a deviation.
GridLaw product_of(const GridLaw& a, const GridLaw& b);

/// The law with so many seconds added, of which it may lose what it has.
GridLaw shifted(GridLaw law, double seconds);

/// Longest of n independent durations of this law.
GridLaw longest_of(const GridLaw& law, int n);

/// Quantile function of (duration - mean) / deviation; zero for a constant. Non-decreasing, its density linear within a cell.
Quantile standardised(const GridLaw& law);

}  // namespace prismopt
