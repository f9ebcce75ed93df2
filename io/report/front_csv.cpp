#include "io/report/completion.hpp"
#include "io/report/csv_text.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/report/front/front_ties.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/question_answer.hpp"
#include "io/report/report.hpp"
#include "io/report/study_notes.hpp"
#include "io/results/plan_results.hpp"
#include "io/results/results_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace prismopt {

namespace {

constexpr std::array<std::string_view, 3> limits{"", "_low", "_high"};

std::string fields(const Estimate& estimate)
{
    return fmt::format(",{},{},{}", csv_number(estimate.value), csv_number(estimate.low),
                       csv_number(estimate.high));
}

std::string header(const Results& results)
{
    std::string line = "point";
    for (const Axis& axis : results.axes) {
        line += fmt::format(",{}", csv_field(axis.name));
    }
    for (const VariantChoice& choice : variant_choices(results)) {
        line += fmt::format(",{}", csv_field(choice.name));
    }
    line += ",total_gpus,dominated,provisional,quantiles_of,step_of_phase,draws";
    for (const auto& column : plan_results<Estimate>()) {
        for (const std::string_view limit : limits) {
            line += fmt::format(",{}", csv_column(column.name, limit, column.units));
        }
    }
    for (const auto& column : plan_results<double>()) {
        line += fmt::format(",{}", csv_column(column.name, "", column.units));
    }
    for (const ObjectiveInfo& objective :
         results.objectives) {  // prefixed as in results files: an axis may have the name
        for (const std::string_view limit : limits) {
            line += fmt::format(",{}", csv_column(objective_column(objective.name), limit, objective.units));
        }
    }
    return line +
           ",miss_probability_with_model_error,miss_probability_model_low,miss_probability_model_high"
           ",training_time_p50_with_model_error_s,training_time_p90_with_model_error_s,training_time_p99_"
           "with_model_error_s"
           ",done_p50_with_model_error,done_p90_with_model_error,done_p99_with_model_error,question_"
           "probability"
           ",price_given,power_given,training_time_p90_s,done_p50,done_p90,done_p99,ties_with,software,may_"
           "not_fit,study,file,"
           "seed,hardware\n";
}

/// Where the rows of a file come from, when files of many studies are joined.
std::string origin(const Results& results, const std::string& file, const StudyNotes& notes)
{
    return fmt::format("{},{},{},{}", csv_field(results.study.scenario_name), csv_field(file),
                       results.study.seed, csv_field(notes.accelerator));
}

/// `asked`: the plan as the question sees it, or null; `listed`: with those that may not fit.
std::string row(const Results& results, const FrontPoint& point, const StudyNotes& notes,
                const std::vector<std::uint64_t>& tied, const QuestionedPlan* asked, bool listed)
{
    std::string line = std::to_string(point.index);
    for (std::size_t a = 0; a < results.axes.size(); ++a) {
        line += fmt::format(
            ",{}", csv_field(results.axes[a].labels.at(static_cast<std::size_t>(point.point.at(a)))));
    }
    for (const VariantChoice& choice : variant_choices(results)) {
        line += fmt::format(",{}", csv_field(choice.at(point.point)));
    }
    line += fmt::format(",{},{},{},{},{},{}", point.prediction.gpus, point.dominated ? 1 : 0,
                        results.provisional ? 1 : 0, quantiles_of(results.study.nodes_known),
                        notes.phases > 0 ? fmt::format("1 of {}", notes.phases) : "", point.prediction.draws);
    for (const auto& column : plan_results<Estimate>()) {
        line += fields(stated(column.name, column.of(point)));
    }
    for (const auto& column : plan_results<double>()) {
        line += fmt::format(",{}", csv_number(column.of(point)));
    }
    for (std::size_t k = 0; k < point.objectives.size(); ++k) {
        line += fields(stated(results.objectives.at(k).name, point.objectives[k]));
    }
    const auto risk = deadline_risk(point, asked_limit(notes));
    line += risk ? fmt::format(",{},{},{}", risk->mean, risk->low, risk->high) : ",,,";
    const auto done = completions(point, notes.start);
    for (const Completion& one : done) {
        line += fmt::format(",{}", csv_number(one.with_error.seconds));
    }
    for (const Completion& one : done) {
        line += fmt::format(",{}", one.with_error.date);
    }
    line += fmt::format(",{},{},{}", asked ? csv_number(asked->probability) : "", name(notes.price_origin),
                        name(notes.power_origin));
    return line + fmt::format(",{},{},{},{},{},{},{}", csv_number(done[1].exact.seconds), done[0].exact.date,
                              done[1].exact.date, done[2].exact.date, fmt::join(tied, " "),
                              csv_field(notes.trained_with), listed ? 1 : 0);
}

}  // namespace

std::string front_csv(const Results& results, const std::string& file)
{
    std::string text = header(results);
    const StudyNotes notes = study_notes(results);
    const std::vector<std::vector<std::uint64_t>> tied = ties(results.front);
    const auto answer = notes.question ? answer_to(*notes.question, results, notes) : std::nullopt;
    const std::string from = origin(results, file, notes);
    for (std::size_t i = 0; i < results.front.size(); ++i) {
        const QuestionedPlan* asked = answer ? &answer->plans[i] : nullptr;
        text += fmt::format("{},{}\n", row(results, results.front[i], notes, tied[i], asked, false), from);
    }
    for (const FrontPoint& point : results.may_not_fit.plans) {
        text += fmt::format("{},{}\n", row(results, point, notes, {}, nullptr, true), from);
    }
    return text;
}

}  // namespace prismopt
