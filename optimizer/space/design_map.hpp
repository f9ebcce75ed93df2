#pragma once

/// The design space of a scenario, and the mapping from points to plans.

#include "io/scenario/scenario.hpp"
#include "io/trainers/trainer.hpp"
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
    /// Index into Scenario::variants.
    std::size_t variant(std::span<const int> point) const
    {
        return has_variants_ ? static_cast<std::size_t>(point.front()) : 0;
    }

    /// The words of that variant; empty if the study has no choices.
    std::string variant_words(std::span<const int> point) const
    {
        return has_variants_ ? space_.axes().front().labels[variant(point)] : "";
    }

    /// Axes in front of those of plans.
    std::size_t axes_of_variants() const { return has_variants_ ? 1 : 0; }

private:
    SpaceSettings settings_;
    bool has_variants_ = false;  // the first axis is the variant
    Space space_;
};

/// Whether the search may have a plan as far as a rule of the trainer goes that it is limited to: the rule
/// allows the plan, or the search lists its value of the axis of that rule (SearchSettings::runs_too).
bool allows(const TrainerRule& rule, const PlannedPhase& plan, const SearchSettings& search);

/// Whether a rule of a trainer is on the job whatever its plan, as that on its number type is: such rules
/// have the first axis, and refuse the simplest plan on these GPUs, too.
bool is_on_job(const TrainerRule& rule, int gpus, const Job& job);

/// Sizes of the groups that synchronise in each layer (tensor times context parallel), in any phase of the
/// plans that the rules on tp and cp allow.
std::vector<int> layer_groups(const Scenario& scenario);

}  // namespace prismopt
