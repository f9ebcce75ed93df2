#include "io/base/input_error.hpp"
#include "io/base/json_number.hpp"
#include "io/base/percent.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"
#include "optimizer/commands/plan_shortlist.hpp"
#include "optimizer/program/release.hpp"

#include "io/base/aligned.hpp"
#include "io/base/csv.hpp"
#include "io/base/csv_stream.hpp"
#include "io/logs/log_reader.hpp"
#include "io/logs/log_source.hpp"
#include "io/toml/toml.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string/predicate.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

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

/// Plans of a study by number or by words.
class PlanNames {
public:
    PlanNames(const StoredStudy& study, const Results& results) : study_(study)
    {
        for (const EvaluatedPoint& point : results.evaluations) {
            by_words_.emplace(design_text(study.plan(point.point)), point.index);
        }
    }

    std::uint64_t point_of(const CsvRow& row, const std::string& place) const
    {
        const std::string text = row.text("point");
        if (text.empty()) {
            return point_with(row.text("plan"), place);
        }
        std::uint64_t index = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
        if (error != std::errc{} || end != text.data() + text.size() || index >= study_.space().size()) {
            throw InputError(
                fmt::format("{}: point '{}' is not the number of a plan of this study; see prismopt report", place, text));
        }
        return index;
    }

private:
    std::uint64_t point_with(const std::string& words, const std::string& place) const
    {
        if (words.empty()) {
            throw InputError(fmt::format("{}: neither point nor plan is given; the columns are {}", place, columns_text));
        }
        const auto found = by_words_.find(design_text(parse_design(words, study_.scenario())));
        if (found == by_words_.end()) {
            throw InputError(fmt::format(
                "{}: plan '{}' is not among the feasible plans of this study; name one of its plans, or search a space "
                "that has it",
                place, words));
        }
        return found->second;
    }

    const StoredStudy& study_;
    std::map<std::string, std::uint64_t> by_words_;
};

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
    if (!std::filesystem::is_regular_file(path)) {
        throw InputError(fmt::format("{}: is not a regular file; give the log of the plan's trainer", path));
    }
    LogSource source(path, false);
    while (!source.ended()) {
        reader.add(source.next());
    }
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
                           const PlanNames& names)
{
    MeasuredPlan plan;
    plan.index = names.point_of(row, place);
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
        plan.steps = static_cast<int>(steps.size());
        plan.variation = variation_of(steps);
        plan.deviation = plan.variation / std::sqrt(n);
    }
    const std::string memory = row.text("peak_memory_gb");
    plan.out_of_memory = boost::algorithm::iequals(memory, "oom");
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

constexpr std::array<std::string_view, 5> columns{"point", "plan", "step_time_s", "log", "peak_memory_gb"};

void refuse_unknown_columns(const std::vector<std::string>& header, const std::string& path)
{
    for (const std::string& name : header) {
        if (std::count(header.begin(), header.end(), name) > 1) {
            throw InputError(fmt::format("{}:1: column '{}' occurs more than once; keep one", path, printable(name)));
        }
        if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
            throw InputError(fmt::format("{}:1: column '{}' is not known; separate the columns by commas, and name them {}", path,
                                         printable(name), fmt::join(columns, ", ")));
        }
    }
}

