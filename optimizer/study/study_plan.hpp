#pragma once

/// Setup of a study before its first draw: its strategy and rungs, or the error if no plan is feasible.

#include "optimizer/study/study_model.hpp"
#include "search/archive.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// The strategy of a study and its rungs.
struct StudyPlan {
    ChosenStrategy chosen;
    std::vector<Rung> rungs;
};
StudyPlan plan_study(const StudyModel& model);

/// Throws InputError if a search would rank plans by a figure that nobody has given. plan_study() does, too.
void refuse_ranked_placeholders(const Scenario& scenario);

/// The strategy of a study for plans that need not keep its limits.
std::unique_ptr<Strategy> strategy_without_limits(const StudyModel& model, const std::string& name,
                                                  std::size_t rungs);

/// The search of these ranges for plans that may not fit into memory. It draws few of them where
/// an objective has no lower bound.
std::unique_ptr<Strategy> search_of_doubtful(const StudyModel& model, std::vector<SweepRange> ranges,
                                             std::size_t rungs);

/// Message for a space without feasible plans: the reasons, and by how much the closest plan misses.
std::string infeasible_text(const Scenario& scenario, const Archive& archive);
/// Throws infeasible_text() as an InputError.
[[noreturn]] void refuse_infeasible(const Scenario& scenario, const Archive& archive);

/// Message that the upper limits of an exact search are looked at again with so many fleets.
std::string added_fleets_text(int fleets);

/// Warning about the quantiles of the training time with a single step per fleet (ProductiveTimes).
inline constexpr const char* one_step_text =
    "[search] draws one step per fleet, so the variance of single steps stays in the quantiles of the "
    "training time and moves "
    "them too far from the median; set steps = 2 or more in rungs and confirm";

}  // namespace prismopt
