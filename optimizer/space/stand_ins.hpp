#pragma once

/// Plans that stand for a sub-space, in bounds that hold for all of its plans.

#include "optimizer/space/design_map.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

/// Sub-spaces whose leading axes are set, up to a given one. Few of the later axes matter to a bound:
///
/// - The busiest stage (PlanCompiler::least_step) does not depend on sharding, the overlap of data
///   parallelism and the order of nodes. Where recompute is not set, it is that without recompute and offload
///   (PlanCompiler::least_constant_step).
/// - Memory (PlanCompiler::least_memory) does not depend on what overlaps with what, and is least with
///   the highest level of sharding.
/// - How long a job takes with a given step depends on the interval of its checkpoints and its spares.
///
/// The rows of plan_axes.hpp say what each axis can change.
class StandIns {
public:
    /// `last_axis`: place of the last axis that is set (place_of() in model/plan/plan_axes.hpp). The designs
    /// must outlive this object.
    StandIns(const DesignMap& designs, std::size_t last_axis);

    /// Whether there are so few stand-ins that judging a sub-space costs less than its plans. In spaces with
    /// many values of later axes, most of them name the same plan, so few plans stand behind many stand-ins.
    bool few() const;
    /// Whether plans of memory() are few, and each stands for several combinations of later axes.
    bool few_of_memory() const;
    /// Number of leading axes that are set.
    std::size_t depth() const { return depth_; }
    /// Chooses a sub-space.
    void set(std::span<const int> leading);
    /// Returns one plan for each choice of the axes that the work of a stage depends on.
    std::span<const ParallelPlan> steps() const { return steps_; }
    /// Whether these are without recompute and offload, whatever the sub-space has.
    bool least_work() const { return least_work_; }
    /// Returns one plan for each choice of the axes that memory depends on, with
    /// the highest level of sharding.
    std::span<const ParallelPlan> memory() const { return memory_; }
    /// Returns one plan for each choice of the axes that the run depends on, apart from its step.
    std::span<const ParallelPlan> runs() const { return runs_; }

private:
    using Labels = std::vector<int>;  // of all axes behind the leading ones

    void complete(std::span<const int> leading, const std::vector<Labels>& ends,
                  std::vector<ParallelPlan>& plans) const;

    const DesignMap& designs_;
    std::size_t depth_;
    bool least_work_;
    std::vector<Labels> ends_of_steps_;
    std::vector<Labels> ends_of_memory_;
    std::vector<Labels> ends_of_runs_;
    std::vector<ParallelPlan> steps_;
    std::vector<ParallelPlan> memory_;
    std::vector<ParallelPlan> runs_;
};

}  // namespace prismopt
