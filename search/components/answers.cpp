#include "search/components/answers.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace prismopt {
namespace {

[[noreturn]] void refuse(const std::string& why)
{
    throw std::runtime_error("search: unexpected answer: " + why +
                             "; answers must come in the order of the requests, and from a journal of the same study");
}

}  // namespace

const Sweep& expected(const Answer& answer, const SweepRange& range)
{
    const auto* sweep = std::get_if<Sweep>(&answer);
    if (sweep == nullptr || sweep->range.begin != range.begin || sweep->range.end != range.end) {
        refuse("expected tuples " + std::to_string(range.begin) + " to " + std::to_string(range.end));
    }
    return *sweep;
}

const Evaluation& expected(const Answer& answer, std::deque<PointRequest>& awaited)
{
    const auto* evaluation = std::get_if<Evaluation>(&answer);
    if (awaited.empty()) refuse("no request is open");
    const PointRequest request = awaited.front();
    if (evaluation == nullptr || evaluation->index != request.index || evaluation->rung != request.rung) {
        refuse("expected point " + std::to_string(request.index) + " at rung " + std::to_string(request.rung));
    }
    awaited.pop_front();
    return *evaluation;
}

std::vector<double> usable(const Bound& bound, const StudyGoal& goal)
{
    std::vector<double> least = bound.objectives;
    for (std::size_t k = 0; k < least.size(); ++k) {
        if (!goal.bounded[k]) least[k] = -std::numeric_limits<double>::infinity();
    }
    return least;
}

std::vector<double> values_of(const Evaluation& evaluation)
{
    std::vector<double> values;
    for (const Estimate& estimate : evaluation.objectives) {
        if (std::isnan(estimate.value)) {
            throw std::runtime_error("search: an objective of point " + std::to_string(evaluation.index) +
                                     " is not a number, so it cannot be compared; predict this point alone to see why");
        }
        values.push_back(estimate.value);
    }
    return values;
}

}  // namespace prismopt
