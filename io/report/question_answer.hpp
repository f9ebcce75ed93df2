#pragma once

/// The answer of a study to its question: of the plans of its front, the one with the least of what
/// is asked for within the limits.

#include "io/report/study_notes.hpp"
#include "io/results/results.hpp"
#include "io/scenario/question.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// A plan of the front as the question sees it. It points into the front of the results, which must outlive
/// it and not change.
struct QuestionedPlan {
    const FrontPoint* plan = nullptr;
    double amount = 0.0;           // of what is minimised, in SI units or USD
    double probability = 1.0;      // of being done in time; 1 without a limit of the time
    double in_time_s = 0.0;        // training time that it keeps with the probability asked for
    double power_w = 0.0;          // of the building for the job, while it trains
    double cluster_power_w = 0.0;  // with all other GPUs of the cluster; NaN in files before schema 1.17
    bool within_limits = true;     // of power, budget and GPUs
    // of a cost within the budget, model error included; NaN if it is not known, or without a budget
    double budget_probability = std::numeric_limits<double>::quiet_NaN();
    bool in_time = true;    // with the probability asked for
    bool at_limit = false;  // the draws do not show whether it is
};

/// Which doubt about the answer's time is the largest.
enum class LargestDoubt { model, software, draws };

/// What a question comes to on another of several machines.
struct MachineAnswer {
    std::string machine;
    QuestionedPlan plan;  // the least of those that answer, otherwise the surest
};

struct QuestionAnswer {
    Seconds limit;             // of the training time; zero: none
    bool model_error = false;  // whether the probabilities include it: it may be asked for and not be known
    std::optional<QuestionedPlan> best;
    // The least of the others that answer, on another number of GPUs or cluster.
    std::optional<QuestionedPlan> next;
    // has less than the best, or at least fewer GPUs, but is too likely late
    std::optional<QuestionedPlan> not_enough;
    std::optional<QuestionedPlan> surest;      // of those within limits, the most probable
    std::vector<MachineAnswer> machines;       // than that of the plan shown, by name
    std::vector<QuestionedPlan> plans;         // of the front, in its order
    LargestDoubt doubt = LargestDoubt::model;  // of the plan shown
    bool searched = false;                     // the search looked for this very answer, among all plans
    bool minimised = true;  // the study minimises what the question does, so its front holds the best plan

    /// What there is to show: the best, or where none answers the surest.
    const std::optional<QuestionedPlan>& shown() const { return best ? best : surest; }
};

/// Nothing if the front is empty, or comes from a file without tables of its times, or
/// if a placeholder would decide.
std::optional<QuestionAnswer> answer_to(const Question& question, const Results& results,
                                        const StudyNotes& notes);

/// Power of the building, in watts, while the job trains; on average over the
/// run in files before schema 1.16.
double power_of(const Prediction& prediction);

/// " (electricity 0.4 M USD)", a part of the cost; empty if the price of GPUs includes it.
std::string electricity_words(const Prediction& prediction, const StudyNotes& notes);

/// Training time that readers compare times with: the limit of the question,
/// otherwise the deadline; zero: none.
Seconds asked_limit(const StudyNotes& notes);

/// Probability of missing that limit, assuming the model is exact: of the draws for the deadline of the
/// scenario, otherwise from the table of times. Empty: unknown.
std::string exact_risk_text(const FrontPoint& plan, const StudyNotes& notes);

struct QuestionLine {
    std::string title;
    std::string text;
};

/// The question, its answer, what is next best, what is not enough, and the largest
/// doubt. Empty without a question.
std::vector<QuestionLine> question_lines(const Results& results, const StudyNotes& notes);

}  // namespace prismopt
