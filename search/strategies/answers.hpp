#pragma once

/// Checks that an answer is to what was asked, for strategies that wait for answers in the order of their requests.

#include "search/strategy.hpp"

#include <deque>
#include <vector>

namespace prismopt {

/// The sweep, if it is of this range. Throws std::runtime_error otherwise.
const Sweep& expected(const Answer& answer, const SweepRange& range);

/// The evaluation, if it is of the first request, which it takes away. Throws std::runtime_error otherwise.
const Evaluation& expected(const Answer& answer, std::deque<PointRequest>& awaited);

/// The bounds that hold, minus infinity for the others.
std::vector<double> usable(const Bound& bound, const StudyGoal& goal);

/// The values of an evaluation. Throws std::runtime_error when one is not a number.
std::vector<double> values_of(const Evaluation& evaluation);

}  // namespace prismopt