/// In the order of their numbers, so that results do not depend on the order of the rows.
std::vector<MeasuredPlan> read_measured(const std::string& path, const StoredStudy& study, const Results& results)
{
    const PlanNames names(study, results);
    std::vector<std::string> header;
    std::vector<MeasuredPlan> plans;
    std::map<std::uint64_t, std::pair<bool, std::string>> ran;  // by point: whether it ran, and where that is written
    const auto take = [&](const TableLine& line) {
        std::map<std::string, std::string> fields;
        for (std::size_t i = 0; i < header.size(); ++i) {
            fields.emplace(header[i], line.fields[i]);
        }
        const std::string place = fmt::format("{}:{}", path, line.number);
        plans.push_back(measured_plan(CsvRow(std::move(fields)), path, place, study, names));
        const bool fitted = !plans.back().out_of_memory;
        const auto [first, is_new] = ran.emplace(plans.back().index, std::pair{fitted, place});
        if (!is_new && first->second.first != fitted) {
            throw InputError(
                fmt::format("{}: point {} ran out of memory in one row and ran in the other ({}); keep the row that holds for "
                            "the job that you plan",
                            place, plans.back().index, first->second.second));
        }
    };
    const auto start = [&](const std::vector<std::string>& columns_of_file) {
        refuse_unknown_columns(columns_of_file, path);
        header = columns_of_file;
    };
    read_table(read_text(path), path, {.start = start, .line = take});
    if (plans.empty()) {
        throw InputError(fmt::format("{} has no measured plans; the columns are {}", path, columns_text));
    }
    std::stable_sort(plans.begin(), plans.end(), [](const MeasuredPlan& a, const MeasuredPlan& b) {
        return std::tie(a.index, a.step_s, a.memory_bytes) < std::tie(b.index, b.step_s, b.memory_bytes);
    });
    return plans;
}

/// Beyond this many standard deviations a value is called surprising.
constexpr double surprising = 2.0;

Json measured_json(const PlanPosterior& plans)
{
    Json list = Json::array();
    for (const MeasuredAndPredicted& plan : plans.measured()) {
        list.push_back(
            {{"point", plan.measured.index},
             {"measured_s", plan.measured.step_s > 0.0 ? Json(plan.measured.step_s) : Json()},
             {"predicted_s", plan.measured.step_s > 0.0 ? Json(plan.predicted_s) : Json()},
             {"out_of_memory", plan.measured.out_of_memory},
             {"measured_memory_bytes", plan.measured.memory_bytes > 0.0 ? Json(plan.measured.memory_bytes) : Json()},
             {"predicted_memory_share", plan.memory_share},
             {"memory_ratio", plan.measured.memory_bytes > 0.0 ? Json(plan.measured_memory_share / plan.memory_share) : Json()},
             {"prior_sigma", json_number<Json>(plan.prior_surprise)},
             {"surprise_sigma", json_number<Json>(plan.surprise)},
             {"memory_surprise_sigma", json_number<Json>(plan.memory_surprise)},
             {"variation", plan.measured.variation},
             {"predicted_variation", plan.variation_high > 0.0 ? Json::array({plan.variation_low, plan.variation_high}) : Json()},
             {"left_out", plan.left_out},
             {"own_plan_only", plan.apart}});
    }
    return list;
}

/// Fitted constants of the measured plans that the measurements moved, and the error that all plans of a network share.
Json constants_json(const PlanPosterior& plans)
{
    Json json{{"all_plans", Json::array()}, {"moved", Json::array()}};
    const Learned learned = plans.learned();
    std::set<std::string> used;
    for (const LearnedFactor& constant : learned.constants) {
        used.insert(constant.name);
    }
    for (const LearnedFactor& time : learned.times) {
        json["all_plans"].push_back({{"network", time.name}, {"factor", time.factor}, {"deviation", time.after}});
    }
    const std::vector<NormalMarginal> after = plans.steps().constants();
    const std::vector<NormalMarginal> prior = StepPosterior(plans.steps().covariance(), plans.steps().discrepancy()).constants();
    for (std::size_t k = 0; k < plans.fitted().constants.size(); ++k) {
        const double before = prior[k].deviation;
        const FittedConstant& constant = plans.fitted().constants[k];
        if (used.contains(name_of(constant)) && std::abs(after[k].mean) > 0.5 * before) {
            json["moved"].push_back({{"constant", constant.key},
                                     {"entries", constant.entries},
                                     {"factor", std::exp(after[k].mean)},
                                     {"sigma", after[k].mean / before},
                                     {"surprising", std::abs(after[k].mean) > surprising * before}});
        }
    }
    return json;
}

std::string surprise_text(const Json& sigma, const char* why)
{
    return sigma.is_null()
               ? ""
               : fmt::format("{:+.1f} sigma{}", sigma.get<double>(), std::abs(sigma.get<double>()) <= surprising ? "" : why);
}

