#pragma once

/// Measured training runs from papers, in the catalog: what the model is held against.

#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct PublishedRun {
    std::string name;
    std::string source;
    std::string assumed;  // what the source does not say
    Scenario scenario;    // workload, cluster, one phase, the default variability; no space
    std::string design;   // in the names of the axes
    bool sequence_parallel = true;
    Seconds step_time;            // measured, or zero where the source has a rate
    FlopsPerSecond compute_rate;  // measured model FLOP/s per GPU, or zero
};

/// All runs of the catalog, in the order of their names.
std::vector<PublishedRun> published_runs();

}  // namespace prismopt
