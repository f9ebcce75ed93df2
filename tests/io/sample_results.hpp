#pragma once

/// A small study with every kind of value: a point only bounded, limits that are infinite, a dominated
/// member, labels with blanks and beyond ASCII.

#include "io/results/results.hpp"

namespace prismopt {

Results sample_results();

/// The same front amid so many feasible points, half of them drawn.
Results sample_results_of(std::uint64_t evaluations);

}  // namespace prismopt