/// Plans whose rows differ by more than repeated runs do.
std::string disagreeing_text(const Json& json)
{
    std::map<std::uint64_t, std::pair<double, double>> ranges;  // by point: shortest and longest step
    for (const Json& plan : json["measured"]) {
        if (const Json& step = plan["measured_s"]; !step.is_null()) {
            const auto own = step.get<double>();
            auto& range = ranges.try_emplace(plan["point"].get<std::uint64_t>(), std::pair{own, own}).first->second;
            range = {std::min(range.first, own), std::max(range.second, own)};
        }
    }
    const auto repeat = json["repeat_deviation"].get<double>();
    const double largest = std::exp(4.0 * std::sqrt(2.0) * repeat);  // four standard deviations of a difference
    std::string text;
    for (const auto& [point, range] : ranges) {
        if (range.second > largest * range.first) {
            text += fmt::format("The rows of {} differ by {}, but repeated runs by {} (standard deviation). Check them.\n", point,
                                percent_text(range.second / range.first - 1.0, 0), percent_text(repeat));
        }
    }
    return text;
}

/// Steps that vary in another way than the scenario's variability says.
std::string unexplained_text(const Json& json)
{
    std::string text;
    for (const Json& plan : json["measured"]) {
        if (plan["predicted_variation"].is_null()) {
            continue;
        }
        const auto own = plan["variation"].get<double>();
        const auto [low, high] = plan["predicted_variation"].get<std::pair<double, double>>();
        if (own < low || own > high) {
            text += fmt::format(
                "The steps of {} vary by {:.2f} % (coefficient of variation); the variability of the scenario gives {:.2f} to "
                "{:.2f} %.\n",
                plan["point"].get<std::uint64_t>(), 100.0 * own, 100.0 * low, 100.0 * high);
        }
    }
    return text;
}

/// The points of the rows of which a key is true.
std::string points_where(const Json& json, const char* key)
{
    std::set<std::uint64_t> points;
    for (const Json& plan : json["measured"]) {
        if (plan[key].get<bool>()) {
            points.insert(plan["point"].get<std::uint64_t>());
        }
    }
    return fmt::format("{}", fmt::join(points, ", "));
}

std::string table_text(const Json& json)
{
    constexpr std::size_t most_rows = 50;
    const bool several = json["measured"].size() > 1;
    std::vector<std::vector<std::string>> rows{
        {"point", "measured, s", "predicted, s", "measured / predicted", "surprise", "memory measured / predicted", "surprise"}};
    for (const Json& plan : json["measured"]) {
        if (rows.size() > most_rows) {
            break;
        }
        const bool ran = !plan["out_of_memory"].get<bool>();
        const auto number = [&](const char* key) { return plan[key].get<double>(); };
        rows.push_back({std::to_string(plan["point"].get<std::uint64_t>()),
                        ran ? fmt::format("{:.4g}", number("measured_s")) : "out of memory",
                        ran ? fmt::format("{:.4g}", number("predicted_s")) : "",
                        ran ? fmt::format("{:.3f}", number("measured_s") / number("predicted_s")) : "",
                        surprise_text(plan["surprise_sigma"], several ? " (unlike the others)" : " (not as predicted)"),
                        plan["memory_ratio"].is_null()
                            ? fmt::format("predicted: {} of the capacity", percent_text(number("predicted_memory_share"), 0))
                            : fmt::format("{:.3f}", number("memory_ratio")),
                        surprise_text(plan["memory_surprise_sigma"], " (not as predicted)")});
    }
    const std::size_t more = json["measured"].size() + 1 - rows.size();
    return aligned(rows, 0) + (more > 0 ? fmt::format("and {} more (--json lists them)\n", more) : "");
}

