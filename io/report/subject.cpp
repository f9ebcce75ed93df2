#include "io/report/subject.hpp"

#include "io/report/front/named_points.hpp"
#include "io/report/question_answer.hpp"

#include <algorithm>

namespace prismopt {

namespace {

const FrontPoint* find_plan(const std::vector<FrontPoint>& plans, std::uint64_t index)
{
    const auto found = std::find_if(plans.begin(), plans.end(),
                                    [index](const FrontPoint& plan) { return plan.index == index; });
    return found == plans.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Subject> subject_of(const Results& results, const StudyNotes& notes)
{
    if (results.subject) {
        const FrontPoint* on_front = find_plan(results.front, results.subject->index);
        return Subject{on_front != nullptr ? on_front : &*results.subject, SubjectReason::asked,
                       on_front != nullptr};
    }
    if (results.front.empty()) {
        return std::nullopt;
    }
    const auto answer = notes.question ? answer_to(*notes.question, results, notes) : std::nullopt;
    if (answer && answer->shown()) {
        return Subject{answer->shown()->plan, answer->best ? SubjectReason::answer : SubjectReason::surest};
    }
    return Subject{&results.front[named_points(results).best.value_or(0)], SubjectReason::best};
}

std::string subject_title(const Subject& subject, const Results& results)
{
    switch (subject.reason) {
        case SubjectReason::asked: return "Plan asked for";
        case SubjectReason::answer: return "Answer";
        case SubjectReason::surest: return "Surest within the limits";
        case SubjectReason::best: break;
    }
    std::string objective = results.objectives.front().name;
    std::replace(objective.begin(), objective.end(), '_', ' ');
    return "Best " + objective;
}

const FrontPoint* listed_plan(const Results& results, std::uint64_t index)
{
    const FrontPoint* on_front = find_plan(results.front, index);
    return on_front != nullptr ? on_front : find_plan(results.may_not_fit.plans, index);
}

std::vector<const FrontPoint*> shown_plans(const Results& results)
{
    std::vector<const FrontPoint*> plans;
    for (const FrontPoint& point : results.front) {
        plans.push_back(&point);
    }
    if (results.subject && find_plan(results.front, results.subject->index) == nullptr) {
        plans.push_back(&*results.subject);
    }
    return plans;
}

}  // namespace prismopt
