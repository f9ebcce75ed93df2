#pragma once

/// Checks that answers match their requests, for strategies that receive
/// answers in the order of the requests.

#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace prismopt {

/// Throws std::runtime_error: an answer is not what was asked for.
[[noreturn]] void refuse_answer(const std::string& why);
/// Throws std::runtime_error: an objective of a point is not a number.
[[noreturn]] void refuse_nan(std::uint64_t point, std::size_t objective);
/// Throws std::runtime_error unless the answer for a point has as many objectives as the study.
void check_objectives(std::uint64_t point, std::size_t given, std::size_t objectives);

/// Throws std::runtime_error unless an evaluation has this many objectives, whose
/// values and limits are numbers.
void check_estimates(const Evaluation& evaluation, std::size_t objectives);

/// The sweep in an answer. Throws std::runtime_error if it is not of this range.
const Sweep& expected(const Answer& answer, const SweepRange& range);

/// The evaluation in an answer; removes its request from `awaited`. Throws std::runtime_error if it
/// does not match the first request.
const Evaluation& expected(const Answer& answer, std::deque<PointRequest>& awaited);

/// Valid lower bounds; minus infinity for objectives without one.
std::vector<double> usable(const Bound& bound, const StudyGoal& goal);

/// Objective values of an evaluation. Throws std::runtime_error if one is not a number.
std::vector<double> values_of(const Evaluation& evaluation);

}  // namespace prismopt
