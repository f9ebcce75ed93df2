#pragma once

/// What a search has come to, in words.

#include "search/outcome.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <string>
#include <string_view>

namespace prismopt {

/// "proved complete: ...", or what a search has found so far and what ended it.
/// `strategy` is its name in scenarios.
std::string outcome_text(const Outcome& outcome, std::string_view strategy);

/// Why "auto" chose a strategy: "1,617 combinations of values can all be checked,
/// and lower bounds exclude ...".
std::string choice_text(const StrategyReason& why);

}  // namespace prismopt
