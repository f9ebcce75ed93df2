#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include "io/html/report_page.hpp"
#include "io/journal.hpp"
#include "io/report.hpp"
#include "io/results_file.hpp"
#include "io/scenario.hpp"
#include "optimizer/codesign.hpp"
#include "optimizer/program.hpp"
#include "optimizer/report_details.hpp"
#include "optimizer/study.hpp"
#include "optimizer/study_journal.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace po = boost::program_options;

int report_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("html", po::value<std::string>()->value_name("FILE"),
                          "write one HTML page with charts and tables, which needs no network")(
        "csv", po::value<std::string>()->value_name("FILE"), "write the front as CSV")(
        "svg", po::value<std::string>()->value_name("FILE"), "write the main plots as one picture, for papers")(
        "sensitivity", po::value<std::string>()->value_name("FILE"),
        "put what sensitivity --json wrote of a plan of the front on the page of --html");
    const auto values = parse_options("report", options, "RESULTS", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const std::string path = (*values)["RESULTS"].as<std::string>();
    const Results results = read_results(path);
    std::vector<std::string> inputs{path};
    if (values->count("sensitivity") > 0) {
        inputs.push_back((*values)["sensitivity"].as<std::string>());
    }
    std::vector<OutputPath> outputs;
    for (const char* option : {"html", "csv", "svg"}) {
        if (values->count(option) > 0) {
            outputs.push_back({option, (*values)[option].as<std::string>()});
        }
    }
    refuse_same_outputs(outputs);
    const auto write = [&](const char* option, const auto& make) {
        if (values->count(option) > 0) {
            write_output(option, (*values)[option].as<std::string>(), make(), inputs);
        }
    };
    if (values->count("sensitivity") > values->count("html")) {
        throw InputError("--sensitivity is for the page; add --html FILE");
    }
    write("html", [&] {
        ReportedStudy study = reported_study(results, path);
        if (values->count("sensitivity") > 0) {
            add_sensitivity(study, (*values)["sensitivity"].as<std::string>());
        }
        return report_page({std::move(study)}, shipped_model_check(), program_name());
    });
    write("csv", [&] { return front_csv(results); });
    write("svg", [&] { return svg_report(results); });
    fmt::print("{}", text_report(results));
    return exit_done;
}

int inspect_command(const std::vector<std::string>& words, const Call& call)
{
    const auto values = parse_options("inspect", po::options_description("Options"), "FILE", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const std::string path = (*values)["FILE"].as<std::string>();
    if (!is_journal(path)) {
        fmt::print("{}", summary(read_results(path)));
        return exit_done;
    }
    const JournalContents contents = read_journal(path);
    const Scenario scenario = journaled_scenario(path);
    const std::size_t tuning = tunes_hardware(scenario) ? tuning_records(contents.records) : 0;
    fmt::print("journal of \"{}\" ({}), seed {}: {}{} answers, {} bytes, {}\n", scenario.name, scenario.path, scenario.seed,
               tuning > 0 ? fmt::format("{} steps of tuning, ", tuning) : "", contents.records.size() - 1 - tuning,
               contents.good_bytes, contents.damage.empty() ? "undamaged" : "damaged: " + contents.damage);
    return exit_done;
}

}  // namespace prismopt
