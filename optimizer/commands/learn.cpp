#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"
#include "optimizer/commands/plan_shortlist.hpp"
#include "optimizer/program/program.hpp"

#include "io/base/aligned.hpp"
#include "io/base/csv.hpp"
#include "io/logs/log_reader.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <sstream>

namespace prismopt {

namespace po = boost::program_options;

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* columns_text =
    "point or plan; step_time_s (a number, or several separated by blanks) or log (the file of a trainer); peak_memory_gb (a "
    "number, or oom)";

/// Positive numbers separated by blanks.
std::vector<double> numbers_of(const std::string& text, const std::string& place, const char* column)
{
    std::vector<double> numbers;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        double value = 0.0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size() || !(value > 0.0) || !std::isfinite(value)) {
            throw InputError(fmt::format("{}: {} '{}' is not a positive number; write for example 6.46", place, column, word));
        }
        numbers.push_back(value);
    }
    return numbers;
}

std::uint64_t point_of(const CsvRow& row, const std::string& place, const StoredStudy& study, const Results& results)
{
    const std::string text = row.text("point");
    std::uint64_t index = 0;
    if (!text.empty()) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
        if (error != std::errc{} || end != text.data() + text.size() || index >= study.space().size()) {
            throw InputError(
                fmt::format("{}: point '{}' is not the number of a plan of this study; see prismopt report", place, text));
        }
        return index;
    }
    if (row.text("plan").empty()) {
        throw InputError(fmt::format("{}: neither point nor plan is given; the columns are {}", place, columns_text));
    }
    const ParallelPlan plan = parse_design(row.text("plan"), study.scenario());
    const auto found = std::find_if(results.evaluations.begin(), results.evaluations.end(), [&](const EvaluatedPoint& point) {
        return design_text(study.plan(point.point)) == design_text(plan);
    });
    if (found == results.evaluations.end()) {
        throw InputError(
            fmt::format("{}: plan '{}' is not among the feasible plans of this study; name one of its plans, or search a space "
                        "that has it",
                        place, row.text("plan")));
    }
    return found->index;
}

/// What the log of a trainer shows of a job: its steps after the warm-up, and the peak memory.
struct LoggedJob {
    std::vector<double> steps;
    double memory_bytes = 0.0;
};

LoggedJob logged_job(const std::string& path, const StoredStudy& study, std::uint64_t index)
{
    const Point point = study.space().point(index);
    const Phase phase = study.phases(point).front();
    const double sequences = phase.global_batch;
    LogReader reader({.path = path,
                      .trainer = "",
                      .tokens_per_step = sequences * phase.sequence,
                      .sequences_per_step = sequences,
                      .gpus = study.plan(point).gpus()});
    reader.add(read_text(path));
    reader.finish();
    LoggedJob job;
    for (const LoggedStep& step : reader.take()) {
        job.steps.push_back(step.seconds);
    }
    if (job.steps.empty()) {
        throw InputError(fmt::format("{} shows no steps of a known trainer; docs/watch.md lists them", path));
    }
    job.steps.erase(job.steps.begin(), job.steps.begin() + static_cast<std::ptrdiff_t>(steady_from(job.steps)));
    job.memory_bytes = reader.peak_memory();
    return job;
}

