#pragma once

/// What a planner asks of a study: the least of something, within limits.

#include "model/base/names.hpp"
#include "model/base/units.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

enum class QuestionAim { cost, time, gpus, energy };
template <>
inline constexpr std::array<Named<QuestionAim>, 4> names_of<QuestionAim>{{{QuestionAim::cost, "cost"},
                                                                          {QuestionAim::time, "time"},
                                                                          {QuestionAim::gpus, "gpus"},
                                                                          {QuestionAim::energy, "energy"}}};

/// Whose power a limit of power is one of.
enum class PowerScope { job, cluster };
template <>
inline constexpr std::array<Named<PowerScope>, 2> names_of<PowerScope>{
    {{PowerScope::job, "job"}, {PowerScope::cluster, "cluster"}}};

struct Question {
    QuestionAim minimise = QuestionAim::cost;
    std::optional<std::chrono::sys_days> done_by{};  // on this day at the latest
    Seconds deadline{};                              // training time, instead of a date; zero: none
    double probability = 0.9;                        // of being done by then
    bool model_error = true;                         // whether the probability includes it
    Watts power_limit{};                             // of the building, while the job trains; zero: none
    // the job with its spares, or the cluster with all other GPUs, too
    PowerScope power_limit_of = PowerScope::job;
    double budget_usd = 0.0;  // zero: none
    int gpus_at_most = 0;     // zero: any number

    bool operator==(const Question&) const = default;
};

/// The objective whose least value a question asks for.
const char* objective_of(QuestionAim aim);
/// What the answer may have at most, by objective.
using QuestionLimits = std::vector<std::pair<std::string, double>>;
QuestionLimits limits_of(const Question& question, const std::optional<std::chrono::sys_days>& start);

/// What the answer ranks plans by: the objective that it minimises, and those that it limits.
std::vector<std::string> ranking_of(const Question& question,
                                    const std::optional<std::chrono::sys_days>& start);

/// Training time within which a run that starts on `start` must end; zero: at any time.
Seconds time_limit(const Question& question, const std::optional<std::chrono::sys_days>& start);

/// From the keys of a [question] section, separated by commas. Throws InputError that names `source`.
Question read_question(const std::string& keys, const std::string& source,
                       const std::optional<std::chrono::sys_days>& start);

}  // namespace prismopt
