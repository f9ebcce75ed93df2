#pragma once

/// Strategies by name, and the choice of one for a space.

#include "search/strategy.hpp"

#include <memory>
#include <string>
#include <vector>

namespace prismopt {

/// A strategy with its name and, if "auto" chose it, the reason.
struct ChosenStrategy {
    std::string name;
    std::string why;  // empty: the user chose it
    std::unique_ptr<Strategy> strategy;
};
/// Names of strategies in scenarios: "auto"; "nlopt", which tunes continuous hardware parameters first and then searches as
/// "auto" does; and those of the strategies.
std::vector<std::string> strategy_names();
/// Makes a strategy by name. For a part of a space, "auto" chooses one that covers all of it. The space must outlive the
/// strategy. Throws std::invalid_argument for an unknown name.
ChosenStrategy make_strategy(const std::string& name, const Space& space, const StudyGoal& goal);

}  // namespace prismopt