MeasuredPlan measured_plan(const CsvRow& row, const std::string& path, const std::string& place, const StoredStudy& study,
                           const Results& results)
{
    MeasuredPlan plan;
    plan.index = point_of(row, place, study, results);
    std::vector<double> steps = numbers_of(row.text("step_time_s"), place, "step_time_s");
    if (const std::string log = row.text("log"); !log.empty()) {
        if (!steps.empty()) {
            throw InputError(fmt::format("{}: both step_time_s and log are given; leave one of them empty", place));
        }
        LoggedJob job = logged_job((std::filesystem::path(path).parent_path() / log).string(), study, plan.index);
        steps = std::move(job.steps);
        plan.memory_bytes = job.memory_bytes;
    }
    if (!steps.empty()) {
        const double n = static_cast<double>(steps.size());
        plan.step_s = std::accumulate(steps.begin(), steps.end(), 0.0) / n;
        double squares = 0.0;
        for (const double step : steps) {
            squares += (step - plan.step_s) * (step - plan.step_s);
        }
        plan.deviation = n > 1.0 ? std::sqrt(squares / (n - 1.0) / n) / plan.step_s : 0.0;
    }
    const std::string memory = row.text("peak_memory_gb");
    plan.out_of_memory = memory == "oom";
    if (!plan.out_of_memory && !memory.empty()) {
        constexpr double gigabyte = 1e9;
        const std::vector<double> numbers = numbers_of(memory, place, "peak_memory_gb");
        if (numbers.size() != 1) {
            throw InputError(
                fmt::format("{}: peak_memory_gb '{}' is not one number; write for example 71.2, or oom for a plan that "
                            "ran out of memory",
                            place, memory));
        }
        plan.memory_bytes = gigabyte * numbers.front();
    }
    if (plan.out_of_memory == (plan.step_s > 0.0)) {
        throw InputError(fmt::format(
            "{}: {}; the columns are {}", place,
            plan.out_of_memory ? "a plan that ran out of memory has no step time" : "step_time_s is missing", columns_text));
    }
    return plan;
}

std::vector<MeasuredPlan> read_measured(const std::string& path, const StoredStudy& study, const Results& results)
{
    std::vector<MeasuredPlan> plans;
    const std::vector<CsvRow> rows = read_csv(path);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        plans.push_back(measured_plan(rows[i], path, fmt::format("{}:{}", path, i + 2), study, results));
    }
    if (plans.empty()) {
        throw InputError(fmt::format("{} has no measured plans; the columns are {}", path, columns_text));
    }
    return plans;
}

/// Beyond this many standard deviations a value is called surprising.
constexpr double surprising = 2.0;

Json measured_json(const PlanPosterior& plans)
{
    Json list = Json::array();
    for (const MeasuredAndPredicted& plan : plans.measured()) {
        list.push_back({{"point", plan.measured.index},
                        {"measured_s", plan.measured.step_s > 0.0 ? Json(plan.measured.step_s) : Json()},
                        {"predicted_s", plan.measured.step_s > 0.0 ? Json(plan.predicted_s) : Json()},
                        {"out_of_memory", plan.measured.out_of_memory},
                        {"measured_memory_bytes", plan.measured.memory_bytes > 0.0 ? Json(plan.measured.memory_bytes) : Json()},
                        {"predicted_memory_share", plan.memory_share},
                        {"surprise_sigma", std::isnan(plan.surprise) ? Json() : Json(plan.surprise)}});
    }
    return list;
}

/// Fitted constants that the measurements moved, and the error that all plans of a network share.
Json constants_json(const PlanPosterior& plans)
{
    Json json{{"all_plans", Json::array()}, {"moved", Json::array()}};
    for (const LearnedFactor& time : plans.learned().times) {
        json["all_plans"].push_back({{"network", time.name}, {"factor", time.factor}, {"deviation", time.after}});
    }
    const std::vector<NormalMarginal> after = plans.steps().constants();
    const std::vector<NormalMarginal> prior = StepPosterior(plans.steps().covariance(), plans.steps().discrepancy()).constants();
    for (std::size_t k = 0; k < plans.fitted().constants.size(); ++k) {
        const double before = prior[k].deviation;
        if (std::abs(after[k].mean) > 0.5 * before) {
            const FittedConstant& constant = plans.fitted().constants[k];
            json["moved"].push_back({{"constant", constant.key},
                                     {"entries", constant.entries},
                                     {"factor", std::exp(after[k].mean)},
                                     {"sigma", after[k].mean / before},
                                     {"surprising", std::abs(after[k].mean) > surprising * before}});
        }
    }
    return json;
}

