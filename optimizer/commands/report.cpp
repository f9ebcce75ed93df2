#include "io/base/input_error.hpp"
#include "optimizer/api/reports.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include "io/report/legs_text.hpp"
#include "io/report/machine_report.hpp"
#include "io/report/subject.hpp"
#include "optimizer/loop/study_journal.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/release.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// The figure of --figure, or of options that only the front has; nothing: the plots together.
std::optional<FigureChoice> figure_choice(const po::variables_map& values)
{
    FigureChoice choice;
    choice.x = values["x"].as<std::string>();
    choice.y = values["y"].as<std::string>();
    choice.colour = values["colour"].as<std::string>();
    const bool named = values.count("figure") > 0;
    if (!named && choice.x.empty() && choice.y.empty() && choice.colour.empty()) {
        return std::nullopt;
    }
    if (values.count("svg") + values.count("csv") == 0) {
        throw InputError(
            "--figure, --x, --y and --colour draw a figure; add --svg FILE, or --csv FILE for its data");
    }
    if (named) {
        choice.figure = values["figure"].as<std::string>();
    }
    return choice;
}

/// A plan that the results do not list is predicted by this build, beside plans that another one predicted.
void warn_of_other_build(const std::string& path, const Results& results)
{
    const std::uint64_t asked = results.subject->index;
    if (listed_plan(results, asked) == nullptr && !difference(results.study.build, this_build()).empty()) {
        log_warning(
            fmt::format("{} is of {} and does not list plan {}, which is predicted by {} here; compare "
                        "only times of one version",
                        path, build_text(results.study.build), asked, build_text(this_build())));
    }
}

po::options_description report_options()
{
    po::options_description options("Options");
    options.add_options()("html", po::value<std::string>()->value_name("FILE"),
                          "write one self-contained HTML page with charts and tables")(
        "csv", po::value<std::string>()->value_name("FILE"),
        "write the front as CSV; with --figure, the data that the figure draws")(
        "json", po::value<std::string>()->value_name("FILE")->implicit_value("-"),
        "print the front as one JSON object instead of text, or write it to FILE (results/README.md lists "
        "the keys)")(
        "svg", po::value<std::string>()->value_name("FILE"),
        "write the main plots as one picture; with --figure, one figure as wide as a column of print")(
        "figure", po::value<std::string>()->value_name("NAME"),
        "figure of --svg and --csv: front, training-times, step-times, progress or break-even")(
        "x", po::value<std::string>()->value_name("NAME")->default_value("", "first objective"),
        "horizontal axis of the front: an objective, a result of plans, or an axis with numbers, for example "
        "cost")("y", po::value<std::string>()->value_name("NAME")->default_value("", "second objective"),
                "its vertical axis")(
        "colour", po::value<std::string>()->value_name("NAME")->default_value("", "none"),
        "colour plans by an axis, a knob, cluster, network, or machine (cluster and knobs)")(
        "point", po::value<std::int64_t>()->value_name("ID"),
        "number of the plan that the text and the page are about (default: the "
        "answer to the question, if there is one, otherwise "
        "the best of the first objective)")("question", po::value<std::string>()->value_name("LIMITS"),
                                            "answer this first, instead of [question] of the scenario: its "
                                            "keys, for example 'done_by = 2027-04-15, probability = "
                                            "0.9, "
                                            "power_limit = \"20 MW\"'")(
        "sensitivity", po::value<std::string>()->value_name("FILE"),
        "add FILE, the output of sensitivity --json for a plan of the front, to the page of --html");
    return options;
}

/// The results with what the options ask of them.
Results asked_results(const po::variables_map& values, const std::string& path, bool of_plans)
{
    const bool of_one_job = values.count("question") + values.count("point") > 0 || of_plans;
    Results results = of_one_job ? open_results_of_one_job(path) : open_results(path);
    if (values.count("question") > 0) {
        results.question = asked_question(results, values["question"].as<std::string>());
    }
    if (values.count("point") > 0) {
        results.subject = asked_subject(results, values["point"].as<std::int64_t>());
        warn_of_other_build(path, results);
    }
    return results;
}

