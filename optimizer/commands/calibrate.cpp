#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/quantity.hpp"
#include "io/traces/calibration_json.hpp"
#include "io/traces/calibration_toml.hpp"
#include "io/traces/trace_files.hpp"
#include "io/words/trace_text.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"
#include "optimizer/program/log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

namespace prismopt {

using namespace literals;

namespace po = boost::program_options;

namespace {

constexpr double day_s = (1_day).si;

/// Warns of skipped rows, with their number.
void report_faults(const std::string& source, const std::vector<Fault>& faults,
                   const std::string& rows = "line")
{
    for (const Fault& fault : faults) {
        log_warning(fmt::format("{}: {} rows with {} are skipped, the first in {} {}", source, fault.count,
                                fault_text(fault), rows, fault.first_line));
    }
}

/// "trace.csv:12", "trace.json, kernel 12".
std::string place(const Trace& trace, const TraceProblem& problem)
{
    return trace.rows == "line" ? fmt::format("{}:{}", trace.source, problem.line)
                                : fmt::format("{}, {} {}", trace.source, trace.rows, problem.line);
}

/// Drops implausible measurements; throws if none is left.
template <class Row>
void exclude_absurd_rows(std::vector<Row>& rows, const std::string& source, std::vector<Fault>& faults)
{
    exclude_absurd(rows, faults);
    report_faults(source, faults);
    if (!source.empty() && rows.empty()) {
        std::vector<std::string> reasons;
        reasons.reserve(faults.size());
        for (const Fault& fault : faults) {
            reasons.push_back(fmt::format("{} with {}", fault.count, fault_text(fault)));
        }
        throw InputError(fmt::format(
            "{}: no valid measurement remains (excluded rows: {}); correct them, or measure again", source,
            fmt::join(reasons, ", ")));
    }
}

void refuse_problems(const Trace& trace)
{
    const std::vector<TraceProblem> found = problems(trace);
    if (!found.empty()) {
        throw InputError(
            fmt::format("{}: {}{}", place(trace, found.front()), problem_text(found.front(), trace),
                        found.size() > 1 ? fmt::format(" ({} more of this kind)", found.size() - 1) : ""));
    }
}

std::size_t count_of(const std::vector<Fault>& events)
{
    std::size_t sum = 0;
    for (const Fault& fault : events) {
        sum += fault.count;
    }
    return sum;
}

/// Throws if more nodes failed than there were, or if outages lie further apart than the observation period.
void refuse_watch(const TraceFiles& files, const Watch& watch)
{
    std::set<std::string> nodes;
    double first = std::numeric_limits<double>::infinity();
    double last = -first;
    for (const Outage& outage : files.outages) {
        nodes.insert(outage.node);
        first = std::min(first, outage.start_s);
        last = std::max(last, outage.start_s);
    }
    if (nodes.size() > static_cast<std::size_t>(watch.nodes)) {
        throw InputError(
            fmt::format("{}: lists {} nodes, more than --nodes {}; give the total number of nodes, including "
                        "those that never failed",
                        files.outage_source, nodes.size(), watch.nodes));
    }
    if (watch.seconds > 0.0 && last - first > watch.seconds) {
        throw InputError(
            fmt::format("{}: has outages that start {:.4g} days apart, more than --days {:.4g}; give the "
                        "length of the observation period",
                        files.outage_source, (last - first) / day_s, watch.seconds / day_s));
    }
}

/// Throws if --nodes or --days is given and out of range.
void refuse_counts(const po::variables_map& values)
{
    constexpr double longest_days = 36'500.0;
    if (values.count("nodes") > 0 && values["nodes"].as<int>() < 1) {
        throw InputError(fmt::format("--nodes {} is less than 1; write for example --nodes 400",
                                     values["nodes"].as<int>()));
    }
    if (values.count("members") > 0 &&
        !(values["members"].as<double>() >= 2.0 && values["members"].as<double>() <= 1e7)) {
        throw InputError(
            fmt::format("--members {:.4g} is out of range: a collective has 2 to 10,000,000; write for "
                        "example --members 64",
                        values["members"].as<double>()));
    }
    if (values.count("days") > 0 &&
        !(values["days"].as<double>() > 0.0 && values["days"].as<double>() <= longest_days)) {
        throw InputError(
            fmt::format("--days {:.4g} is out of range: it must be above 0 and at most {:.0f} (a hundred "
                        "years); write for example --days 90",
                        values["days"].as<double>(), longest_days));
    }
}

/// --max-content in bytes.
std::uint64_t content_limit(const po::variables_map& values)
{
    const std::string text = values["max-content"].as<std::string>();
    const auto size = parse_quantity<Bytes>(text, "100 GB");
    if (const auto* complaint = std::get_if<Complaint>(&size)) {
        throw InputError(fmt::format("--max-content {} {}", text, complaint->text()));
    }
    constexpr double largest_file = 9.2e18;  // off_t
    const double bytes = std::get<Bytes>(size).si;
    if (!(bytes >= 1.0 && bytes <= largest_file)) {
        throw InputError(fmt::format("--max-content {} is out of range; write for example \"100 GB\"", text));
    }
    return static_cast<std::uint64_t>(bytes);
}

void report_set_back(const Trace& trace)
{
    const std::vector<TraceProblem> found = clock_set_back(trace);
    if (!found.empty()) {
        log_warning(
            fmt::format("{}: {}{}; times within steps are used, times between steps are not",
                        place(trace, found.front()), problem_text(found.front(), trace),
                        found.size() > 1 ? fmt::format(" ({} more of this kind)", found.size() - 1) : ""));
    }
}

void report_without_microbatch(const Trace& trace)
{
    for (const TraceProblem& problem : without_microbatch(trace)) {
        log_warning(
            fmt::format("{}: {}, the first here; they are treated as operations of the whole step; give each "
                        "an mb_id, or remove "
                        "the column",
                        place(trace, problem), problem_text(problem, trace)));
    }
}

/// "all_reduce, 16 ranks: 123 us at 8 B, bus bandwidth 338.8 GB/s at 8589934592 B"
std::string extremes(const CollectiveTable& table)
{
    const auto smaller = [](const CollectiveTable::Row& a, const CollectiveTable::Row& b) {
        return number_in(a.size) < number_in(b.size);
    };
    const auto [least, most] = std::minmax_element(table.rows.begin(), table.rows.end(), smaller);
    std::string text =
        fmt::format("{}{}: {:.4g} us at {} B", table.program.empty() ? "collective" : table.program,
                    table.ranks > 0 ? fmt::format(", {} ranks", table.ranks) : "", 1e6 * least->seconds,
                    least->size);
    text += fmt::format(", {:.4g} us at {} B", 1e6 * most->seconds, most->size);
    if (table.bus > 0.0) {
        text += fmt::format(" (bus bandwidth {:.4g} GB/s)",
                            1e-9 * table.bus * number_in(most->size) / most->seconds);
    }
    return text;
}

/// Measured sizes, and where they become values of a scenario: that needs its cluster.
void note_collectives(const TraceFiles& files, Calibration& calibration)
{
    for (const CollectiveTable& table : files.collective_tables) {
        if (!table.single_rank) {
            calibration.notes.emplace_back(
                fmt::format("{}: {}; prismopt components SCENARIO --measured FILE fits efficiency and "
                            "latency of [[cluster.tier]] to it",
                            table.benchmark, extremes(table)));
        }
    }
}

/// Notes kernels without a class of their own, and warns where they matter.
void note_unknown_names(const Trace& trace, Calibration& calibration)
{
    constexpr double small = 0.01;
    constexpr std::size_t most = 5;
    const UnknownNames unknown = unknown_names(trace);
    if (unknown.names.empty()) {
        return;
    }
    const auto last =
        unknown.names.begin() + static_cast<std::ptrdiff_t>(std::min(most, unknown.names.size()));
    const std::string text = fmt::format(
        "{} of the time is in {} kind{} whose name{} no row of the table of kernel names matches; they count "
        "as "
        "elementwise: {}{}; give their classes with --kernel-names FILE (docs/traces.md)",
        percent_text(unknown.share), unknown.names.size(), unknown.names.size() == 1 ? "" : "s",
        unknown.names.size() == 1 ? "" : "s", fmt::join(unknown.names.begin(), last, "; "),
        unknown.names.size() > most ? "; ..." : "");
    calibration.notes.emplace_back(text);
    if (unknown.share >= small) {
        log_warning(trace.source + ": " + text);
    }
}

/// Numbers of nodes that begin anew in each cabinet make one node of many.
void refuse_crowded_node(const TraceFiles& files)
{
    if (const auto node = crowded_node(files.gpu_runs)) {
        throw InputError(fmt::format(
            "{}: node {} has {} GPUs, more than any machine: its number probably means a node in each of "
            "several "
            "cabinets or racks; "
            "add a column chassis, rack, cabinet or row, or write names of nodes that are no numbers",
            files.gpu_source, node->node, node->gpus));
    }
}

void report_few_steps(const Calibration& calibration)
{
    if (few_steps(calibration)) {
        log_warning(
            fmt::format("{}: only {} of {} steps have the same operations, and the variability of computing "
                        "is fitted to these alone; "
                        "check for missing rows",
                        calibration.source, calibration.steps.size() - calibration.others.size(),
                        calibration.steps.size()));
    }
}

/// Distributions of all rows, which are left without faults.
Calibration calibrated(TraceFiles& files, const KernelNames& names, double members)
{
    Calibration calibration;
    sort_by_start(files.trace);
    exclude_absurd(files.trace);
    report_faults(files.trace.source, files.trace.faults, files.trace.rows);
    if (!files.trace.source.empty() && files.trace.ops.empty()) {
        throw InputError(files.trace.source + ": no valid operation remains; correct the durations");
    }
    if (!files.trace.ops.empty()) {
        refuse_problems(files.trace);
        report_set_back(files.trace);
        report_without_microbatch(files.trace);
        calibration = calibrate(files.trace);
        report_few_steps(calibration);
        note_unknown_names(files.trace, calibration);
        for (const std::string& note : files.notes) {
            log_warning(note);
            calibration.notes.emplace_back(note);
        }
    }
    exclude_absurd_rows(files.gpu_runs, files.gpu_source, files.gpu_faults);
    refuse_crowded_node(files);
    if (!files.gpu_runs.empty()) {
        merge(calibration, calibrate_gpu_runs(files.gpu_runs, files.gpu_source));
    }
    exclude_absurd_rows(files.collectives, files.collective_source, files.collective_faults);
    if (!files.collectives.empty()) {
        merge(calibration, calibrate_collectives(files.collectives, files.collective_source, names, members));
        note_collectives(files, calibration);
    }
    return calibration;
}

/// Failure rates of the outages; none where there is no list of outages.
FailureFit fitted_failures(const TraceFiles& files, const po::variables_map& values)
{
    if (files.outages.empty()) {
        if (!files.outage_source.empty()) {
            throw InputError(fmt::format(
                "{}: has {} events, none of which is a failure (the first: {}); give a list with failures",
                files.outage_source, count_of(files.excluded_events),
                fault_text(files.excluded_events.front())));
        }
        return {};
    }
    if (values.count("nodes") == 0) {
        throw InputError(
            fmt::format("{}: failure rates need the number of nodes that could have failed; write for "
                        "example --nodes 400",
                        files.outage_source));
    }
    const Watch watch{values["nodes"].as<int>(),
                      values.count("days") > 0 ? values["days"].as<double>() * day_s : 0.0};
    refuse_watch(files, watch);
    FailureFit failures = fit_failures(files.outages, watch);
    if (!(failures.watch.seconds > 0.0)) {
        throw InputError(
            fmt::format("{}: all outages start at the same time; give the length of the observation "
                        "period, for example --days 90",
                        files.outage_source));
    }
    return failures;
}

/// The sections [variability] and [reliability].
std::string sections_text(const Calibration& calibration, const FailureFit& failures, const TraceFiles& files,
                          const std::string& profile)
{
    const std::string variability =
        calibration.operations > 0 ? variability_toml(calibration, profile) : std::string();
    if (files.outages.empty()) {
        return variability +
               "\n# Without a list of outages, [reliability] is not fitted. Keep that of the scenario, "
               "or add outages and --nodes.\n";
    }
    return variability + (variability.empty() ? "" : "\n") +
           reliability_toml(failures, files.excluded_events, calibration.drift, files.outage_source);
}

po::options_description calibrate_options()
{
    po::options_description options("Options");
    auto add = options.add_options();
    add("out,o", po::value<std::string>()->value_name("FILE"),
        "write the sections to FILE instead of standard output");
    add("profile", po::value<std::string>()->default_value("hpc-2024")->value_name("NAME"),
        "profile of the catalog for everything that the files do not determine");
    add("kernel-names", po::value<std::vector<std::string>>()->composing()->value_name("FILE"),
        "table of further kernel names and their classes, in the format of model/catalog/kernel_names.toml; "
        "its rows come first");
    add("nodes", po::value<int>()->value_name("N"), "number of nodes that the list of outages covers");
    add("members", po::value<double>()->value_name("N"),
        "carry the distributions of collectives from the members that were measured to N, counted as in the "
        "file (nodes or "
        "ranks)");
    add("json", po::bool_switch(),
        "write one JSON object instead of the sections: components, distributions with their quantiles, step "
        "times composed from "
        "them, failure rates");
    add("days", po::value<double>()->value_name("X"),
        "number of days that the list of outages covers (default: from the first to the last outage)");
    add("max-content", po::value<std::string>()->value_name("SIZE")->default_value("32 GB"),
        "bytes that are read of each file, decompressed; files with more are refused. In memory, an "
        "operation takes 32 bytes, "
        "and 80 while "
        "it is fitted, so rows of 12 bytes need seven times their content; a file is refused before its rows "
        "need more memory "
        "than the "
        "machine has left");
    return options;
}

}  // namespace

int calibrate_command(const std::vector<std::string>& words, const Call& call)
{
    const auto values = parse_options("calibrate", calibrate_options(), Positional{"FILE", -1}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const auto profile = (*values)["profile"].as<std::string>();
    const std::vector<std::string> profiles = catalog_variabilities();
    if (std::find(profiles.begin(), profiles.end(), profile) == profiles.end()) {
        throw InputError(fmt::format("--profile {} is not in the catalog; choose from: {}", profile,
                                     fmt::join(profiles, ", ")));
    }
    refuse_counts(*values);
    const double members = values->count("members") > 0 ? (*values)["members"].as<double>() : 0.0;
    std::vector<std::string> inputs = (*values)["FILE"].as<std::vector<std::string>>();
    const std::vector<std::string> name_files = values->count("kernel-names") > 0
                                                    ? (*values)["kernel-names"].as<std::vector<std::string>>()
                                                    : std::vector<std::string>{};
    const KernelNames names = kernel_names(name_files);
    TraceFiles files = read_trace_files(inputs, names, content_limit(*values));
    inputs.insert(inputs.end(), name_files.begin(), name_files.end());
    const Calibration calibration = calibrated(files, names, members);
    const FailureFit failures = fitted_failures(files, *values);
    std::string text = sections_text(calibration, failures, files, profile);
    if ((*values)["json"].as<bool>()) {
        text = calibration_json(calibration, composed_steps(files.trace, calibration), failures,
                                files.excluded_events);
    }
    if (values->count("out") > 0) {
        write_output("out", (*values)["out"].as<std::string>(), text, inputs);
    } else {
        fmt::print("{}", text);
    }
    return exit_done;
}

}  // namespace prismopt
