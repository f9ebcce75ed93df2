#pragma once

/// What a study does before its first draw: its strategy and ladder, and the refusal where nothing can be drawn.

#include "optimizer/study/evaluator.hpp"
#include "search/archive.hpp"
#include "search/strategy.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// The strategy of a study, and the fidelity ladder that it climbs.
struct StudyPlan {
    ChosenStrategy chosen;
    std::vector<Rung> rungs;
};
StudyPlan plan_study(const StudyModel& model);

/// Fleets of the last rung of an exact search whose upper limits need `needed`: as many where the scenario gives no rungs, up to
/// most_default_fleets; otherwise `top` as it is.
inline constexpr int most_default_fleets = 16384;
int fleets_of_top_rung(const SearchSettings& search, std::string_view strategy, int top, int needed);

/// On a space in which nothing is feasible: the reasons, and by how much the nearest plan misses.
std::string infeasible_text(const Scenario& scenario, const Archive& archive);
/// Throws it as an InputError.
[[noreturn]] void refuse_infeasible(const Scenario& scenario, const Archive& archive);

/// Of an exact search whose top rung has `top` fleets where upper limits among so many plans need `needed`.
std::string short_ladder_text(int top, std::uint64_t feasible, int needed);

/// Of one whose top rung was given `top` fleets for these plans.
std::string raised_ladder_text(int top, std::uint64_t feasible);

/// What a single step a fleet does to quantiles of the training time (ProductiveTimes).
inline constexpr const char* one_step_text =
    "[search] draws one step per fleet, so the variance of single steps stays in the quantiles of the training time and moves "
    "them too far from the median; set steps = 2 or more in rungs and confirm";

}  // namespace prismopt