std::string measured_text(const Json& json)
{
    const bool several = json["measured"].size() > 1;
    std::vector<std::vector<std::string>> rows{{"point", "measured, s", "predicted, s", "measured / predicted", "surprise"}};
    for (const Json& plan : json["measured"]) {
        const bool ran = !plan["measured_s"].is_null();
        rows.push_back({std::to_string(plan["point"].get<std::uint64_t>()),
                        ran ? fmt::format("{:.4g}", plan["measured_s"].get<double>()) : "out of memory",
                        ran ? fmt::format("{:.4g}", plan["predicted_s"].get<double>())
                            : fmt::format("{:.0f} % of the memory", 100.0 * plan["predicted_memory_share"].get<double>()),
                        ran ? fmt::format("{:.3f}", plan["measured_s"].get<double>() / plan["predicted_s"].get<double>()) : "",
                        ran ? fmt::format("{:+.1f} sigma{}", plan["surprise_sigma"].get<double>(),
                                          std::abs(plan["surprise_sigma"].get<double>()) <= surprising ? ""
                                          : several ? " (fits none of the others)"
                                                    : " (not as predicted)")
                            : ""});
    }
    std::string text = aligned(rows, 0);
    for (const Json& all : json["constants"]["all_plans"]) {
        text +=
            fmt::format("All plans of {} take {:.3f} times as long as the catalog's constants say (+- {:.1f} %).\n",
                        all["network"].get<std::string>(), all["factor"].get<double>(), 100.0 * all["deviation"].get<double>());
    }
    for (const Json& moved : json["constants"]["moved"]) {
        text += fmt::format("{}{} of {}: {:.3f} times the catalog's value ({:+.1f} sigma)\n",
                            moved["surprising"].get<bool>() ? "Surprising: " : "", moved["constant"].get<std::string>(),
                            fmt::join(moved["entries"].get<std::vector<std::string>>(), ", "), moved["factor"].get<double>(),
                            moved["sigma"].get<double>());
    }
    return text + "\n";
}

/// The overlay for later studies of this cluster.
std::string overlay_of(const PlanPosterior& plans, const Results& results, const std::string& file, const std::string& measured)
{
    Learned learned = plans.learned();
    learned.program = release();
    learned.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    learned.study = results.study.scenario_name;
    learned.results = file;
    learned.measured = measured;
    learned.measured_digest = digest_of(read_text(measured));
    learned.rows = static_cast<int>(plans.measured().size());
    return learned_text(learned);
}

}  // namespace

int learn_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("measured", po::value<std::string>()->value_name("CSV"),
                          fmt::format("measured plans of the study; columns: {}", columns_text).c_str());
    options.add_options()("out", po::value<std::string>()->value_name("FILE"),
                          "write what was learned to FILE (TOML), for [cluster] learned of later studies");
    add_shortlist_options(options);
    options.add_options()("json", po::bool_switch(), "print one JSON object instead of text (results/README.md lists the keys)");
    const auto values = parse_options("learn", options, "RESULTS", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    if (values->count("measured") == 0) {
        throw InputError(fmt::format("prismopt learn needs --measured CSV with the columns {}", columns_text));
    }
    const std::string file = (*values)["RESULTS"].as<std::string>();
    const std::string measured = (*values)["measured"].as<std::string>();
    const Results results = open_results(file);
    StoredStudy study(results);
    const PlanPosterior plans(study.model(), results, read_measured(measured, study, results));
    const ShortlistRequest asked = shortlist_request(*values, results, plans);
    Json json = shortlist_json(results, plans, asked, study);
    json["measured"] = measured_json(plans);
    json["constants"] = constants_json(plans);
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}\n", json.dump(1));
    } else {
        fmt::print("{}{}", measured_text(json), shortlist_text(json, results, asked));
    }
    if (values->count("out") > 0) {
        write_output("out", (*values)["out"].as<std::string>(), overlay_of(plans, results, file, measured), {file, measured});
    }
    return exit_done;
}

}  // namespace prismopt
