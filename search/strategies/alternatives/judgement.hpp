#pragma once

/// Alternatives judged by several tasks: a weighted sum over the tasks, and the worst regret.

#include "search/outcome.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

struct Judged {
    Known weighted = {};  // infinite: the alternative serves some task not at all
    Known regret = {};    // the largest over the tasks: the value over the least of the task, less one
};

/// By how much each cell has more than the least of its task over all alternatives, relative.
std::vector<Known> regrets(std::span<const Known> cells, std::size_t tasks);

/// Judges each alternative by what is known of its cells, [alternative * tasks + task]. Regret is relative
/// minimax regret: Kouvelis, Yu, Robust Discrete Optimization and Its Applications (1997), chapter 1.
std::vector<Judged> judged(std::span<const Known> cells, const AlternativeGoal& alternatives);

/// Whether an alternative is on no front of the two, as another is surely not worse in any and better in one.
bool surely_dominates(const Judged& a, const Judged& b);

/// The alternatives whose values no other dominates; those without a value are on no front.
std::vector<bool> on_front(std::span<const Judged> all);

}  // namespace prismopt
