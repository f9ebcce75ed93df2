#include "search/components/answers.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace prismopt {

void refuse_answer(const std::string& why)
{
    throw std::runtime_error(
        "search: unexpected answer: " + why +
        "; answers must come in the order of the requests, and from a journal of the same study");
}

void refuse_nan(std::uint64_t point, std::size_t objective)
{
    throw std::runtime_error(
        "search: objective " + std::to_string(objective) + " of point " + std::to_string(point) +
        " is not a number, so it cannot be compared; predict this point alone to see why");
}

void check_objectives(std::uint64_t point, std::size_t given, std::size_t objectives)
{
    if (given != objectives) {
        refuse_answer("point " + std::to_string(point) + " has " + std::to_string(given) +
                      " objectives instead of " + std::to_string(objectives));
    }
}

void check_estimates(const Evaluation& evaluation, std::size_t objectives)
{
    check_objectives(evaluation.index, evaluation.objectives.size(), objectives);
    for (std::size_t k = 0; k < objectives; ++k) {
        const Estimate& estimate = evaluation.objectives[k];
        for (const double number : {estimate.value, estimate.simultaneous_low, estimate.simultaneous_high}) {
            if (std::isnan(number)) {
                refuse_nan(evaluation.index, k);
            }
        }
    }
}

const Sweep& expected(const Answer& answer, const SweepRange& range)
{
    const auto* sweep = std::get_if<Sweep>(&answer);
    if (sweep == nullptr || sweep->range.begin != range.begin || sweep->range.end != range.end) {
        refuse_answer("expected tuples " + std::to_string(range.begin) + " to " + std::to_string(range.end));
    }
    return *sweep;
}

const Evaluation& expected(const Answer& answer, std::deque<PointRequest>& awaited)
{
    const auto* evaluation = std::get_if<Evaluation>(&answer);
    if (awaited.empty()) {
        refuse_answer("no request is open");
    }
    const PointRequest request = awaited.front();
    if (evaluation == nullptr || evaluation->index != request.index || evaluation->rung != request.rung) {
        refuse_answer("expected point " + std::to_string(request.index) + " at rung " +
                      std::to_string(request.rung));
    }
    awaited.pop_front();
    return *evaluation;
}

std::vector<double> usable(const Bound& bound, const StudyGoal& goal)
{
    std::vector<double> least = bound.objectives;
    for (std::size_t k = 0; k < least.size(); ++k) {
        if (!goal.bounded[k]) {
            least[k] = -std::numeric_limits<double>::infinity();
        }
    }
    return least;
}

std::vector<double> values_of(const Evaluation& evaluation)
{
    std::vector<double> values;
    for (const Estimate& estimate : evaluation.objectives) {
        if (std::isnan(estimate.value)) {
            refuse_nan(evaluation.index, values.size());
        }
        values.push_back(estimate.value);
    }
    return values;
}

}  // namespace prismopt
