#pragma once

/// The slow reference of a step's bounds: all ops of a graph, one after the other.

#include "model/step/graph/mean_step.hpp"

#include <algorithm>

namespace prismopt {

/// Returns the end of the last stage without the optimizer, in seconds, if one stage is
/// slower by this factor (-1: none is).
inline double replayed_step(const ExecutionGraph& graph, int slow_stage = -1, double slowness = 1.0)
{
    MeanRun run(graph, slow_stage, slowness);
    run.run([](std::size_t, const ProgramOp&, double, double, bool) {});
    double last = 0.0;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        last = std::max(last, run.step_end(stage));
    }
    return last;
}

}  // namespace prismopt
