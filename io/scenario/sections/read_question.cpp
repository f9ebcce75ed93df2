#include "io/scenario/question.hpp"
#include "io/scenario/sections/sections.hpp"
#include "io/toml/date.hpp"
#include "io/toml/toml.hpp"

namespace prismopt {

namespace {

/// Below one half, a plan that is probably late would do; far beyond 0.99, the tables of times end.
constexpr Range asked_probability{"probability of being done by then", 0.5, 0.99, "0.9"};
constexpr Range asked_budget{"cost in USD, at the p99 training time, that the answer may have", 0, 1e15,
                             "\"20 M USD\"", Range::Ends::open_low};
constexpr Range asked_gpus{"number of GPUs that the answer may hold, with those of spare nodes", 1, 1e9,
                           "4096"};

}  // namespace

const Fields<Question>& question_fields()
{
    static const auto fields =
        Fields<Question>("[question]", "what to answer first: the least of something, within limits")
            .choice("minimise", &Question::minimise, "cost", "what the answer has least of")
            .date("done_by", &Question::done_by, "2027-04-15",
                  "day on which the training must be done at the latest; needs `start`")
            .quantity("deadline", &Question::deadline, "90 day",
                      "training time within which it must be done, instead of a day")
            .number("probability", &Question::probability, asked_probability)
            .flag("model_error", &Question::model_error,
                  "whether that probability includes the error of the model")
            .quantity("power_limit", &Question::power_limit, "20 MW",
                      "power of the building to provision for the answer, whose GPUs all train")
            .choice("power_limit_of", &Question::power_limit_of, "cluster",
                    "whose power that is: of the job with its spares, or of the whole cluster, whose other "
                    "GPUs wait")
            .dollars("budget", &Question::budget_usd, asked_budget)
            .integer("gpus_at_most", &Question::gpus_at_most, asked_gpus)
            .check([](Table& table, const Question& question) {
                if (const auto of = table.find("power_limit_of"); of && !(question.power_limit.si > 0.0)) {
                    of->fail({"is given without power_limit", "it says whose power that limits",
                              "add power_limit = \"20 MW\", or remove the key"});
                }
                if (const auto deadline = table.find("deadline"); deadline && question.done_by) {
                    deadline->fail(
                        {"is given beside done_by", "each of them limits the time", "remove one of the two"});
                }
            });
    return fields;
}

void check_start(Table& table, const Question& question, const std::optional<std::chrono::sys_days>& start)
{
    const auto done_by = table.find("done_by");
    if (done_by && !start) {
        done_by->fail({"needs a start", "a run's length is counted from it",
                       "add start = 2027-01-15 at the top of the scenario, or give a deadline = \"90 day\""});
    }
    if (done_by && *question.done_by < *start) {
        done_by->fail(
            {"is before the start", "the run begins on " + date_text(*start), "correct one of the two"});
    }
}

Seconds time_limit(const Question& question, const std::optional<std::chrono::sys_days>& start)
{
    if (question.done_by && start) {
        return Seconds{
            std::chrono::duration<double>(*question.done_by + std::chrono::days{1} - *start).count()};
    }
    return question.deadline;
}

const char* objective_of(QuestionAim aim)
{
    switch (aim) {
        case QuestionAim::cost: return "cost";
        case QuestionAim::time: return "promised_time";
        case QuestionAim::gpus: return "gpus";
        case QuestionAim::energy: break;
    }
    return "energy";
}

QuestionLimits limits_of(const Question& question, const std::optional<std::chrono::sys_days>& start)
{
    QuestionLimits limits;
    if (const Seconds limit = time_limit(question, start); limit.si > 0.0) {
        limits.emplace_back("promised_time", limit.si);
    }
    if (question.budget_usd > 0.0) {
        limits.emplace_back("cost", question.budget_usd);
    }
    if (question.power_limit.si > 0.0) {
        limits.emplace_back(question.power_limit_of == PowerScope::job ? "power" : "cluster_power",
                            question.power_limit.si);
    }
    if (question.gpus_at_most > 0) {
        limits.emplace_back("held_gpus", question.gpus_at_most);
    }
    return limits;
}

std::vector<std::string> ranking_of(const Question& question,
                                    const std::optional<std::chrono::sys_days>& start)
{
    std::vector<std::string> ranking{objective_of(question.minimise)};
    for (const auto& [objective, most] : limits_of(question, start)) {
        ranking.push_back(objective);
    }
    return ranking;
}

Question read_question(const std::string& keys, const std::string& source,
                       const std::optional<std::chrono::sys_days>& start)
{
    const TomlFile file = parse_toml("question = {" + keys + "}", source);
    Table table =
        Table(file.root, file).at("question", "question = {}").table("question = { done_by = 2027-04-15 }");
    Question question;
    question_fields().read_whole(table, Keys::all, question);
    check_start(table, question, start);
    return question;
}

}  // namespace prismopt
