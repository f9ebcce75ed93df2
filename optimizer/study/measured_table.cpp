#include "optimizer/study/measured_table.hpp"

#include "io/base/csv.hpp"
#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/logs/log_reader.hpp"
#include "io/logs/log_source.hpp"
#include "io/toml/toml.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/measured_plans.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string/predicate.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

namespace prismopt {

namespace {

/// Positive numbers separated by blanks.
std::vector<double> numbers_of(const std::string& text, const std::string& place, const char* column)
{
    std::vector<double> numbers;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        double value = 0.0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size() || !(value > 0.0) ||
            !std::isfinite(value)) {
            throw InputError(fmt::format("{}: {} '{}' is not a positive number; write for example 6.46",
                                         place, column, word));
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
            by_words_.emplace(design_text(study.plan(study.space().point(point.index))), point.index);
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
                fmt::format("{}: point '{}' is not the number of a plan of this study; see prismopt report",
                            place, text));
        }
        return index;
    }

private:
    std::uint64_t point_with(const std::string& words, const std::string& place) const
    {
        if (words.empty()) {
            throw InputError(
                fmt::format("{}: neither point nor plan is given; write for example point 365974, of those "
                            "that prismopt shortlist "
                            "lists, or plan \"tp=4 pp=2\"; the columns are {}",
                            place, measured_columns_text));
        }
        const auto found = by_words_.find(design_text(design_of(words, place)));
        if (found == by_words_.end()) {
            throw InputError(
                fmt::format("{}: plan '{}' is not among the feasible plans of this study; name one of its "
                            "plans, or search a space "
                            "that has it",
                            place, words));
        }
        return found->second;
    }

    ParallelPlan design_of(const std::string& words, const std::string& place) const
    {
        try {
            return parse_design(words, study_.scenario());
        } catch (const InputError& error) {
            throw InputError(fmt::format("{}: plan '{}': {}", place, words, error.what()));
        }
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
    for (const LoggedStep& step : reader.drain()) {
        job.steps.push_back(step.seconds);
    }
    if (job.steps.empty()) {
        throw InputError(fmt::format("{} shows no steps of a known trainer; docs/watch.md lists them", path));
    }
    job.steps.erase(job.steps.begin(),
                    job.steps.begin() + static_cast<std::ptrdiff_t>(steady_from(job.steps)));
    job.memory_bytes = reader.peak_memory();
    return job;
}

MeasuredPlan measured_plan(const CsvRow& row, const std::string& path, const std::string& place,
                           const StoredStudy& study, const PlanNames& names)
{
    MeasuredPlan plan;
    plan.index = names.point_of(row, place);
    std::vector<double> steps = numbers_of(row.text("step_time_s"), place, "step_time_s");
    if (const std::string log = row.text("log"); !log.empty()) {
        if (!steps.empty()) {
            throw InputError(
                fmt::format("{}: both step_time_s and log are given; leave one of them empty", place));
        }
        LoggedJob job =
            logged_job((std::filesystem::path(path).parent_path() / log).string(), study, plan.index);
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
            throw InputError(fmt::format(
                "{}: peak_memory_gb '{}' is not one number; write for example 71.2, or oom for a plan that "
                "ran out of memory",
                place, memory));
        }
        plan.memory_bytes = gigabyte * numbers.front();
    }
    if (plan.out_of_memory == (plan.step_s > 0.0)) {
        throw InputError(fmt::format(
            "{}: {}; the columns are {}", place,
            plan.out_of_memory
                ? "a plan that ran out of memory has no step time; leave step_time_s and log empty"
                : "step_time_s is missing; write for example 6.46, or give the trainer's log in log, or "
                  "peak_memory_gb oom",
            measured_columns_text));
    }
    return plan;
}

constexpr std::array<std::string_view, 5> columns{"point", "plan", "step_time_s", "log", "peak_memory_gb"};

void refuse_unknown_columns(const std::vector<std::string>& header, const std::string& path)
{
    for (const std::string& name : header) {
        if (std::count(header.begin(), header.end(), name) > 1) {
            throw InputError(
                fmt::format("{}:1: column '{}' occurs more than once; keep one", path, printable(name)));
        }
        if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
            throw InputError(fmt::format(
                "{}:1: column '{}' is not known; separate the columns by commas, and name them {}", path,
                printable(name), fmt::join(columns, ", ")));
        }
    }
}

}  // namespace

std::vector<MeasuredPlan> read_measured(const std::string& path, const StoredStudy& study,
                                        const Results& results)
{
    const PlanNames names(study, results);
    std::vector<std::string> header;
    std::vector<MeasuredPlan> plans;
    // by point: whether it ran, and where that is written
    std::map<std::uint64_t, std::pair<bool, std::string>> ran;
    const auto add_line = [&](const TableLine& line) {
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
                fmt::format("{}: point {} ran out of memory in one row and ran in the other ({}); keep the "
                            "row that holds for "
                            "the job that you plan",
                            place, plans.back().index, first->second.second));
        }
    };
    const auto start = [&](const std::vector<std::string>& columns_of_file) {
        refuse_unknown_columns(columns_of_file, path);
        header = columns_of_file;
    };
    read_table(read_text(path), path, {.start = start, .line = add_line});
    if (plans.empty()) {
        throw InputError(
            fmt::format("{} has no measured plans; the columns are {}", path, measured_columns_text));
    }
    std::stable_sort(plans.begin(), plans.end(), [](const MeasuredPlan& a, const MeasuredPlan& b) {
        return std::tie(a.index, a.step_s, a.memory_bytes) < std::tie(b.index, b.step_s, b.memory_bytes);
    });
    return plans;
}

}  // namespace prismopt
