#pragma once

/// The design space of a scenario, and the way from a point to a plan.

#include "io/scenario/scenario.hpp"
#include "search/space.hpp"

#include <span>
#include <vector>

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

/// Members that meet in each layer, in any phase of the plans that the rules on tp and cp allow: tensor times context parallel groups.
std::vector<int> layer_groups(const Scenario& scenario);

}  // namespace prismopt
