#include "io/report/alternatives.hpp"

#include "io/report/deadline_risk.hpp"
#include "io/toml/date.hpp"
#include "io/toml/reading_figure.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>

namespace prismopt {

namespace {

/// The question, or without one that of the deadline.
Question asked_or_deadline(const StudyNotes& notes)
{
    Question question;
    question.minimise = notes.deadline.si > 0.0 ? QuestionAim::cost : QuestionAim::time;
    question.deadline = notes.deadline;
    return notes.question.value_or(question);
}

/// Smaller is better.
std::tuple<bool, bool, double, double> rank_of(const QuestionedPlan& plan)
{
    return {!plan.within_limits, !plan.in_time, plan.in_time ? plan.amount : 1.0 - plan.probability,
            plan.in_time_s};
}

std::string end_words(double seconds, const StudyNotes& notes)
{
    return notes.start ? end_date(*notes.start, seconds) : reading_quantity(seconds, "s");
}

std::string short_text(const QuestionedPlan& plan)
{
    return fmt::format("point {} on {}, {}", plan.plan->index,
                       counted(static_cast<std::uint64_t>(plan.plan->prediction.gpus), "GPU"),
                       reading_quantity(plan.plan->prediction.cost_usd.value, "USD"));
}

/// The answer if the time were a little less than what the best plan keeps.
const QuestionedPlan* best_of_sooner(const QuestionAnswer& answer)
{
    const QuestionedPlan* found = nullptr;
    for (const QuestionedPlan& plan : answer.plans) {
        if (plan.within_limits && plan.in_time_s < answer.best->in_time_s &&
            (found == nullptr || plan.amount < found->amount)) {
            found = &plan;
        }
    }
    return found;
}

/// The most probable plan that would be a better answer if it had more time.
const QuestionedPlan* best_of_later(const QuestionAnswer& answer)
{
    const QuestionedPlan* found = nullptr;
    for (const QuestionedPlan& plan : answer.plans) {
        const bool later = plan.within_limits && !plan.in_time && plan.amount < answer.best->amount;
        if (later && (found == nullptr || plan.probability > found->probability)) {
            found = &plan;
        }
    }
    return found;
}

}  // namespace

std::vector<QuestionedPlan> plans_by_size(const Results& results, const StudyNotes& notes)
{
    const Question question = asked_or_deadline(notes);
    const auto answer = answer_to(question, results, notes);
    std::map<int, QuestionedPlan> best;
    for (const QuestionedPlan& plan : answer ? answer->plans : std::vector<QuestionedPlan>{}) {
        const auto [own, first] = best.try_emplace(plan.plan->prediction.gpus, plan);
        if (!first && rank_of(plan) < rank_of(own->second)) {
            own->second = plan;
        }
    }
    std::vector<QuestionedPlan> list;
    for (const auto& [gpus, plan] : best) {
        list.push_back(plan);
    }
    return list;
}

std::vector<QuestionLine> answer_changes(const Results& results, const StudyNotes& notes)
{
    const auto answer = notes.question ? answer_to(*notes.question, results, notes) : std::nullopt;
    if (!answer || !answer->best || !(answer->limit.si > 0.0)) {
        return {};
    }
    std::vector<QuestionLine> lines;
    if (const QuestionedPlan* later = best_of_later(*answer)) {
        constexpr double least_asked = 0.5;  // what a question may ask for
        const std::string sooner = later->probability >= least_asked
                                       ? ", or with a probability of " + tabulated_text(later->probability)
                                       : "";
        lines.push_back({"with more time", fmt::format("from {} on{}: {}", end_words(later->in_time_s, notes),
                                                       sooner, short_text(*later))});
    }
    if (const QuestionedPlan* sooner = best_of_sooner(*answer)) {
        lines.push_back(
            {"with less time",
             fmt::format("before {}: {}", end_words(answer->best->in_time_s, notes), short_text(*sooner))});
    }
    const FrontPoint& best = *answer->best->plan;
    if (best.software_high > best.software_low) {  // with one software the model's error has the median one
        const double median_s = best.software_high * best.prediction.training.p50.value;
        lines.push_back(
            {"other software",
             fmt::format("with the slowest, steps would take {:.2g} times as long, and half of such runs "
                         "longer than {}",
                         best.software_high, end_words(median_s, notes))});
    }
    return lines;
}

}  // namespace prismopt
