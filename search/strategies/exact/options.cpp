#include "search/strategies/exact/options.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace prismopt {

bool all_bounded(const StudyGoal& goal)
{
    return std::find(goal.bounded.begin(), goal.bounded.end(), false) == goal.bounded.end();
}

ExactOptions checked(ExactOptions options)
{
    const auto fail = [](const std::string& what) { throw std::invalid_argument("exact search: " + what); };
    if (options.goal.objectives < 1) {
        fail("there are no objectives, so nothing can be compared; give at least one");
    }
    if (options.goal.bounded.size() != options.goal.objectives) {
        fail("`bounded` has " + std::to_string(options.goal.bounded.size()) + " entries for " +
             std::to_string(options.goal.objectives) + " objectives; give one per objective");
    }
    if (options.goal.top_rung < 1) {
        fail("top rung " + std::to_string(options.goal.top_rung) + " has no draws; use 1 or more");
    }
    if (options.sweeps.ranges < 1 || options.sweeps.at_once < 1 || options.batches.most < 1) {
        fail("sweeps.ranges, sweeps.at_once and batches.most must be 1 or more");
    }
    if (options.batches.most_of_many < options.batches.most) {
        fail("batches.most_of_many must be at least batches.most");
    }
    if (options.ranges.empty()) {
        options.ranges = split_space(options.space_size, options.sweeps.ranges);
    }
    return options;
}

}  // namespace prismopt
