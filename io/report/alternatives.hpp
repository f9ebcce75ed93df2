#pragma once

/// What there is beside the answer of a study: the best plan of each number of GPUs,
/// and what would change the answer.

#include "io/report/question_answer.hpp"

#include <vector>

namespace prismopt {

/// The plan of each number of GPUs of the front, fewest first: the least of what is asked for
/// that is probable enough and keeps the limits, otherwise the most probable. Without a question:
/// the cheapest that keeps the deadline with 90 %, or the fastest if there is none. Empty where
/// the file has no tables of times.
std::vector<QuestionedPlan> plans_by_size(const Results& results, const StudyNotes& notes);

/// Times, probabilities and software with which the answer would be another one. Empty without a
/// question with a limit of the time.
std::vector<QuestionLine> answer_changes(const Results& results, const StudyNotes& notes);

}  // namespace prismopt
