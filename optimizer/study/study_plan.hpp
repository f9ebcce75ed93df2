#pragma once

/// Setup of a study before its first draw: its strategy and rungs, or the error if no plan is feasible.

#include "optimizer/study/evaluator.hpp"
#include "search/archive.hpp"
#include "search/strategy.hpp"

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

/// Fleets of the last rung of an exact search whose upper limits need `needed` fleets: `needed`, up to most_default_fleets, if
/// the scenario gives no rungs; otherwise `top`.
inline constexpr int most_default_fleets = 16384;
int fleets_of_top_rung(const SearchSettings& search, std::string_view strategy, int top, int needed);

/// Message for a space without feasible plans: the reasons, and by how much the closest plan misses.
std::string infeasible_text(const Scenario& scenario, const Archive& archive);
/// Throws infeasible_text() as an InputError.
[[noreturn]] void refuse_infeasible(const Scenario& scenario, const Archive& archive);

/// Warning that the top rung of an exact search has `top` fleets, fewer than the `needed` for upper limits on this number of plans.
std::string short_ladder_text(int top, std::uint64_t feasible, int needed);

/// Message that the top rung was raised to `top` fleets for these plans.
std::string raised_ladder_text(int top, std::uint64_t feasible);

/// Warning about the quantiles of the training time with a single step per fleet (ProductiveTimes).
inline constexpr const char* one_step_text =
    "[search] draws one step per fleet, so the variance of single steps stays in the quantiles of the training time and moves "
    "them too far from the median; set steps = 2 or more in rungs and confirm";

}  // namespace prismopt
