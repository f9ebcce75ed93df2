#pragma once

/// What a search has come to, in words.

#include "io/results/results.hpp"
#include "search/outcome.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// "proved complete: ...", or what a search has found so far and what ended it.
/// `strategy` is its name in scenarios.
std::string outcome_text(const Outcome& outcome, std::string_view strategy);
/// Of a part of a space that has no feasible plan.
std::string no_plan_text(int space_part, int space_parts);
/// Of a search that was stopped (StudyInfo::stopped_by), with its outcome so far in words, and how it goes
/// on. `out`: the file of its results.
std::string stopped_text(const Results& results, const std::string& out);
/// Why a study has no plan to choose, and what to do about it.
std::string empty_front_text(const Results& results);
/// Of a search that was stopped while its hardware was tuned. `progress`: of the tuning.
std::string stopped_tuning_text(std::string_view stopped_by, std::string_view progress,
                                const std::string& out);
/// Of merged parts.
std::string merged_text(const Results& merged);

/// How much better than the best plan found a plan may be, by objective: "training_time_p99 0.21 %, ...".
/// `objectives`: their names.
std::string gaps_text(const std::vector<Gap>& gaps, const std::vector<std::string>& objectives);

/// Why plans that may not fit were not searched: the strategy checks only some plans.
std::string not_searched_text(std::string_view strategy);
/// What the search of plans that may not fit has come to; nothing: there were none. `proved`: no other plan
/// of their kind would be on the front.
std::string may_not_fit_text(const std::optional<Outcome>& doubtful, bool proved);
/// As may_not_fit_text(), for merged parts.
std::string merged_may_not_fit_text(const MayNotFit& list);

/// Why "auto" chose a strategy: "1,617 combinations of values can all be checked,
/// and lower bounds exclude ...".
std::string choice_text(const StrategyReason& why);

}  // namespace prismopt
