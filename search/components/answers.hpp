#pragma once

/// Checks that answers match their requests, for strategies that receive answers in the order of the requests.

#include "search/strategy.hpp"

#include <deque>
#include <vector>

namespace prismopt {

/// The sweep in an answer. Throws std::runtime_error if it is not of this range.
const Sweep& expected(const Answer& answer, const SweepRange& range);

/// The evaluation in an answer; removes its request from `awaited`. Throws std::runtime_error if it does not match the first
/// request.
const Evaluation& expected(const Answer& answer, std::deque<PointRequest>& awaited);

/// Valid lower bounds; minus infinity for objectives without one.
std::vector<double> usable(const Bound& bound, const StudyGoal& goal);

/// Objective values of an evaluation. Throws std::runtime_error if one is not a number.
std::vector<double> values_of(const Evaluation& evaluation);

}  // namespace prismopt