std::string measured_text(const Json& json)
{
    std::string text = table_text(json) + unexplained_text(json) + disagreeing_text(json);
    if (const std::string points = points_where(json, "left_out"); !points.empty()) {
        text += fmt::format(
            "Excluded, because they contradict the other measurements by more than 4 sigma: {}. Measure them again: a second row "
            "confirms the first.\n",
            points);
    }
    if (const std::string points = points_where(json, "own_plan_only"); !points.empty()) {
        text += fmt::format(
            "Used for their own plan only, because they contradict the other measurements by more than 4 sigma, but a second row "
            "confirms them: {}\n",
            points);
    }
    for (const Json& all : json["constants"]["all_plans"]) {
        text += fmt::format("All plans of {} take {:.3f} times as long as the catalog's constants predict (+- {}).\n",
                            all["network"].get<std::string>(), all["factor"].get<double>(),
                            percent_text(all["deviation"].get<double>()));
    }
    for (const Json& moved : json["constants"]["moved"]) {
        text += fmt::format("{}{} of {}: {:.3f} times the catalog's value ({:+.1f} sigma)\n",
                            moved["surprising"].get<bool>() ? "Surprising: " : "", moved["constant"].get<std::string>(),
                            fmt::join(moved["entries"].get<std::vector<std::string>>(), ", "), moved["factor"].get<double>(),
                            moved["sigma"].get<double>());
    }
    return text + "\n";
}

/// Refuses measurements that the model's interval does not allow: one of them would scale the predictions of all plans.
/// Those that the others contradict, and so have no effect, pass.
void refuse_implausible(const PlanPosterior& plans)
{
    constexpr double implausible = 3.0;  // standard deviations of what the model's interval holds: 99.7 %
    for (const MeasuredAndPredicted& plan : plans.measured()) {
        if (plan.measured.out_of_memory && plan.memory_surprise > implausible) {
            throw InputError(fmt::format(
                "point {}: ran out of memory, where {} of the capacity are predicted ({:+.1f} sigma; the interval "
                "of the memory model allows {:.0f}), and would raise the predicted memory of all plans; check the number "
                "of the plan, and that no other program used the GPUs, or add --accept if it is right",
                plan.measured.index, percent_text(plan.memory_share, 0), plan.memory_surprise, implausible));
        }
        if (!plan.left_out && !plan.apart && std::abs(plan.prior_surprise) > implausible) {
            throw InputError(
                fmt::format("point {}: the measured step of {:.4g} s is {:.2f} times the predicted {:.4g} s "
                            "({:+.1f} sigma; the model's interval allows {:.0f}), and would move the predictions of all plans; "
                            "check the number of the plan, the unit (seconds per step) and stack in [cluster], "
                            "or add --accept if it is right",
                            plan.measured.index, plan.measured.step_s, plan.measured.step_s / plan.predicted_s, plan.predicted_s,
                            plan.prior_surprise, implausible));
        }
    }
}

/// The overlay for later studies of this cluster.
std::string overlay_of(const PlanPosterior& plans, const Results& results, const std::string& file, const std::string& measured)
{
    Learned learned = plans.learned();
    learned.origins.push_back({.program = release(),
                               .date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
                               .study = results.study.scenario_name,
                               .results = file,
                               .measured = measured,
                               .measured_digest = digest_of(read_text(measured)),
                               .rows = static_cast<int>(plans.measured().size())});
    return learned_text(learned);
}

}  // namespace

int learn_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("measured", po::value<std::string>()->value_name("CSV"),
                          fmt::format("measured plans of the study; columns: {}", columns_text).c_str());
    options.add_options()("out", po::value<std::string>()->value_name("FILE"),
                          "write the update to FILE (TOML); later studies read it with learned in [cluster]");
    options.add_options()("accept", po::bool_switch(), "learn from measurements that the model's intervals do not allow, too");
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
    if (!(*values)["accept"].as<bool>()) {
        refuse_implausible(plans);
    }
    const ShortlistRequest asked = shortlist_request(*values, results, plans);
    Json json = shortlist_json(results, plans, asked, study);
    json["measured"] = measured_json(plans);
    json["repeat_deviation"] = plans.steps().discrepancy().repeat;
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
