#include "optimizer/api/watch.hpp"
#include "io/base/input_error.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/commands/chosen_plan.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/watch/watch_text.hpp"
#include "optimizer/parallel/stop.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

namespace prismopt {

namespace po = boost::program_options;

namespace {

std::string trainer_help()
{
    std::string text = "format of the log (default: detected from its first lines):";
    for (const LogFormat& format : log_formats()) {
        text += fmt::format("\n  {}: {}", format.name, format.trainers);
    }
    return text +
           fmt::format("\n  {}: a number of seconds per line\n  {}: a table with a column of step times",
                       numbers_format, csv_format);
}

WatchOptions watch_options(const po::variables_map& values)
{
    WatchOptions options;
    options.trainer = values.count("trainer") > 0 ? values["trainer"].as<std::string>() : "";
    options.false_alarm_days = values["false-alarm-days"].as<double>();
    options.least_change_percent = values["least-change"].as<double>();
    options.swing_percent = values["swing"].as<double>();
    options.baseline = values["baseline"].as<int>();
    if (values.count("failures") > 0) {
        options.failures = values["failures"].as<double>();
    }
    return options;
}

/// Prints what a log that is followed brings, as it comes.
class Events {
public:
    explicit Events(bool json) : json_(json) {}

    void print(JobWatch& watch)
    {
        const std::vector<Change> changes = watch.changes();
        const bool level = watch.baseline() && !level_printed_;
        const auto is_new = [&](const Change& found) { return !printed_.contains(found.found); };
        const bool change = std::any_of(changes.begin(), changes.end(), is_new);
        if (!level && !change) {
            return;
        }
        if (json_) {
            fmt::print("{}\n", watch_json(watch.job()).dump());
        } else {
            if (level) {
                fmt::print("{}\n", level_text(*watch.baseline(), watch.level()));
            }
            for (const Change& found : changes) {
                if (is_new(found)) {
                    fmt::print("{}\n", change_text(found));
                }
            }
        }
        std::fflush(stdout);
        level_printed_ = level_printed_ || level;
        for (const Change& found : changes) {
            printed_.insert(found.found);
        }
    }

private:
    bool json_;
    bool level_printed_ = false;
    // changes, by the steps at which they were found: after a restart these go back
    std::set<std::int64_t> printed_;
};

}  // namespace

int watch_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("point", po::value<std::int64_t>()->value_name("ID"),
                          "number of the job's plan in reports (default: the first plan of the front)")(
        "trainer", po::value<std::string>()->value_name("NAME"),
        trainer_help().c_str())("follow", po::bool_switch(),
                                "wait for more lines at the end of the log; print changes as they are found")(
        "json", po::bool_switch(), "print JSON: one object, or with --follow one per line")(
        "false-alarm-days", po::value<double>()->value_name("D")->default_value(30.0, "30"),
        "mean time between false alarms, in days")("baseline",
                                                   po::value<int>()->value_name("N")->default_value(200),
                                                   "number of initial steps that form the baseline")(
        "least-change", po::value<double>()->value_name("PERCENT")->default_value(1.0, "1"),
        "smaller changes are not reported")(
        "swing", po::value<double>()->value_name("PERCENT")->default_value(2.0, "2"),
        "normal variation of the step time over a day, peak to peak")(
        "failures", po::value<double>()->value_name("N"),
        "failures of the job so far (default: restarts in the log except those after a Slurm time limit)");
    const auto values = parse_options("watch", options, {"RESULTS LOG", 2}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const auto paths = (*values)["RESULTS LOG"].as<std::vector<std::string>>();
    if (paths.size() != 2) {
        throw InputError(
            "prismopt watch needs a results file and a log (- for standard input); see prismopt watch "
            "--help");
    }
    catch_stop_signals();
    const StopRequest stop({}, call.team);
    const bool follow = (*values)["follow"].as<bool>();
    const bool json = (*values)["json"].as<bool>();
    LogSource source(paths[1], follow);
    JobWatch watch(open_results(paths[0]), paths[0], number_of_point(*values), paths[1],
                   watch_options(*values));
    Events events(json);
    std::optional<std::string> stopped;
    while (!source.ended() && !stopped && !(follow && watch.trained())) {
        watch.add(source.next());
        if (follow) {
            events.print(watch);
        }
        stopped = stop.reason();
    }
    watch.finish(stopped.has_value());
    WatchedJob job = watch.job(stopped.value_or(""));
    job.unchanged_s = source.unchanged_s();
    fmt::print("{}", json ? watch_json(job).dump(follow ? -1 : 2) + "\n" : watch_text(job));
    return watch_exit_code(job);
}

}  // namespace prismopt