void refuse_same_report_outputs(const po::variables_map& values, bool json_printed)
{
    std::vector<OutputPath> outputs;
    for (const char* option : {"html", "csv", "svg", "json"}) {
        if (values.count(option) > 0 && !(json_printed && std::string_view(option) == "json")) {
            outputs.push_back({option, values[option].as<std::string>()});
        }
    }
    refuse_same_outputs(outputs);
}

}  // namespace

int report_command(const std::vector<std::string>& words, const Call& call)
{
    const auto values = parse_options("report", report_options(), "RESULTS", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const std::optional<FigureChoice> figure = figure_choice(*values);
    const std::string path = (*values)["RESULTS"].as<std::string>();
    const bool of_plans = figure ? figure->figure != "break-even" : values->count("svg") > 0;
    const Results results = asked_results(*values, path, of_plans);
    std::vector<std::string> inputs{path};
    if (values->count("sensitivity") > 0) {
        inputs.push_back((*values)["sensitivity"].as<std::string>());
    }
    const bool json_printed = values->count("json") > 0 && (*values)["json"].as<std::string>() == "-";
    refuse_same_report_outputs(*values, json_printed);
    const auto write = [&](const char* option, const auto& make) {
        if (values->count(option) > 0) {
            write_output(option, (*values)[option].as<std::string>(), make(), inputs);
        }
    };
    if (values->count("sensitivity") > values->count("html")) {
        throw InputError("--sensitivity adds to the HTML page; add --html FILE");
    }
    write("html", [&] { return html_report(results, path, inputs.size() > 1 ? inputs.back() : ""); });
    write("csv", [&] {
        if (figure) {
            return report_figure_csv(results, *figure);
        }
        return has_machines(results) ? machines_csv(results, path) : front_csv(results, path);
    });
    write("svg",
          [&] { return figure ? figures_svg(report_figures(results, *figure)) : svg_report(results); });
    if (json_printed) {
        fmt::print("{}", report_json(results, path));
        return exit_done;
    }
    write("json", [&] { return report_json(results, path); });
    fmt::print("{}", text_with_placements(results));
    return exit_done;
}

int inspect_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("json", po::bool_switch(),
                          "print one JSON object instead of text (results/README.md lists the keys)");
    const auto values = parse_options("inspect", options, "FILE", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const std::string path = (*values)["FILE"].as<std::string>();
    const bool json = (*values)["json"].as<bool>();
    if (!is_journal(path)) {
        const Results results = open_results(path);
        fmt::print("{}", json ? summary_json(results, path) : summary(results));
        return exit_done;
    }
    const JournalSummary journal = journal_summary(path);
    if (json) {
        const nlohmann::ordered_json described{{"format", "prismopt journal"},
                                               {"format_version", 1},
                                               {"file", path},
                                               {"scenario_name", journal.scenario_name},
                                               {"scenario_path", journal.scenario_path},
                                               {"program_version", journal.build.version},
                                               {"git_commit", journal.build.commit},
                                               {"catalog_digest", journal.build.catalog},
                                               {"command_line", journal.command_line},
                                               {"seed", journal.seed},
                                               {"answers", journal.answers},
                                               {"tuning_steps", journal.tuning},
                                               {"good_bytes", journal.good_bytes},
                                               {"lost_bytes", journal.lost_bytes},
                                               {"lost_answers", journal.lost},
                                               {"damage", journal.damage.empty()
                                                              ? nlohmann::ordered_json()
                                                              : nlohmann::ordered_json(journal.damage)},
                                               {"core_hours", core_hours(journal.legs)},
                                               {"legs", legs_json(journal.legs)}};
        fmt::print("{}\n", described.dump(1));
        return exit_done;
    }
    fmt::print("journal of \"{}\" ({}), seed {}: {}{} answers, {} bytes, {}\n", journal.scenario_name,
               journal.scenario_path, journal.seed,
               journal.tuning > 0 ? fmt::format("{} tuning steps, ", journal.tuning) : "", journal.answers,
               journal.good_bytes,
               journal.damage.empty() ? "undamaged"
                                      : fmt::format("damaged: {}; {} answers are missing between intact ones",
                                                    journal.damage, journal.lost));
    fmt::print("written by {}: {}\n{}", build_text(journal.build), journal.command_line,
               legs_text(journal.legs));
    return exit_done;
}

}  // namespace prismopt
