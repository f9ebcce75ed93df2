#pragma once

/// Cost estimate of a search.

#include "io/scenario/scenario.hpp"
#include "model/base/parallel.hpp"

#include <string>

namespace prismopt {

struct DryRun {
    std::string text;
    std::string stopped;  // text of Stopped, if the dry run was stopped; empty: complete
};

/// Counts the space, times noise-free evaluations and draws, and estimates the core-hours. A space that
/// is not counted after `most_counting_s` of processor time is estimated from a sample, as one of more
/// than ten million combinations is from the beginning. Calls `pause` frequently. Throws InputError if no
/// plan of the space is feasible.
DryRun dry_run(const Scenario& scenario, const Pause& pause, double most_counting_s = 10.0);

}  // namespace prismopt
