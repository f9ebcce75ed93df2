#pragma once

/// The design space of a scenario, and the mapping from points to plans.

#include "io/scenario/scenario.hpp"
#include "search/space.hpp"

#include <span>
#include <string>
#include <vector>

namespace prismopt {

class DesignMap {
public:
    explicit DesignMap(const Scenario& scenario);

    const Space& space() const { return space_; }
    ParallelPlan plan(std::span<const int> point) const;
    /// Index into Scenario::hardware; 0 if there are no [[knob]]s.
    std::size_t hardware(std::span<const int> point) const
    {
        return hardware_parameters_ ? static_cast<std::size_t>(point.front()) : 0;
    }

    /// The words of that variant; empty if there are no [[knob]]s.
    std::string hardware_words(std::span<const int> point) const
    {
        return hardware_parameters_ ? space_.axes().front().labels[hardware(point)] : "";
    }

    /// Axes in front of those of plans.
    std::size_t axes_of_hardware() const { return hardware_parameters_ ? 1 : 0; }

private:
    SpaceSettings choices_;
    bool hardware_parameters_ = false;  // the first axis is the hardware variant
    Space space_;
};

/// Sizes of the groups that synchronise in each layer (tensor times context parallel), in any phase of the plans that the rules
/// on tp and cp allow.
std::vector<int> layer_groups(const Scenario& scenario);

}  // namespace prismopt
