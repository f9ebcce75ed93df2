#pragma once

/// Summary of the memory and time of a step, for predictions.

#include "model/base/units.hpp"

#include <string_view>

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
    Bytes host{};    // offloaded states, in the memory of the host: not part of the total
    Bytes cached{};  // freed blocks that the allocator keeps as long as there is room: not part of the total

    Bytes total() const
    {
        return parameters + gradients + optimizer_state + activations + workspace + reserved;
    }
};

/// A part of a GPU's memory by its name in messages.
struct MemoryComponent {
    std::string_view name;
    Bytes size;
};
/// The largest part but for what the accelerator reserves.
inline MemoryComponent largest_component(const MemoryUse& use)
{
    MemoryComponent largest{"parameters", use.parameters};
    for (const MemoryComponent& component :
         {MemoryComponent{"gradients", use.gradients},
          MemoryComponent{"optimizer state", use.optimizer_state},
          MemoryComponent{"activations", use.activations}, MemoryComponent{"workspace", use.workspace}}) {
        if (component.size > largest.size) {
            largest = component;
        }
    }
    return largest;
}

/// Shares of the noise-free step of the busiest critical path; they sum to at most one.
struct StepShares {
    double bubble = 0.0;                 // idle time of the busiest stage
    double exposed_communication = 0.0;  // communication on the critical path that no compute hides
    double host = 0.0;                   // waits of the busiest stage for launches by the host
};

}  // namespace prismopt
