#pragma once

/// Plans that stand for a sub-space, in bounds that hold for all of its plans.

#include "optimizer/space/design_map.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

/// Sub-spaces whose axes up to recomputed_layers are set. The bound of a busiest stage (PlanCompiler::least_step) depends on few of
/// the later axes: not on sharding, the overlap of data parallelism and the order of nodes. How long a job takes with a given
/// step depends on the interval of its checkpoints and its spares. A later axis that is not named here counts among those of the
/// stages.
class StandIns {
public:
    explicit StandIns(const DesignMap& designs);

    /// Whether there are so few stand-ins that judging a sub-space costs less than its plans. In spaces with many values of later
    /// axes, most of them name the same plan, so few plans stand behind many stand-ins.
    bool few() const;
    /// Number of leading axes that are set.
    std::size_t depth() const { return depth_; }
    /// Chooses a sub-space.
    void set(std::span<const int> leading);
    /// Returns one plan of the sub-space for each choice of the axes that the work of a stage depends on.
    std::span<const ParallelPlan> steps() const { return steps_; }
    /// Returns one plan for each choice of the axes that the run depends on, apart from its step.
    std::span<const ParallelPlan> runs() const { return runs_; }

private:
    using Labels = std::vector<int>;  // of all axes behind the leading ones

    void complete(std::span<const int> leading, const std::vector<Labels>& ends, std::vector<ParallelPlan>& plans) const;

    const DesignMap& designs_;
    std::size_t depth_;
    std::vector<Labels> ends_of_steps_;
    std::vector<Labels> ends_of_runs_;
    std::vector<ParallelPlan> steps_;
    std::vector<ParallelPlan> runs_;
};

}  // namespace prismopt
