#pragma once

/// Mixtures of normal distributions.

#include <span>

namespace prismopt {

/// A part of a mixture of normal distributions.
struct NormalComponent {
    double weight = 1.0;  // the sum of all need not be one
    double mean = 0.0;
    double deviation = 0.0;  // positive
};

/// Probability of a mixture below a value. `parts`: at least one.
double mixture_probability(std::span<const NormalComponent> components, double below);

/// Quantile of a mixture, by bisection of its distribution function. `parts`: at least one.
double mixture_quantile(std::span<const NormalComponent> components, double probability);

}  // namespace prismopt
