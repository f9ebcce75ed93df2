#pragma once

/// How many steps of a plan to measure. docs/methods/posterior.md.

#include <cstddef>
#include <span>

namespace prismopt {

/// Mean of drawn steps, and the number of steps whose mean is known to a relative precision (95 %) if
/// they vary as on one set of GPUs.
struct StepsToMeasure {
    double mean_s = 0.0;
    std::size_t count = 0;
};
/// `draws`: [fleet * steps + step].
StepsToMeasure steps_to_measure(std::span<const double> draws, int fleets, int steps, double precision);

}  // namespace prismopt
