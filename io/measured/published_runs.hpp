#pragma once

/// Published training runs in the catalog, to validate the model.

#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct PublishedRun {
    std::string name;
    std::string source;
    std::string assumed;  // values that the source does not give
    Scenario scenario;    // workload, cluster, one phase, the default variability; no space
    std::string design;   // in the syntax of --design
    bool sequence_parallel = true;
    Seconds step_time;            // measured, or zero if the source gives a rate
    FlopsPerSecond compute_rate;  // measured model FLOP/s per GPU, or zero
    Bytes memory;                 // measured peak of a GPU, or zero
};

/// All runs of the catalog, in the order of their names.
std::vector<PublishedRun> published_runs();

}  // namespace prismopt
