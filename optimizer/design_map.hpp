#pragma once

/// The design space of a scenario, and the way from a point to a plan.

#include "io/scenario.hpp"
#include "search/space.hpp"

#include <span>
#include <string>

namespace prismopt {

class DesignMap {
public:
    explicit DesignMap(const Scenario& scenario);

    const Space& space() const { return space_; }
    ParallelPlan plan(std::span<const int> point) const;
    /// Which of Scenario::hardware; 0 where there are no knobs.
    std::size_t hardware(std::span<const int> point) const { return knobs_ ? static_cast<std::size_t>(point.front()) : 0; }

private:
    SpaceSettings choices_;
    bool knobs_ = false;  // the first axis is the kind of hardware
    Space space_;
};

/// Members that meet in each layer, of all plans: tensor times context parallel groups.
std::vector<int> layer_groups(const SpaceSettings& space);

/// A plan from "tp=8 pp=16 v=2 ..." in the names of the axes. What is not named is taken from the axis when it has one choice,
/// else from ParallelPlan's defaults; gpus from the largest choice. Throws InputError on unknown names, values that are not
/// of the axis' kind, or GPUs that tp * cp * pp does not divide.
ParallelPlan parse_design(const std::string& text, const Scenario& scenario);

/// "tp=8 pp=16 ..." such that parse_design() gives the plan back.
std::string design_text(const ParallelPlan& plan);

/// Why a plan cannot run on this cluster and these phases, before any cost is computed; the constraints of the space.
std::optional<Infeasible> structural_problem(const ParallelPlan& plan, const Scenario& scenario);

}  // namespace prismopt
