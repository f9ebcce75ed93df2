#pragma once

/// Memory of one pipeline stage at the moments of a step that can be its peak:
/// docs/methods/step-graph.md, "Memory".

#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"
#include "model/plan/plan.hpp"
#include "model/step/compile/memory.hpp"
#include "model/step/graph/step_summary.hpp"

#include <boost/container/small_vector.hpp>

namespace prismopt {

/// What decides how much memory a stage needs, beside what it holds. Plan and model must outlive it.
struct MemoryCase {
    const ParallelPlan& plan;
    const MemoryModel& model;
    int microbatches = 1;
};

/// What the chunks of a stage hold, but for activations.
class StageContents {
public:
    void add(const ChunkContents& chunk);
    /// Returns the memory at the moment when it is most. `activations`: bytes
    /// saved at the peak of the schedule.
    MemoryUse peak(int stage, double activations, const MemoryCase& of) const;

private:
    /// Numbers that are whole on a GPU while the passes of a layer run: its own, and those of the next one.
    double gathered() const;

    Parameters parameters_;
    boost::container::small_vector<const LayerCost*, 8> layer_costs_;
};

}  // namespace prismopt
