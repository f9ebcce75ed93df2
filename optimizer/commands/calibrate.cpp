#include "io/posix_file.hpp"
#include "io/traces/calibration_toml.hpp"
#include "io/traces/trace_files.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/log.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace po = boost::program_options;

namespace {

constexpr double day_s = 86'400.0;

/// Counted and shown, not silently dropped.
void tell_faults(const Trace& trace)
{
    for (const TraceFault& fault : trace.faults) {
        log_warning(fmt::format("{}: {} rows with {} are left out, the first in line {}", trace.source, fault.count, fault.reason,
                                fault.first_line));
    }
}

void refuse_problems(const Trace& trace)
{
    const std::vector<TraceProblem> found = problems(trace);
    if (!found.empty()) {
        throw InputError(fmt::format("{}:{}: {}{}", trace.source, found.front().line, found.front().text,
                                     found.size() > 1 ? fmt::format(" ({} more like it)", found.size() - 1) : ""));
    }
}

void tell_few_steps(const Calibration& calibration)
{
    if (few_steps(calibration)) {
        log_warning(
            fmt::format("{}: only {} of {} steps have the same operations, and computing is told by these alone; see whether "
                        "rows are missing",
                        calibration.source, calibration.steps.size() - calibration.others.size(), calibration.steps.size()));
    }
}

}  // namespace

int calibrate_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    auto add = options.add_options();
    add("out", po::value<std::string>()->value_name("FILE"), "write the sections there instead of to standard output");
    add("profile", po::value<std::string>()->default_value("hpc-2024")->value_name("NAME"),
        "profile of the catalog for what the files do not tell");
    add("nodes", po::value<int>()->value_name("N"), "nodes that a list of outages is of");
    add("days", po::value<double>()->value_name("X"), "days that a list of outages covers; otherwise from the first to the last");
    const auto values = parse_options("calibrate", options, Positional{"FILE", -1}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    TraceFiles files = read_trace_files((*values)["FILE"].as<std::vector<std::string>>());
    std::string text;
    Calibration calibration;
    if (!files.trace.ops.empty()) {
        sort_by_start(files.trace);
        tell_faults(files.trace);
        refuse_problems(files.trace);
        calibration = calibrate(files.trace);
        tell_few_steps(calibration);
    }
    if (!files.gpu_runs.empty()) {
        merge(calibration, calibrate_gpu_runs(files.gpu_runs, files.gpu_source));
    }
    if (!files.collectives.empty()) {
        merge(calibration, calibrate_collectives(files.collectives, files.collective_source));
    }
    if (calibration.operations > 0) {
        text += variability_toml(calibration, (*values)["profile"].as<std::string>());
    }
    if (!files.outages.empty()) {
        if (values->count("nodes") == 0 || (*values)["nodes"].as<int>() < 1) {
            throw InputError(fmt::format("{}: a rate needs the number of nodes that could have failed; write --nodes 400",
                                         files.outage_source));
        }
        const Watch watch{(*values)["nodes"].as<int>(), values->count("days") > 0 ? (*values)["days"].as<double>() * day_s : 0.0};
        const FailureFit fit = fit_failures(files.outages, watch);
        if (!(fit.watch.seconds > 0.0)) {
            throw InputError(fmt::format("{}: all outages start at once; write how long was watched, for example --days 90",
                                         files.outage_source));
        }
        text += (text.empty() ? "" : "\n") + reliability_toml(fit, calibration.drift, files.outage_source);
    }
    if (values->count("out") > 0) {
        write_text((*values)["out"].as<std::string>(), text);
    } else {
        fmt::print("{}", text);
    }
    return exit_done;
}

}  // namespace prismopt
