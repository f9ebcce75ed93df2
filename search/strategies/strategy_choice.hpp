#pragma once

/// Strategies by name, and the choice of one for a space.

#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// When a study first tunes continuous hardware parameters.
enum class Tuning { never, if_continuous, always };

/// Facts about a strategy that studies depend on.
struct StrategyFacts {
    std::string_view name;               // in scenarios
    bool chooses = false;                // picks one of the others for the space
    bool covers = false;                 // checks all combinations of a space, or of a part of it
    bool excludes = false;               // ... by lower bounds, before it evaluates those that are left
    bool compares_alternatives = false;  // StudyGoal::alternatives
    int rungs_between = 2;               // factor between the draws of one rung and of the next
    Tuning tuning = Tuning::never;
};
/// Facts of all strategies: "auto"; "nlopt", which tunes continuous hardware parameters first and then
/// searches as "auto" does; and those that search.
std::span<const StrategyFacts> strategies();
/// The facts of a name of strategies(). Throws std::invalid_argument for an unknown name.
const StrategyFacts& facts_of_strategy(std::string_view name);

/// Why "auto" chose a strategy.
enum class ChoiceReason {
    compares_alternatives,  // the study compares alternatives, by lower bounds
    few_objectives,         // too many tuples to check all; crowding distance suffices
    many_objectives,        // too many tuples to check all; niches along reference directions
    no_bounds,              // all tuples can be checked; no objective has a lower bound
    all_bounded,            // all tuples can be checked, all objectives have one
    some_unbounded          // all tuples can be checked, some objectives have one
};
struct StrategyReason {
    ChoiceReason choice = ChoiceReason::all_bounded;
    bool of_space_part = false;  // of a space, all of which is to be checked
    std::uint64_t tuples = 0;
    std::size_t objectives = 0;

    bool operator==(const StrategyReason&) const = default;
};

/// A strategy with its name and, if "auto" chose it, the reason.
struct ChosenStrategy {
    std::string name;
    std::optional<StrategyReason> why;  // nothing: the user chose it
    std::unique_ptr<Strategy> strategy;
};
/// Names of all strategies.
std::vector<std::string> strategy_names();
/// Makes a strategy by name. For a part of a space, "auto" chooses one that covers all of it. The space must
/// outlive the strategy. Throws std::invalid_argument for an unknown name.
ChosenStrategy make_strategy(const std::string& name, const Space& space, const StudyGoal& goal);
/// Makes an exact search of these ranges alone.
std::unique_ptr<Strategy> exact_search_of(std::vector<SweepRange> ranges, const StudyGoal& goal);

}  // namespace prismopt
