#pragma once

/// A small study with every kind of value: a point only bounded, limits that are infinite, a dominated member, labels with
/// blanks and beyond ASCII.

#include "io/results.hpp"

namespace prismopt {

Results sample_results();

}  // namespace prismopt
