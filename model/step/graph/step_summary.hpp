#pragma once

/// Summary of the memory and time of a step, for predictions.

#include "model/base/units.hpp"

namespace prismopt {

/// Bytes on the fullest GPU, and where it is.
struct MemoryUse {
    Bytes parameters;
    Bytes gradients;
    Bytes optimizer_state;
    Bytes activations;  // peak over the schedule
    Bytes workspace;    // largest temporaries of one kernel chain
    Bytes reserved;     // of the accelerator
    int stage = 0;

    Bytes total() const { return parameters + gradients + optimizer_state + activations + workspace + reserved; }
};

/// Shares of the noise-free step of the busiest critical path; they sum to at most one.
struct StepShares {
    double bubble = 0.0;                 // idle time of the busiest stage
    double exposed_communication = 0.0;  // communication on the critical path that no compute hides
};

}  // namespace prismopt
